"""`warm` and `up` as a user meets them: what is given to a new session, and what is said where nothing is."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from seasoned.example.library.storage import load, save, set_state, use_of
from seasoned.store import open_store
from tests.cli.run import answer, seasoned
from tests.example.examples import example, template


@pytest.fixture
def store_path(home: Path) -> Path:
    path = home / ".seasoned" / "seasoned.db"
    with open_store(path) as store:
        save(store, template())
    return path


def written(folder: Path, text: str) -> Path:
    file = folder / "messages.json"
    file.write_text(text, "utf-8")
    return file


@pytest.mark.usefixtures("store_path")
@pytest.mark.parametrize("option", ["--messages", "--tools"])
@pytest.mark.parametrize("text", ['["hi"]', "[1]", "[null]", "[" * 100_000, "{}", "[", '"x"'])
def test_what_is_no_list_of_messages_gets_one_clear_sentence(tmp_path: Path, option: str, text: str) -> None:
    if option == "--tools" and text in ('["hi"]', "[1]", "[null]"):
        done = seasoned("warm", "--all", option, written(tmp_path, text), expect=1)
    else:
        done = seasoned("warm", "--all", option, written(tmp_path, text), expect=2)
        assert "messages.json" in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_use_is_counted_only_where_a_block_was_put_in(tmp_path: Path, store_path: Path) -> None:
    ask = written(tmp_path, '[{"role": "user", "content": "find where it starts"}]')
    seasoned("warm", "--all")
    with open_store(store_path) as store:
        assert use_of(store).templates == {}
    filled = seasoned("warm", "--all", "--messages", ask).stdout
    seasoned("warm", "--all", "--messages", written(tmp_path, filled))
    with open_store(store_path) as store:
        assert use_of(store).templates == {"code-work": 1}


def test_a_folder_without_sessions_gets_nothing_of_other_projects(store_path: Path) -> None:
    said = seasoned("warm", "--task", "find it", expect=1).stderr
    assert "No sessions are known for this folder. Choose a project with --project" in said and "--all" in said
    assert seasoned("warm", "--all", "--task", "find it").stdout
    assert answer("warm", "--task", "find it", expect=1)["content"] is None


def test_a_report_can_be_read_by_its_owner_alone(samples: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    seasoned("report", samples / "codex", "-o", page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.chmod(0o644)
    seasoned("report", samples / "codex", "-o", page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_up_on_old_histories_learns_nothing_by_itself_and_a_person_still_can(samples: Path) -> None:
    out = seasoned("up", samples).stdout
    assert "For agents with named tools" not in out and "0 examples" not in out
    built = seasoned("template", "build", "mine").stdout
    assert "examples" in built and "will not be shown" not in built
    listed = answer("template", "list")["templates"][0]
    assert listed["active_count"] == listed["example_count"] > 0
    assert f"{listed['active_count']} / {listed['example_count']}" in seasoned("template", "list").stdout
    out = seasoned("up", samples).stdout
    assert "`seasoned warm` shows what a new session gets" in out and len(out.splitlines()) <= 24, "it fits one screen"
    # No agent is connected, so nothing is shown yet.
    assert "A new session in /home/mira/waypost would see at its start, if its agent were connected:" in out
    assert "- Check: `make check`" in out


def test_up_counts_the_examples_that_are_shown_and_warm_says_why_there_are_none(
    samples: Path, store_path: Path
) -> None:
    old = example(last_seen=2.0)
    with open_store(store_path) as store:
        save(store, template("auto-code", old))
        for one in load(store, "code-work").examples:
            set_state(store, one.id, "retired", "old", now=1.0)
    out = seasoned("up", samples / "codex").stdout
    assert "auto-code@1 (0 of 1 example)" in out
    assert "very example is" in seasoned("warm", "--all", expect=1).stderr
    assert answer("template", "list")["templates"][0].keys() >= {"active_count", "example_count"}


def test_a_template_is_chosen_by_type_and_tags(store_path: Path) -> None:
    with open_store(store_path) as store:
        save(store, template("papers", example("find_papers"), task_type="research", tags=("Science",)))
    assert answer("warm", "--all", "--type", "research")["template"] == "papers@1"
    assert answer("warm", "--all", "--tags", "science, other")["template"] == "papers@1"
    assert seasoned("warm", "--all", "--tags", "nobody", expect=1).stdout == ""
    assert "'cooking' is not one of" in seasoned("warm", "--type", "cooking", expect=2).stderr
