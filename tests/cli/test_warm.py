"""`warm` and `up` as a user meets them: what is given to a new session, and what is said where nothing is."""

from __future__ import annotations

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


@pytest.mark.usefixtures("store_path")
@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "[", '"x"', None])
def test_what_is_no_list_of_tools_gets_one_clear_sentence(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "tools.json"
    if text is not None:
        file.write_text(text, "utf-8")
    done = seasoned("warm", "--all", "--tools", file, expect=1 if text is None else 2)
    assert "tools.json" in done.stderr and "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_looking_is_no_use(store_path: Path) -> None:
    assert len(answer("warm", "--all", "--task", "find where it starts")["example_ids"]) == 1
    with open_store(store_path) as store:
        assert use_of(store).templates == {}


def test_a_folder_without_sessions_gets_nothing_of_other_projects(store_path: Path) -> None:
    said = seasoned("warm", "--task", "find it", expect=1).stderr
    assert "No sessions are known for this folder. Choose a project with --project" in said and "--all" in said
    assert seasoned("warm", "--all", "--task", "find it").stdout
    assert answer("warm", "--task", "find it", expect=1)["content"] is None


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
