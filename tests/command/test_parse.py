"""Reading shell commands: which programs run, and whose status is the command's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.parse import _parsed, deciding, parse
from tests.each_case import each_case


@each_case(
    ("command", "programs"),
    [
        ("ls -la", ["ls"]),
        ("cd /a && go test ./... 2>&1 | tail -5", ["cd", "go", "tail"]),
        ("FOO=1 sudo -u x env BAR=2 make all", ["make"]),
        ("timeout 30 npx --yes eslint .", ["eslint"]),
        ("uv run pytest -q; echo done", ["pytest", "echo"]),
        ("cat > a.py <<'EOF'\nimport os; os.system('rm')\nEOF\npython a.py", ["cat", "python"]),
        ("for f in *.py; do wc -l $f; done", ["wc"]),
        ("if [ -f x ]; then cat x; fi", ["[", "cat"]),
        ('echo "a && b; c | d"', ["echo"]),
        ("echo $(git status; ls)", ["echo"]),
        ("(cd a && make) || exit 1", ["cd", "make", "exit"]),
        ("./gradlew build # && rm", ["gradlew"]),
        ("git commit -m $'it\\'s' && ls", ["git", "ls"]),
        ("", []),
        ("command -v node", ["command"]),
        ("sudo -i", ["sudo"]),
        ("xargs -a list.txt rm -f", ["rm"]),
        ("grep -F -f <(grep x a | cut -d'|' -f1) b && ls", ["grep", "ls"]),
        ("cleanup() {\n  rm -f x\n}\ntrap cleanup EXIT", ["rm", "trap"]),
        ("f(){ rm x; }; f", ["rm", "f"]),
        ("function f { rm x; }", ["rm"]),
        ("apply_patch *** Begin Patch\n*** Add File: a.sh\n+rm -rf x\n*** End Patch\nls", ["apply_patch", "ls"]),
    ],
)
def test_the_programs_of_a_command(command: str, programs: list[str]) -> None:
    assert [step.program for step in parse(command)] == programs


@each_case(
    ("command", "programs"),
    [
        ("a; b", ["b"]),
        ("a && b | c", ["a", "c"]),
        ("a || b", ["b"]),
        ("a; b && c", ["b", "c"]),
        ("set -e; a; b", ["set", "a", "b"]),
        ("set -o pipefail; a | b", ["a", "b"]),
        ("a | tail; true", ["true"]),
        ("a; rc=$?; tail b; exit $rc", ["a", "tail", "exit"]),
        ("a | tail; exit ${PIPESTATUS[0]}", ["a", "tail", "exit"]),
    ],
)
def test_whose_status_is_the_command_s(command: str, programs: list[str]) -> None:
    assert [step.program for step in deciding(parse(command))] == programs


def test_the_wrappers_of_a_program_are_kept() -> None:
    assert parse("sudo timeout 5 make")[0].behind == ("sudo", "timeout")


def test_a_sub_command_behind_options() -> None:
    assert parse("git -C /x -c a=b push origin")[0].sub == "push"


@given(st.text(alphabet="ab'\"`$(){}|&;<>\\\n #=-", max_size=80))
def test_reading_never_raises(command: str) -> None:
    steps = parse(command)
    assert set(deciding(steps)) <= set(steps)


WORDS = st.text(st.sampled_from("ab=-/.~*?[]{}!^%+,:@é\u00a0\u2028\t\r\n '\"\\;|&()<>$#`0"), max_size=30)


@given(st.lists(WORDS | st.sampled_from(["sudo", "env", "git", "time", "A=1", "-u", "for", "if", "--", "#", ""])))
def test_a_command_of_mere_words_is_read_as_any_other(words: list[str]) -> None:
    command = " ".join(words)
    if "<<" not in command:
        assert parse(command) == _parsed(command)
