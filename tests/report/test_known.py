"""What was known before and is not seen after: by hand, one kind after the other."""

from __future__ import annotations

from typing import Any

from seasoned.outcome.track import JudgedCall
from seasoned.report.compression import LostKnowledge, lost_knowledge
from tests.report.tracks import call


def shell(command: str, letter: str = ".", said: str = "", message: int = 1) -> JudgedCall:
    return call(
        0, letter, "Bash", "terminal", arguments={"command": command}, result=said, reason=said, message=message
    )


def tool(name: str, letter: str = ".", said: str = "", **arguments: Any) -> JudgedCall:
    return call(0, letter, name, "file", arguments=arguments, result=said, reason=said)


def states(lost: tuple[LostKnowledge, ...]) -> list[tuple[str, str, int, int, int]]:
    return [(one.what, one.state, one.before, one.after, one.failed_after) for one in lost]


def test_a_command_that_worked_twice_is_known_and_lost_when_it_is_gone_or_fails() -> None:
    before = [
        *[shell("git push origin main")] * 3,
        *[shell("wp deploy --env prod")] * 2,
        shell("docker ps"),
        *[shell("ls -la")] * 2,
    ]
    after = [shell("wp deploy", "x", "wp: error: --env is required"), shell("cd x && ls")]
    found = lost_knowledge(before, after).commands
    assert found.known == 3  # one success may be luck
    assert states(found.lost) == [("wp deploy", "failed after", 2, 1, 1), ("git push", "not used", 3, 0, 0)]
    assert (found.count("failed after"), found.count("not used")) == (1, 1)


def test_a_command_that_failed_more_often_than_it_worked_was_never_known() -> None:
    before = [*[shell("curl x")] * 2, *[shell("curl x", "x", "curl: (6) no host")] * 2]
    assert lost_knowledge(before, []).commands.known == 0


def test_failing_tests_are_no_lost_command() -> None:
    before = [shell("make check")] * 3
    finds = [shell("make check", "x", "Tests failed.")]
    assert lost_knowledge(before, finds).commands.lost == ()


def test_a_joint_command_that_fails_blames_none_of_its_parts() -> None:
    before = [*[shell("git add .")] * 2, *[shell("git commit -m x")] * 2]
    after = [shell("git add . && git commit -m x", "x", "something went wrong")]
    assert lost_knowledge(before, after).commands.lost == ()


def test_paths_are_the_same_however_far_up_they_are_written() -> None:
    before = [tool("Read", file_path="/home/mira/ws/src/app.py")] * 2
    assert lost_knowledge(before, [tool("Edit", path="./src/app.py")]).paths.lost == ()
    assert lost_knowledge(before, [shell("sed -n 1,20p src/app.py")]).paths.lost == ()
    gone = lost_knowledge(before, [tool("Read", file_path="/home/mira/ws/src/myapp.py")]).paths
    assert states(gone.lost) == [("/home/mira/ws/src/app.py", "not used", 2, 0, 0)]


def test_a_path_is_lost_when_its_place_was_wrong_and_not_when_an_edit_was() -> None:
    before = [tool("Read", file_path="src/app.py")] * 2
    place = lost_knowledge(before, [tool("Read", "x", "File does not exist.", file_path="app.py")]).paths
    assert states(place.lost) == [("src/app.py", "failed after", 2, 1, 1)]
    edit = lost_knowledge(before, [tool("Edit", "x", "String to replace missing", file_path="src/app.py")]).paths
    assert edit.lost == ()


def test_argument_shapes_are_names_in_order() -> None:
    before = [tool("Grep", pattern="a", glob="*.py")] * 2
    after = [tool("Grep", "x", "unexpected argument", glob="*.py", pattern="b"), tool("Grep", pattern="c")]
    found = lost_knowledge(before, after).shapes
    assert states(found.lost) == [("Grep(glob, pattern)", "failed after", 2, 1, 1)]
