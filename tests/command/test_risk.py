"""Which commands and calls need a person."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.command.action import HIGH_RISK
from seasoned.command.risk import Need, need_of_call, need_of_command
from seasoned.command.rows import only_looks
from tests.command.probes import commands
from tests.each_case import each_case

FOLDER = "/home/mira/parcel"
# What the rows of the table find is in `probe/rows.txt`; here are the other rules, and a few rows in other words.
COMMANDS = [(command, action) for action, _, command in (line.partition("\t") for line in commands("needs"))]
HARMLESS = commands("harmless_commands")


def _action(need: Need | None) -> str | None:
    return need.action if need is not None else None


def test_a_command_needs_the_action_that_it_is() -> None:
    found = {command: _action(need_of_command(command, folder=FOLDER)) for command, _ in COMMANDS}
    assert found == dict(COMMANDS)
    need = need_of_command("npm publish", folder=FOLDER)
    assert need is not None and need.details["command"] == "npm publish"
    assert need.description.startswith("npm publish (it ")


def test_a_command_that_only_looks_like_one_needs_nothing() -> None:
    assert [command for command in HARMLESS if need_of_command(command, folder=FOLDER)] == []


def test_what_a_person_sees_of_a_call() -> None:
    need = need_of_call("restart_server", {"name": "web"}, agent="claude")
    assert need is not None and need.action == "shutdown_service"
    assert need.details["tool"] == "restart_server" and need.details["arguments"] == {"name": "web"}
    assert need.details["agent"] == "claude"


def test_the_gravest_action_is_asked_for_and_the_others_are_listed() -> None:
    need = need_of_command("ssh db1 'dropdb shop' && npm publish && scp x db1:/srv")
    assert need is not None
    assert need.action == "wipe_database"
    assert need.details["also"] == ["exec_remote", "publish_package"]


@pytest.mark.parametrize("command", ["true " + "x" * 20_001, "a;" * 9_000])
def test_a_command_that_is_too_long_to_be_read_needs_a_person(command: str) -> None:
    need = need_of_command(command)
    assert need is not None
    assert need.row == "length"


def test_commands_nested_without_end_need_a_person() -> None:
    assert need_of_command("watch " * 200 + " ".join(f"a{number}" for number in range(200))) is not None


def test_the_working_folder_is_what_the_call_names() -> None:
    assert need_of_call("exec_command", {"cmd": "rm -rf /srv/app/build", "workdir": "/srv/app"}) is None
    assert need_of_call("exec_command", {"cmd": "rm -rf /srv/app/build", "workdir": "/srv/web"}) is not None
    assert need_of_command("rm -rf /srv/app", folder="/") is not None


def test_inside_the_project_a_file_is_the_agents_to_delete_also_on_windows_and_not_on_another_machine() -> None:
    project = r"C:\Users\mira\shop"
    for command in (rf"del {project}\build\a.o", r"rmdir /s /q node_modules", rf"Remove-Item -Recurse {project}\dist"):
        assert need_of_command(command, folder=project) is None, command
    for command in (r"del C:\Users\mira\notes.txt", rf"rd /s /q {project}", r"Remove-Item -Recurse D:\shop\dist"):
        assert need_of_command(command, folder=project) is not None, command
    assert need_of_command("rm -rf build", folder="/srv/app") is None
    assert need_of_command("ssh web1 'rm -rf build'", folder="/srv/app") is not None


def test_a_quoted_here_document_runs_nothing() -> None:
    assert need_of_command("cat > notes.md <<'EOF'\nrun `npm publish` first\nEOF", folder=FOLDER) is None
    assert need_of_command("cat > notes.md <<EOF\n`npm publish`\nEOF", folder=FOLDER) is not None
    assert need_of_command("bash <<'EOF'\nnpm publish\nEOF", folder=FOLDER) is not None


def test_looking_is_known_for_programs_and_subcommands_of_git() -> None:
    assert only_looks("grep")
    assert only_looks("git", "diff")
    assert not only_looks("git", "commit")
    assert not only_looks("make")


WRAPPERS = [
    *("sudo {}", "sudo -u root {}", "env A=1 {}", "nohup {} &", "time {}", "timeout 10 {}", "nice -n 5 {}"),
    *("true && {}", "false || {}", "ls; {}", "({})", "if true; then {}; fi", "for i in 1 2; do {}; done"),
    *("f() {{ {}; }}; f", "echo $({})", "echo `{}`", "A=1 {}", "setsid {}", "xargs {}", "exec {}"),
]
QUOTING = ["bash -c {}", "sh -lc {}", "eval {}", "ssh web1 {}", "su - root -c {}", "echo {} | sh", "bash <<< {}"]
PLAIN = [
    *("rm -rf /srv/data", "dropdb -h db.example.com shop", "npm publish", "terraform destroy"),
    *("systemctl stop nginx", "alembic -x url=$PROD_URL upgrade head"),
]


def test_a_wrapper_keeps_the_action() -> None:
    found = {
        wrapper.format(command): (_action(need_of_command(wrapper.format(command))), _action(need_of_command(command)))
        for wrapper in WRAPPERS
        for command in PLAIN
    }
    assert {line: actions for line, actions in found.items() if actions[0] != actions[1]} == {}


# Three layers whose inside is guessed: some action is found, not always the right one.
GUESSED = ("echo {} | sh", "su - root -c {}")


def test_quoting_keeps_the_action() -> None:
    wrong = []
    for command in PLAIN:
        expected = _action(need_of_command(command))
        for wrappers in chain.from_iterable(product(QUOTING, repeat=depth) for depth in range(1, 4)):
            wrapped = command
            for wrapper in wrappers:
                wrapped = wrapper.format(shlex.quote(wrapped))
            found = _action(need_of_command(wrapped))
            if found != expected and (found is None or wrappers[-2:] != GUESSED):
                wrong.append((wrapped, found))
    assert wrong == []


_WORDS = "rm -rf / $( ) ( ` ' ; && | <<EOF EOF ssh DROP $x x= { } sudo bash -c eval kubectl apply ~ .. > <<< find -exec"
_LONGER = (
    "<<EOF\n",
    "psql -c",
    "case x in",
    "bash -c",
    "python -c",
    "\n",
    " ",
    "git push -f",
    "dd of=",
    "\\",
    '"',
    "\u202e",
)
_PIECES = st.sampled_from([*_WORDS.split(), *_LONGER, "\x00"])
_TEXTS = st.one_of(
    st.text(max_size=300), st.lists(_PIECES, max_size=40).map(" ".join), st.lists(_PIECES, max_size=40).map("".join)
)


@given(_TEXTS)
@settings(deadline=None)
def test_no_command_makes_it_raise(command: str) -> None:
    need = need_of_command(command, folder=FOLDER)
    assert need is None or need.action in HIGH_RISK


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=40), _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=8,
)
_KEYS = st.one_of(
    st.text(max_size=10),
    st.sampled_from(["command", "cmd", "code", "sql", "chars", "action", "path", "input", "workdir", "env", "confirm"]),
)


@given(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(["Bash", "write_stdin", "execute_code", "apply_patch", "mcp__db__q"]),
    ),
    st.dictionaries(_KEYS, _VALUES, max_size=5),
)
@settings(deadline=None)
def test_no_call_makes_it_raise(tool: str, arguments: dict[str, Any]) -> None:
    need = need_of_call(tool, arguments)
    assert need is None or need.action in HIGH_RISK


HEAVY = {
    "words": "a" * 20_000,
    "options": "docker " + "--a " * 4_990,
    "force": "git push -f " + "-x " * 6_000,
    "post": "curl " + "-X " * 6_600,
    "payments": "curl " + "/v1/payouts " * 1_600,
    "kills": "kill pgrep " * 1_800,
    "comments": "psql -c '" + "/*" * 9_900 + "'",
    "grants": "psql -c '" + "grant a " * 2_400 + "'",
    "deploys": "make " + "deploy-" * 2_800,
    "execs": "find " + "-exec " * 3_300,
    "shells": "bash -c 'bash -c " * 1_100,
    "arms": "case x in " + "a) b;; " * 2_800,
    "substitutions": "$(" * 10_000,
    "documents": "<<A\n" * 5_000,
    "quoted documents": "<<'A'\n" * 3_300,
    "functions": "f() { " * 3_300,
    "texts in code": "python -c '" + '"a b" ' * 3_000 + "'",
    "code in code": "python -c 'os.system(\"python -c " * 600,
    "any program": "x " + "-a b " * 3_900,
}


@each_case("name", HEAVY)
def test_a_hostile_command_of_full_length_is_answered_in_bounded_time(name: str) -> None:
    before = time.process_time()
    need_of_command(HEAVY[name][:20_000], folder=FOLDER)
    assert time.process_time() - before < 1


def test_ordinary_commands_are_answered_in_well_under_a_millisecond() -> None:
    commands = [command for command in HARMLESS if len(command) < 80]
    for command in commands:
        need_of_command(command, folder=FOLDER)
    before = time.process_time()
    for command in commands:
        need_of_command(command, folder=FOLDER)
    assert (time.process_time() - before) / len(commands) < 0.001


def test_the_package_imports_nothing_but_msgspec_and_the_standard_library() -> None:
    code = (
        "import sys; from seasoned.command.risk import need_of_command; need_of_command('rm x');"
        "print(*{n.partition('.')[0] for n in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    found = set(done.stdout.split())
    foreign = {name for name in found if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign <= {"seasoned", "msgspec", "typing_extensions", "sitecustomize", "usercustomize"}
