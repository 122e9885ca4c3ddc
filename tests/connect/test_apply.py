"""Changes to files of other programs: shown, written whole, taken back exactly, and never over somebody's edits."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from seasoned.connect.apply import apply_plan, is_connected, link_skills_of, undo
from seasoned.connect.plan import ConnectPlan, FileChange, LinkedFolder, make_links, preview, read_present
from seasoned.errors import CannotDo
from seasoned.file_lock import locked


def plan_for(path: Path, after: bytes | None, *links: LinkedFolder) -> ConnectPlan:
    return ConnectPlan("demo", (FileChange(path, read_present(path), after, "to try"),), links=links)


def applied(home: Path, plan: ConnectPlan) -> Path:
    return apply_plan(plan, home=home)


def test_a_change_is_shown_as_a_diff_and_a_new_file_against_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert preview(FileChange(path, b"a\nb", b"a\nc\n", "")).splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "\\ No newline at end of file",
        "+c",
    ]
    assert preview(FileChange(path, None, b"x\n", "")).startswith(f"--- /dev/null\n+++ {path}\n")


def test_a_file_is_written_with_its_mode_and_undone_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "agent" / "settings"
    path.parent.mkdir()
    path.write_bytes(b"\xff odd \r\n bytes")
    path.chmod(0o640)
    applied(tmp_path / "home", plan_for(path, b"new"))
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    undo("demo", home=tmp_path / "home")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"\xff odd \r\n bytes", 0o640)
    assert not is_connected("demo", home=tmp_path / "home")
    assert sorted(one.name for one in path.parent.iterdir()) == ["settings"], "nothing is left behind"


def test_a_file_that_was_not_there_goes_again_with_the_folders_made_for_it(tmp_path: Path) -> None:
    path = tmp_path / "agent" / "deep" / "settings"
    applied(tmp_path / "home", plan_for(path, b"new"))
    assert path.read_bytes() == b"new"
    undo("demo", home=tmp_path / "home")
    assert not (tmp_path / "agent").exists()


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "settings", tmp_path / "settings"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to(real)
    applied(tmp_path / "home", plan_for(link, b"new"))
    assert link.is_symlink() and real.read_bytes() == b"new"
    undo("demo", home=tmp_path / "home")
    assert link.is_symlink() and real.read_bytes() == b"old"


def test_a_file_that_changed_since_the_plan_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    plan = plan_for(path, b"new")
    path.write_bytes(b"somebody was quicker")
    with pytest.raises(CannotDo, match="changed since the plan"):
        applied(tmp_path / "home", plan)
    assert path.read_bytes() == b"somebody was quicker"
    assert not is_connected("demo", home=tmp_path / "home")


def test_when_one_file_cannot_be_written_none_is_changed(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "file" / "bad"
    good.write_bytes(b"old")
    changes = (FileChange(good, b"old", b"new", ""), FileChange(bad, None, b"new", ""))
    (tmp_path / "file").write_bytes(b"no folder")
    with pytest.raises(CannotDo, match="cannot be"):
        applied(tmp_path / "home", ConnectPlan("demo", changes))
    assert good.read_bytes() == b"old"
    assert not is_connected("demo", home=tmp_path / "home")


def test_when_a_link_cannot_be_made_the_files_can_still_be_taken_back(tmp_path: Path) -> None:
    path, home = tmp_path / "notes", tmp_path / "home"
    path.write_bytes(b"old")
    (tmp_path / "ours" / "mail").mkdir(parents=True)
    (tmp_path / "file").write_bytes(b"no folder")
    linked = LinkedFolder(tmp_path / "file" / "skills", tmp_path / "ours", "")
    with pytest.raises(CannotDo, match="mail"):
        applied(home, ConnectPlan("demo", plan_for(path, b"new").changes, links=(linked,)))
    assert path.read_bytes() == b"new"
    undo("demo", home=home)
    assert path.read_bytes() == b"old"


def test_edits_inside_our_part_are_refused_with_both_differences(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"one\n")
    applied(tmp_path / "home", plan_for(path, b"ours\n"))
    path.write_bytes(b"ours, but better\n")
    with pytest.raises(CannotDo, match="edited since") as caught:
        undo("demo", home=tmp_path / "home")
    assert "+ours\n" in str(caught.value)
    assert "+ours, but better\n" in str(caught.value)
    assert path.read_bytes() == b"ours, but better\n"
    path.write_bytes(b"one\n")
    assert undo("demo", home=tmp_path / "home").changes == (), "taken out by hand is undone"


def test_a_former_state_that_was_tampered_with_is_not_restored(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"old")
    folder = applied(tmp_path / "home", plan_for(path, b"new"))
    for one in folder.iterdir():
        if one.read_bytes() == b"old":
            one.write_bytes(b"evil")
    with pytest.raises(CannotDo, match="missing or was changed"):
        undo("demo", home=tmp_path / "home")
    assert path.read_bytes() == b"new"


def test_what_is_kept_is_for_the_user_alone(tmp_path: Path) -> None:
    folder = applied(tmp_path / "home", plan_for(tmp_path / "notes", b"new"))
    assert folder.stat().st_mode & 0o077 == 0
    assert [one.name for one in folder.iterdir() if one.stat().st_mode & 0o077] == []


def test_folders_are_linked_and_only_our_links_go_again(tmp_path: Path) -> None:
    source, folder = tmp_path / "ours", tmp_path / "theirs"
    for name in ("mail", "deploy"):
        (source / name).mkdir(parents=True)
    (folder / "deploy").mkdir(parents=True)
    (folder / "other").symlink_to(tmp_path)
    linked = LinkedFolder(folder, source, "so that they are found")
    applied(tmp_path / "home", ConnectPlan("demo", links=(linked,)))
    assert (folder / "mail").resolve() == source / "mail"
    assert not (folder / "deploy").is_symlink(), "a name that is taken stays"
    undo("demo", home=tmp_path / "home")
    assert sorted(one.name for one in folder.iterdir()) == ["deploy", "other"]


@pytest.mark.parametrize("kind", ["folder", "circle"])
def test_what_is_no_ordinary_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings"
    path.mkdir() if kind == "folder" else path.symlink_to(path)
    with pytest.raises(CannotDo, match="settings"):
        read_present(path)


def test_replaced_lines_come_back_in_a_file_that_was_edited_since_unless_they_were(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"# Tests\nRun `rtk test`.\nThen push.\n")
    applied(tmp_path / "home", plan_for(path, b"# Tests\nRun `make test`.\nThen push.\n"))
    path.write_bytes(b"# More\n\n# Tests\nRun `make test`.\nThen rest.\n")
    undo("demo", home=tmp_path / "home")
    assert path.read_bytes() == b"# More\n\n# Tests\nRun `rtk test`.\nThen rest.\n"
    applied(tmp_path / "home", plan_for(path, path.read_bytes().replace(b"rtk", b"make")))
    path.write_bytes(b"Run `make test` always.\n")
    with pytest.raises(CannotDo, match="the same lines were changed"):
        undo("demo", home=tmp_path / "home")


def test_a_link_to_a_skill_that_is_gone_goes_with_the_next_look(tmp_path: Path) -> None:
    linked = LinkedFolder(tmp_path / "theirs", tmp_path / "ours", "so that they are found")
    (linked.source / "mail").mkdir(parents=True)
    make_links(linked)
    (linked.source / "mail").rmdir()
    (linked.folder / "other").symlink_to(tmp_path / "nowhere")
    make_links(linked)
    assert [one.name for one in linked.folder.iterdir()] == ["other"]


def test_a_skill_that_a_review_links_while_connecting_is_undone_is_not_left_behind(tmp_path: Path) -> None:
    home, linked = tmp_path / "home", LinkedFolder(tmp_path / "theirs", tmp_path / "ours", "so that they are found")
    (linked.source / "mail").mkdir(parents=True)
    applied(home, ConnectPlan("demo", links=(linked,)))
    (linked.source / "report").mkdir()
    with locked(home / "connect" / ".lock"):
        late = Thread(target=link_skills_of, args=("demo",), kwargs={"home": home})
        late.start()
        late.join(0.2)
        assert late.is_alive() and not (linked.folder / "report").exists(), "it waits for whoever changes files"
        (home / "connect" / "demo" / "record.json").unlink()
    late.join()
    assert not (linked.folder / "report").exists()
