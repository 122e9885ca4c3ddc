"""The service as another user: planned as commands, run by root with real users, out of the agent's reach, undone."""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from seasoned.confirm.install import (
    BACKUP,
    Present,
    Program,
    RootCommand,
    Setup,
    find_program,
    has_backup,
    install_commands,
    installed,
    is_out_of_reach,
    look,
    make_setup,
    next_steps,
    policy_text,
    run_commands,
    setup_for_mac,
    uninstall_commands,
    unit_text,
)
from seasoned.confirm.policy import load_policy
from seasoned.errors import CannotDo, NotFound, SeasonedError, UsageError
from tests.each_case import check_each

SETUP = Setup(person="mira", uid=1000, group="mira", user="seasoned", system="systemd", port=7327, alone=False)
PROGRAM = Program(Path("/usr/bin/python3.11"), "3.11", (Path("/home/mira/v/lib/seasoned"),))
ASK = """
import http.client, json, socket, sys
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
body = {"action": "delete_data", "description": "Delete the logs", "details": {"path": "/srv/logs"}}
connection.request("POST", sys.argv[2], json.dumps(body), {"Content-Type": "application/json"})
print(connection.getresponse().status)
"""
MAKE_AGENT = """
import sys, time
from seasoned.config import load
from seasoned.confirm.people.credential import make
from seasoned.store import open_database
make(open_database(load()), sys.argv[1], "agent", now=time.time(), person="mira")
"""


def test_the_unit_runs_the_copy_of_the_program_as_the_other_user() -> None:
    lines = unit_text(SETUP).splitlines()
    wanted = ["User=seasoned", "Group=mira", "UMask=0077", "StateDirectoryMode=0700", "RuntimeDirectoryMode=0750"]
    assert set(wanted) <= set(lines)
    assert f"ExecStart={shlex.join(SETUP.command)}" in lines
    assert SETUP.command[0] == "/opt/seasoned/bin/seasoned"


def test_launchd_gets_the_same_as_a_property_list() -> None:
    setup = setup_for_mac(msgspec.structs.replace(SETUP, system="launchd", user="_seasoned"))
    job = plistlib.loads(unit_text(setup).encode())
    assert (job["UserName"], job["GroupName"], job["Umask"]) == ("_seasoned", "mira", 0o077)
    assert job["ProgramArguments"] == list(setup.command)
    words = [one.words[:2] for one in install_commands(setup, PROGRAM, present=Present())]
    assert ("sysadminctl", "-addUser") in words and ("launchctl", "bootstrap") in words


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    # It also checks that program and user exist, so both are some that do.
    here = msgspec.structs.replace(SETUP, user="daemon", group="daemon")
    unit = tmp_path / "seasoned-confirm.service"
    unit.write_text(unit_text(here).replace(SETUP.command[0], sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "seasoned-confirm" in line]
    assert done.returncode == 0 and not said, done.stderr


def test_the_policy_knows_the_agents_by_their_user_id(tmp_path: Path) -> None:
    for alone in (False, True):
        file = tmp_path / "policy.toml"
        file.write_text(policy_text(msgspec.structs.replace(SETUP, alone=alone)))
        policy = load_policy(file)
        assert policy.listen.peers == {"1000": "mira-agent"} and policy.listen.socket == SETUP.socket
        assert policy.single_operator is alone


def test_commands_for_sudo_are_complete_and_hold_what_they_write() -> None:
    commands = [one.shell() for one in install_commands(SETUP, PROGRAM, present=Present(unit="old"))]
    assert all(one.startswith("sudo ") for one in commands)
    text = "\n".join(commands)
    assert f"sudo cp -p {SETUP.unit} {SETUP.unit}{BACKUP}" in text, "what is there is kept"
    assert unit_text(SETUP).rstrip() in text and "systemctl enable" in text
    assert subprocess.run(["sh", "-n"], input=text.encode()).returncode == 0
    again = install_commands(SETUP, PROGRAM, present=Present(user=True, program=True, unit=unit_text(SETUP)))
    assert not any(one.words[0] in ("useradd", "cp") and BACKUP in one.words[-1] for one in again)
    assert any("confirm token make mira --role admin" in step for step in next_steps(SETUP))


def test_undoing_restores_the_former_unit_and_keeps_the_audit_unless_purged() -> None:
    kept = [one.words for one in uninstall_commands(SETUP, made_user=True, backup=True, purge=False)]
    assert ("mv", f"{SETUP.unit}{BACKUP}", str(SETUP.unit)) in kept
    assert not any(str(SETUP.home) in words or words[0] == "userdel" for words in kept)
    purged = [one.words for one in uninstall_commands(SETUP, made_user=True, backup=False, purge=True)]
    assert ("rm", "-r", str(SETUP.home)) in purged and ("userdel", "seasoned") in purged
    spared = [one.words for one in uninstall_commands(SETUP, made_user=False, backup=False, purge=True)]
    assert not any(words[0] == "userdel" for words in spared), "a user that was there before stays"


def test_a_program_that_the_agent_could_change_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "python"
    file.write_text("")
    assert not is_out_of_reach(file, os.getuid(), ()), "its owner can change it"
    assert not is_out_of_reach(tmp_path / "missing", 12345, ())
    assert is_out_of_reach(Path("/bin/sh"), 12345, ())
    group = Path("/bin/sh").resolve().stat()
    assert is_out_of_reach(Path("/bin/sh"), 12345, (group.st_gid,)) is not bool(group.st_mode & stat.S_IWGRP)


def test_what_cannot_work_is_refused_with_what_to_do(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, str | None], str]] = [
        ({"person": "no-such-user"}, "Unknown user"),
        ({"person": "root"}, "not root"),
        ({"person": "daemon", "user": "daemon"}, "another name"),
        ({"person": "daemon", "group": "no-such-group"}, "Unknown group"),
        ({"person": "daemon", "group": "root"}, "could not reach"),
    ]

    def check(given: dict[str, str | None], text: str) -> None:
        options = {"user": "seasoned", "person": None, "group": None, **given}
        with pytest.raises(UsageError, match=text):
            make_setup(user=str(options["user"]), person=options["person"], group=options["group"], port=1, alone=False)

    check_each(cases, check)
    own = Program(Path("/usr/bin/python3"), "3.11", (SETUP.program_folder / "lib" / "seasoned",))
    with pytest.raises(UsageError, match="want to copy"):
        install_commands(SETUP, own, present=Present(program=True))
    with pytest.raises(NotFound):
        installed(tmp_path)
    with pytest.raises(CannotDo, match="was not made by this command"):
        look(msgspec.structs.replace(SETUP, program_folder=tmp_path))
    with pytest.raises(SeasonedError, match="failed"):
        run_commands([RootCommand(("false",), "x")], say=lambda _: None)


@pytest.mark.skipif(os.getuid() != 0, reason="makes users and runs the service as one of them: needs root")
@pytest.mark.skipif(shutil.which("useradd") is None, reason="useradd is not installed here")
def test_the_agents_user_can_ask_and_reach_nothing_else() -> None:
    person, user = f"ssnp{os.getpid()}", f"ssns{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix="seasoned-install-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        subprocess.run(["useradd", "--no-create-home", "--user-group", person], check=True)
        found, groups = make_setup(user=user, person=person, group=None, port=_free_port(), alone=True)
        setup = msgspec.structs.replace(
            found,
            system="systemd",
            unit=folder / "seasoned-confirm.service",
            program_folder=folder / "program",
            home=folder / "home",
            socket=folder / "run" / "confirm.sock",
        )
        setup.unit.write_text("# the unit of another program\n")
        _run(install_commands(setup, find_program(setup.uid, groups), present=look(setup)))
        assert setup.unit.read_text() == unit_text(setup)
        with _running(setup):
            _check_rights(setup)
        _check_undone(setup)
    finally:
        for name in (person, user):
            subprocess.run(["userdel", name], capture_output=True)
        shutil.rmtree(folder)


def _run(commands: list[RootCommand]) -> None:
    """All of them but those for systemd, which does not run in containers."""
    run_commands([one for one in commands if one.words[0] != "systemctl"], say=lambda _: None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(path: Path) -> bool:
    """Whether a service listens there: the file is made a moment before."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextmanager
def _running(setup: Setup) -> Iterator[None]:
    """The service as the unit says: the same command line, user, group, mask and environment, without systemd."""
    unit = dict(line.partition("=")[::2] for line in setup.unit.read_text().splitlines() if "=" in line)
    name, _, value = unit["Environment"].partition("=")
    runtime = setup.socket.parent
    subprocess.run(["install", "-d", "-o", unit["User"], "-g", unit["Group"], "-m", "750", str(runtime)], check=True)
    as_user = {"user": unit["User"], "group": unit["Group"], "extra_groups": [], "umask": int(unit["UMask"], 8)}
    given = {"env": {name: value, "PATH": "/usr/bin:/bin"}, "cwd": "/", **as_user}
    python = str(setup.program_folder / "bin" / "python")
    subprocess.run([python, "-I", "-c", MAKE_AGENT, setup.agent], check=True, **given)  # type: ignore[call-overload]
    process = subprocess.Popen(  # type: ignore[call-overload]
        shlex.split(unit["ExecStart"]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **given
    )
    try:
        for _ in range(600):
            if _answers(setup.socket):
                break
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.1)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def _check_rights(setup: Setup) -> None:
    # The agent's user asks over the socket without a token, because the kernel says who calls.
    assert _status(setup, setup.person, ASK, str(setup.socket), "/confirm") == (0, "202")
    rights = {path.name: (path.stat().st_mode & 0o777, path.owner()) for path in setup.home.iterdir() if path.is_file()}
    assert rights.keys() >= {"seasoned.db", "confirm.key", "policy.toml"}
    assert {mode & 0o077 for mode, _ in rights.values()} == {0}, rights
    assert {owner for _, owner in rights.values()} == {setup.user}
    assert (setup.home.stat().st_mode & 0o777, setup.home.owner()) == (0o700, setup.user)
    assert (setup.socket.stat().st_mode & 0o777, setup.socket.group()) == (0o660, setup.group)
    for part in (setup.program_folder, *setup.program_folder.rglob("*")):
        assert part.is_symlink() or (part.owner() == "root" and not part.stat().st_mode & 0o022), part
    for file in ("seasoned.db", "confirm.key", "policy.toml"):
        for code in ("open(__import__('sys').argv[1])", "open(__import__('sys').argv[1], 'a')"):
            failed, said = _status(setup, setup.person, code, str(setup.home / file))
            assert failed and "PermissionError" in said, (file, said)
    failed, said = _status(setup, setup.person, "open(__import__('sys').argv[1], 'a')", setup.command[0])
    assert failed and "PermissionError" in said
    # Users outside the group do not even reach the socket.
    failed, said = _status(setup, "nobody", ASK, str(setup.socket), "/confirm")
    assert failed and "PermissionError" in said


def _status(setup: Setup, user: str, code: str, *arguments: str) -> tuple[int, str]:
    """How code ends that runs as another user, and the last line it says."""
    done = subprocess.run(
        [str(setup.program_folder / "bin" / "python"), "-I", "-c", code, *arguments],
        user=user,
        group=setup.group if user == setup.person else "nogroup",
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
    )
    return done.returncode, (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]


def _check_undone(setup: Setup) -> None:
    record = installed(setup.program_folder)
    assert record.setup == setup and record.made_user
    assert look(setup).made_user and look(setup).user
    _run(uninstall_commands(setup, made_user=True, backup=has_backup(setup), purge=False))
    assert not setup.program_folder.exists() and (setup.home / "seasoned.db").exists()
    assert setup.unit.read_text() == "# the unit of another program\n", "as it was before"
    # What is left goes as well on request; the program is gone by now.
    rest = uninstall_commands(setup, made_user=True, backup=False, purge=True)
    _run([one for one in rest if str(setup.program_folder) not in one.words])
    assert not setup.home.exists() and subprocess.run(["id", setup.user], capture_output=True).returncode
