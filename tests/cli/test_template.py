"""`template …` as a user meets it: real processes, the sample histories and a real store."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import msgspec
import pytest

from seasoned.example.library.storage import ListedTemplate, count_use, load, save
from seasoned.store import open_store
from tests.cli.run import answer, seasoned
from tests.example.library.test_exchange import WARM_V2


@pytest.fixture
def built(samples: Path) -> str:
    seasoned("template", "build", "post", samples, "--min-messages", 4, "--tags", "wp, parcels")
    return "post"


@pytest.fixture
def store_path(home: Path) -> Path:
    return home / ".seasoned" / "seasoned.db"


def test_building_twice_makes_two_versions_and_reads_the_path_into_the_store(samples: Path) -> None:
    about = ("--min-messages", 10, "--tags", "wp,parcels,wp", "--description", "Ours")
    first = answer("template", "build", "post", samples / "hermes", *about)
    assert first["schema"] == "seasoned/template/1" and (first["name"], first["version"]) == ("post", 1)
    assert (first["tags"], first["description"]) == (["parcels", "wp"], "Ours")
    assert first["metrics"]["sessions_scanned"] == 6 and first["examples"]
    assert {one["session"].partition(":")[0] for each in first["examples"] for one in each["sources"]} == {"hermes"}
    second = answer("template", "build", "post", "--min-messages", 10, "--source", "hermes")
    assert second["version"] == 2
    assert len(answer("sessions")["sessions"]) == 6


def test_a_build_that_finds_nothing_says_so_and_saves_nothing(samples: Path) -> None:
    done = seasoned("template", "build", "none", samples / "codex", "--min-messages", 5000, expect=1)
    assert "nothing was saved" in done.stderr and "5000 messages" in done.stderr
    assert "Name the template" in seasoned("template", "build", expect=2).stderr
    assert answer("template", "list")["count"] == 0
    assert "No templates match" in seasoned("template", "list").stdout


@pytest.mark.usefixtures("built")
def test_one_session_makes_a_template_of_ten_examples_at_most() -> None:
    sessions = answer("sessions")["sessions"]
    one = max(sessions, key=lambda session: session["successful_calls"])["session_id"]
    found = answer("template", "create", one, "--name", "one")
    assert found["sources"][0].endswith(f":{one}") and 0 < len(found["examples"]) <= 10
    assert answer("template", "create", one, "--type", "research", "--name", "r")["task_type"] == "research"
    names = {answer("template", "create", one, "--type", "research")["name"] for _ in range(2)}
    assert len(names) == 1 and re.fullmatch(r"research-.+-[0-9a-f]{8}", names.pop())
    assert "most similar are" in seasoned("template", "create", "nobody", expect=1).stderr


@pytest.mark.usefixtures("built")
def test_the_list_is_by_type_and_tags_newest_first(tmp_path: Path) -> None:
    (tmp_path / "warm.json").write_text(json.dumps(WARM_V2), "utf-8")
    seasoned("template", "import", tmp_path / "warm.json")
    found = answer("template", "list")
    assert found["schema"] == "seasoned/templates/1"
    assert [one["name"] for one in found["templates"]] == ["post", "warm"], "the imported one is older"
    assert found["templates"][0].keys() == set(ListedTemplate.__struct_fields__)
    assert [one["name"] for one in answer("template", "list", "--type", "code")["templates"]] == ["warm"]
    assert [one["name"] for one in answer("template", "list", "--tags", "nothing,WP")["templates"]] == ["post"]
    out = seasoned("template", "list").stdout
    assert out.index("post") < out.index("warm") and "parcels, wp" in out


def test_show_says_what_is_in_it_and_where_it_came_from(built: str, store_path: Path) -> None:
    with open_store(store_path) as store:
        kept = load(store, built)
        count_use(store, kept.mark, [kept.examples[0].id])
    found = answer("template", "show", built)
    assert found["usage_count"] == 1 and found["examples"][0]["shown"] == 1
    assert [one["id"] for one in found["examples"]] == [one.id for one in kept.examples]
    out = seasoned("template", "show", f"{built}@1").stdout
    for one in kept.examples:
        assert one.id in out and one.sources[0].session in out
    assert "used 1 time" in out and "repairs" in out
    assert f"Learned from {len(kept.sources)} sessions." in out
    assert "no version 7" in seasoned("template", "show", f"{built}@7", expect=1).stderr
    assert "Similar names: post" in seasoned("template", "show", "pots", expect=1).stderr


def test_a_retired_example_is_shown_to_nobody_until_it_is_restored(built: str) -> None:
    first = answer("template", "show", built)["examples"][0]["id"]
    found = answer("template", "retire", first[:10], "--reason", "the flag is gone")
    assert found["schema"] == "seasoned/example/1"
    assert (found["state"], found["templates"], found["reason"]) == ("retired", ["post"], "the flag is gone")
    shown = answer("template", "show", built)
    assert shown["examples"][0]["state"] == "retired" and shown["examples"][0]["state_reason"] == "the flag is gone"
    assert first not in json.loads(seasoned("warm", built, "--json").stdout)["example_ids"]
    assert "retired" in seasoned("template", "show", built).stdout
    again = seasoned("template", "build", built, "--min-messages", 10).stdout
    assert "1 example is retired" in again, "the same example in a new version stays retired"
    stats = answer("template", "list", "--stats")
    assert (stats["total"], stats["usage"], stats["states"]["retired"]) == (1, 0, 1)
    assert "1 template with" in seasoned("template", "list", "--stats").stdout
    exported = json.loads(seasoned("template", "export", built, "--as", "warm-v2").stdout)
    kept = [one for one in answer("template", "show", built)["examples"] if one["state"] == "active"]
    assert len(exported["patterns"]) == len(kept)
    assert "may be shown again" in seasoned("template", "retire", first, "--undo").stdout
    assert answer("template", "show", built)["examples"][0]["state"] == "active"
    assert "lists the ids" in seasoned("template", "retire", "zzz", "--reason", "x", expect=1).stderr
    assert "--reason" in seasoned("template", "retire", first, expect=2).stderr


def test_secrets_in_what_a_person_types_are_redacted(built: str, store_path: Path, samples: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    first = answer("template", "show", built)["examples"][0]["id"]
    seasoned("template", "retire", first, "--reason", f"it used {secret[:40]}")
    seasoned("template", "build", "post", "--min-messages", 10, "--description", secret[:40], "--tags", secret[:40])
    kept = [file.read_bytes() for file in store_path.parent.rglob("*") if file.is_file()]
    assert secret[:40].encode() not in b"".join(kept)


def test_deleting_asks_first_and_takes_all_versions(built: str) -> None:
    seasoned("template", "build", built, "--min-messages", 10)
    seasoned("template", "delete", built, expect=1)
    assert answer("template", "list")["count"] == 1
    assert answer("template", "delete", built, "--yes")["deleted_versions"] == 2
    assert "The library is empty" in seasoned("template", "delete", built, "--yes", expect=1).stderr


@pytest.mark.parametrize("shape", ["seasoned", "warm-v2", "session-template"])
def test_what_is_exported_can_be_imported(built: str, shape: str, tmp_path: Path) -> None:
    done = seasoned("template", "export", built, "--as", shape, "-o", tmp_path)
    file = tmp_path / "post.json"
    assert str(file) in done.stdout and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "exists already" in seasoned("template", "export", built, "-o", file, expect=3).stderr
    before = answer("template", "show", built)
    after = answer("template", "import", file, "--name", "copy")
    assert after["name"] == "copy" and {one["tier"] for one in after["examples"]} == {"imported"}
    assert after["sources"] == before["sources"] or shape == "session-template"
    if shape == "seasoned":
        assert after["left_out"] == {}
        assert [one["id"] for one in after["examples"]] == [one["id"] for one in before["examples"]]
    assert seasoned("template", "export", built, "--as", shape).stdout.encode() == file.read_bytes()


def test_what_cannot_be_imported_says_why_in_one_sentence(tmp_path: Path, store_path: Path) -> None:
    file = tmp_path / "x.json"
    assert "no file" in seasoned("template", "import", file, expect=1).stderr
    file.write_text('{"hello": 1}', "utf-8")
    assert "neither a template" in seasoned("template", "import", file, expect=3).stderr
    file.write_text(json.dumps({**WARM_V2, "name": "../../x"}), "utf-8")
    done = seasoned("template", "import", file, expect=2)
    assert "cannot be the name" in done.stderr and done.stderr.count("\n") == 1
    file.write_text(json.dumps({**WARM_V2, "patterns": []}), "utf-8")
    assert "nothing was saved" in seasoned("template", "import", file, expect=1).stderr
    assert not store_path.exists()


def test_auto_leaves_out_what_is_too_old_and_what_a_person_built_stays(built: str, store_path: Path) -> None:
    with open_store(store_path) as store:
        old = load(store, built)
        shown = msgspec.structs.replace(old.examples[0], first_seen=1.0, last_seen=2.0)
        save(store, msgspec.structs.replace(old, name="auto-file", examples=(shown,)))
    found = answer("template", "build", "--auto", "--min-messages", 10)
    assert (found["changed"], found["count"]) == ([], 0)
    (aged,) = answer("template", "show", "auto-file")["examples"]
    assert aged["state"] == "retired" and "last seen to work" in aged["state_reason"]
    assert {one["state"] for one in answer("template", "show", built)["examples"]} == {"active"}
    assert "may be shown again" in seasoned("template", "retire", shown.id, "--undo").stdout
    assert answer("template", "show", "auto-file")["examples"][0]["state"] == "active"
