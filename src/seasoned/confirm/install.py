"""Installs the confirmation service as another user of this machine: as commands to show, run as root, and undo."""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Literal

import msgspec

import seasoned
from seasoned.errors import CannotDo, NotFound, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRAS = re.compile(r"[^\[;]*\[([^\]]*)\]")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)")
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
# Where systems keep a Python that only root can change.
_SYSTEM_PYTHONS = tuple(
    Path(folder) / f"python{_VERSION}" for folder in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
)


class Program(msgspec.Struct, frozen=True):
    """An interpreter, its version, and the files and folders to copy beside it."""

    python: Path
    version: str
    parts: tuple[Path, ...]


def find_program(uid: int, groups: Collection[int]) -> Program:
    """The program as it runs now, with an interpreter that the user cannot change."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    python = next((one for one in (base, *_SYSTEM_PYTHONS) if is_out_of_reach(one, uid, groups)), None)
    if python is None:
        raise CannotDo(
            f"The agents could change every Python {_VERSION} found here, or others cannot run it. Install the one of "
            f"your system (for instance `apt install python{_VERSION}-venv`) and try again."
        )
    return Program(python, _VERSION, tuple(_parts()))


def is_out_of_reach(path: Path, uid: int, groups: Collection[int]) -> bool:
    """Whether everyone can run a file and this user can change neither it nor the folders that lead to it."""
    try:
        real = path.resolve(strict=True)
        states = [one.stat() for one in (real, *real.parents)]
    except OSError:
        return False
    return all(_is_kept(state, uid, groups) for state in states)


def _is_kept(state: object, uid: int, groups: Collection[int]) -> bool:
    mode, owner, group = (getattr(state, name) for name in ("st_mode", "st_uid", "st_gid"))
    changes = owner == uid or (mode & stat.S_IWGRP and group in groups) or mode & stat.S_IWOTH
    return not changes and bool(mode & stat.S_IXOTH)


def _parts() -> Iterator[Path]:
    """The package itself, and the files of every distribution that the server needs."""
    yield Path(seasoned.__file__).parent
    made: set[Path] = set()
    for each in _needed("seasoned", "server"):
        root = Path(str(each.locate_file("")))
        names = {file.parts[0] for file in each.files or () if len(file.parts) > 1 or file.suffix in (".py", ".so")}
        # `..` leads to scripts, and a .pth file into the folder of a checkout.
        names -= {"..", "__pycache__", "seasoned"}
        made |= {root / name for name in names if not name.endswith(".pth")}
    yield from sorted(one for one in made if one.exists())


def _needed(name: str, extra: str) -> Iterable[Distribution]:
    """A distribution and all that it requires, each once; what is not installed is not needed here."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(name, extra)]
    while waiting:
        wanted, chosen = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted).lower()
        if (key, chosen) in seen:
            continue
        seen.add((key, chosen))
        try:
            found[key] = distribution(wanted)
        except PackageNotFoundError:
            continue
        for line in found[key].requires or ():
            condition, named = _EXTRA.search(line), _NAME.match(line)
            if named is None or (condition is not None and condition[1] != chosen):
                continue
            extras = _EXTRAS.match(line)
            waiting += [(named[0], one.strip()) for one in ("", *(extras[1].split(",") if extras else ()))]
    return found.values()


System = Literal["systemd", "launchd", "none"]
BACKUP = ".before-seasoned"
RECORD = "install.json"
_UNIT = """\
# Written by `seasoned confirm install`; `seasoned confirm uninstall` removes it.
[Unit]
Description=Seasoned: a person decides about risky actions of agents
After=network.target

[Service]
User={user}
Group={group}
UMask=0077
Environment=SEASONED_HOME={home}
StateDirectory={state}
StateDirectoryMode=0700
RuntimeDirectory={runtime}
RuntimeDirectoryMode=0750
ExecStart={command}
Restart=on-failure
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6

[Install]
WantedBy=multi-user.target
"""
_POLICY = """\
# Written by `seasoned confirm install`. Once there is an admin, only `seasoned confirm policy use` changes the rules.
{alone}[listen]
socket = "{socket}"
# The agents of this user ask as this credential, without a token: the kernel says who calls.
peers = {{ "{uid}" = "{agent}" }}
"""
_START = """\
#!{python} -I
from seasoned.cli.main import main

main()
"""


class RootCommand(msgspec.Struct, frozen=True):
    """One command that needs root: its words, what it reads, and what it is for."""

    words: tuple[str, ...]
    why: str
    given: str | None = None
    # If it fails, the rest continues: what it removes may not exist.
    may_fail: bool = False

    def shell(self) -> str:
        """The command for a shell of a person who may use sudo."""
        line = f"sudo {shlex.join(self.words)}"
        return line if self.given is None else f"{line} > /dev/null <<'SEASONED'\n{self.given.rstrip()}\nSEASONED"


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, who decides, and where everything is installed."""

    person: str
    uid: int
    group: str
    user: str
    system: System
    port: int
    alone: bool
    program_folder: Path = Path("/opt/seasoned")
    home: Path = Path("/var/lib/seasoned")
    socket: Path = Path("/run/seasoned/confirm.sock")
    unit: Path = Path("/etc/systemd/system/seasoned-confirm.service")

    @property
    def agent(self) -> str:
        """The name of the credential as which the person's agents ask."""
        return f"{self.person}-agent"

    @property
    def command(self) -> tuple[str, ...]:
        """The command that runs the service."""
        own = str(self.program_folder / "bin" / "seasoned")
        where = ("--port", str(self.port), "--unix", str(self.socket))
        return own, "serve", "--no-link", "--no-schedule", "--no-gateway", *where


class Present(msgspec.Struct, frozen=True, kw_only=True):
    """What is already on the machine."""

    user: bool = False
    # Whether an earlier installation made that user.
    made_user: bool = False
    program: bool = False
    unit: str | None = None
    free_id: int = 399


def setup_for_mac(setup: Setup) -> Setup:
    """The same where launchd starts services: other folders, and a file of another form."""
    return msgspec.structs.replace(
        setup,
        program_folder=Path("/usr/local/lib/seasoned"),
        home=Path("/usr/local/var/seasoned"),
        socket=Path("/usr/local/var/run/seasoned/confirm.sock"),
        unit=Path("/Library/LaunchDaemons/org.seasoned.confirm.plist"),
    )


def unit_text(setup: Setup) -> str:
    """The file by which the system starts the service."""
    if setup.system == "launchd":
        job = {
            "Label": setup.unit.stem,
            "ProgramArguments": list(setup.command),
            "UserName": setup.user,
            "GroupName": setup.group,
            "Umask": 0o077,
            "EnvironmentVariables": {"SEASONED_HOME": str(setup.home)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
        }
        return plistlib.dumps(job).decode()
    return _UNIT.format(
        user=setup.user,
        group=setup.group,
        home=setup.home,
        # systemd makes both folders itself, below /var/lib and /run.
        state=setup.home.name,
        runtime=setup.socket.parent.name,
        command=shlex.join(setup.command),
    )


def policy_text(setup: Setup) -> str:
    """The policy that the service begins with."""
    alone = "# You alone decide what your own agents ask for.\nsingle_operator = true\n\n" if setup.alone else ""
    return _POLICY.format(alone=alone, socket=setup.socket, uid=setup.uid, agent=setup.agent)


def install_commands(setup: Setup, program: Program, *, present: Present) -> list[RootCommand]:
    """Everything that has to be done as root, in order; running it again updates the program and the unit."""
    return [
        *_user(setup, present),
        RootCommand(
            ("install", "-d", "-o", setup.user, "-g", setup.group, "-m", "700", str(setup.home)),
            f"a folder that only {setup.user} can open, for requests, audit and key",
        ),
        *_program(setup, program, present),
        *_policy(setup),
        *_unit(setup, present),
        *_start(setup),
    ]


def _user(setup: Setup, present: Present) -> Iterator[RootCommand]:
    why = f"the user {setup.user}, who can log in nowhere and owns the service"
    if present.user:
        return
    if setup.system == "launchd":
        number = str(present.free_id)
        words = ("-roleAccount", "-UID", number, "-home", str(setup.home), "-shell", "/usr/bin/false")
        yield RootCommand(("sysadminctl", "-addUser", setup.user, *words), why)
        return
    home = ("--no-create-home", "--home-dir", str(setup.home), "--shell", "/usr/sbin/nologin")
    yield RootCommand(("useradd", "--system", "--user-group", *home, setup.user), why)


def _program(setup: Setup, program: Program, present: Present) -> Iterator[RootCommand]:
    """A copy of the program that only root can change: an agent that can change the program can approve anything."""
    folder = setup.program_folder
    if any(part.is_relative_to(folder) for part in program.parts):
        raise UsageError(f"This is the copy in {str(folder)!r} itself. Run the `seasoned` that you want to copy.")
    if present.program:
        yield RootCommand(("rm", "-r", str(folder)), "remove the earlier copy of the program")
    yield RootCommand((str(program.python), "-m", "venv", "--without-pip", str(folder)), "a folder for the program")
    packages = folder / "lib" / f"python{program.version}" / "site-packages"
    parts = [str(part) for part in program.parts]
    yield RootCommand(
        ("cp", "-R", *parts, f"{packages}/"), f"copy it and its libraries, so that {setup.person} cannot change them"
    )
    start = folder / "bin" / "seasoned"
    made = {"setup": setup, "made_user": present.made_user or not present.user}
    record = msgspec.json.encode(made, enc_hook=str).decode() + "\n"
    yield RootCommand(("tee", str(start)), "the command", _START.format(python=folder / "bin" / "python"))
    yield RootCommand(("tee", str(folder / RECORD)), "a record for uninstalling", record)
    yield RootCommand(("chown", "-R", "root", str(folder)), "only root changes it")
    yield RootCommand(("chmod", "-R", "a+rX,go-w", str(folder)), "everyone may run it")
    yield RootCommand(("chmod", "755", str(start)), "everyone may run it")


def _policy(setup: Setup) -> Iterator[RootCommand]:
    file = str(setup.home / "policy.toml")
    # An existing one stays: an admin has approved it, and the service would use no other.
    words = ("sh", "-c", 'test -e "$1" || tee "$1"', "sh", file)
    yield RootCommand(words, "the policy, if there is none: the socket, and who the agents are", policy_text(setup))
    yield RootCommand(("chown", f"{setup.user}:", file), f"it belongs to {setup.user}")
    yield RootCommand(("chmod", "600", file), f"only {setup.user} may read and change it")


def _unit(setup: Setup, present: Present) -> Iterator[RootCommand]:
    if setup.system == "none":
        return
    if present.unit is not None and present.unit != unit_text(setup):
        yield RootCommand(("cp", "-p", str(setup.unit), f"{setup.unit}{BACKUP}"), "keep the file that is there")
    if setup.system == "launchd":
        owner = ("-o", setup.user, "-g", setup.group, "-m", "750")
        yield RootCommand(
            ("install", "-d", *owner, str(setup.socket.parent)), f"the socket's folder, for {setup.group}"
        )
    yield RootCommand(("tee", str(setup.unit)), "the file that starts it with the system", unit_text(setup))
    yield RootCommand(("chmod", "644", str(setup.unit)), "only root changes it")


def _start(setup: Setup) -> Iterator[RootCommand]:
    if setup.system == "systemd":
        yield RootCommand(("systemctl", "daemon-reload"), "read the unit")
        yield RootCommand(("systemctl", "enable", setup.unit.name), "start it with the machine")
        yield RootCommand(("systemctl", "restart", setup.unit.name), "start it now")
    elif setup.system == "launchd":
        yield RootCommand(("launchctl", "bootout", "system", str(setup.unit)), "stop the old one", may_fail=True)
        yield RootCommand(("launchctl", "bootstrap", "system", str(setup.unit)), "start it, now and with the machine")


def next_steps(setup: Setup) -> list[str]:
    """What is left for the person, each a command or a sentence."""
    own = f"sudo -u {setup.user} env SEASONED_HOME={setup.home} {setup.program_folder / 'bin' / 'seasoned'}"
    steps = [
        f"{own} confirm token make {setup.person} --role admin --person {setup.person}",
        f"{own} confirm token make {setup.agent} --role agent --person {setup.person}",
        f"echo 'confirm_url = \"unix:{setup.socket}\"' >> ~/.seasoned/config.toml",
        f"Decide at http://127.0.0.1:{setup.port}, or with: {own} confirm approve ID",
    ]
    if setup.system == "none":
        run = shlex.join(("env", f"SEASONED_HOME={setup.home}", *setup.command))
        folder = f"sudo install -d -o {setup.user} -g {setup.group} -m 750 {setup.socket.parent}"
        start = f"sudo setpriv --reuid {setup.user} --regid {setup.group} --clear-groups {run}"
        steps.insert(0, f"This system has neither systemd nor launchd. Start it yourself: {folder} && {start}")
    return steps


def uninstall_commands(setup: Setup, *, made_user: bool, backup: bool, purge: bool) -> list[RootCommand]:
    """Everything that undoes an installation. Requests and audit stay, and their owner, unless `purge`."""
    made = [*_stop(setup)]
    if setup.system != "none":
        if backup:
            made.append(RootCommand(("mv", f"{setup.unit}{BACKUP}", str(setup.unit)), "put the former file back"))
        else:
            made.append(RootCommand(("rm", "-f", str(setup.unit)), "remove the file that starts it"))
    if setup.system == "systemd":
        made.append(RootCommand(("systemctl", "daemon-reload"), "forget the unit"))
    made.append(RootCommand(("rm", "-r", str(setup.program_folder)), "remove the program"))
    if purge:
        made.append(RootCommand(("rm", "-r", str(setup.home)), "delete requests, audit and key"))
        if made_user:
            remove = ("sysadminctl", "-deleteUser") if setup.system == "launchd" else ("userdel",)
            made.append(RootCommand((*remove, setup.user), "remove the user that was made for it"))
    return made


def _stop(setup: Setup) -> Iterator[RootCommand]:
    if setup.system == "systemd":
        yield RootCommand(("systemctl", "disable", "--now", setup.unit.name), "stop it", may_fail=True)
    elif setup.system == "launchd":
        yield RootCommand(("launchctl", "bootout", "system", str(setup.unit)), "stop it", may_fail=True)


_SECONDS = 300


class Installed(msgspec.Struct, frozen=True):
    """The record of an installation: its set-up, and whether its user was made for it."""

    setup: Setup
    made_user: bool


def is_root() -> bool:
    """Whether this process may change the system."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def system_here() -> System:
    """What starts services on this machine."""
    if sys.platform == "darwin":
        return "launchd"
    # Exists if systemd runs this machine; in most containers it does not.
    return "systemd" if Path("/run/systemd/system").is_dir() else "none"


def make_setup(*, user: str, person: str | None, group: str | None, port: int, alone: bool) -> tuple[Setup, set[int]]:
    """The set-up for a person, and the ids of the person's groups."""
    try:
        import grp
        import pwd
    except ImportError as error:
        raise CannotDo("This needs Linux or macOS. Run the service on another machine instead.") from error
    if person is None and is_root():
        raise UsageError("Add --for NAME: the user who runs the agents.")
    try:
        found = pwd.getpwnam(person) if person is not None else pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise UsageError(f"Unknown user {person!r}. Check --for.") from error
    if found.pw_uid == 0:
        raise UsageError("Agents that run as root can change everything. Give --for a user that is not root.")
    if found.pw_name == user:
        raise UsageError(f"{user!r} is the user who runs the agents. Give --as-user another name.")
    try:
        named = grp.getgrnam(group) if group is not None else grp.getgrgid(found.pw_gid)
    except KeyError as error:
        raise UsageError(f"Unknown group {group or found.pw_gid!r}. Check --group.") from error
    groups = {found.pw_gid, *(one.gr_gid for one in grp.getgrall() if found.pw_name in one.gr_mem)}
    if named.gr_gid not in groups:
        raise UsageError(f"{found.pw_name} is not in the group {named.gr_name!r}, and could not reach the socket.")
    system = system_here()
    setup = Setup(
        person=found.pw_name,
        uid=found.pw_uid,
        group=named.gr_name,
        user=f"_{user}" if system == "launchd" and not user.startswith("_") else user,
        system=system,
        port=port,
        alone=alone,
    )
    return (setup_for_mac(setup) if system == "launchd" else setup), groups


def look(setup: Setup) -> Present:
    """What is already installed; refuses to use a folder that belongs to something else."""
    import pwd

    folder = setup.program_folder
    if folder.exists() and not (folder / RECORD).is_file():
        raise CannotDo(f"{str(folder)!r} exists and was not made by this command. Move it away and try again.")
    taken = {one.pw_uid for one in pwd.getpwall()}
    return Present(
        user=any(one.pw_name == setup.user for one in pwd.getpwall()),
        made_user=folder.exists() and installed(folder).made_user,
        program=folder.exists(),
        unit=setup.unit.read_text("utf-8") if setup.unit.is_file() else None,
        free_id=next((number for number in range(399, 200, -1) if number not in taken), 399),
    )


def installed(folder: Path) -> Installed:
    """What the record in a program folder says."""
    try:
        data = (folder / RECORD).read_bytes()
    except OSError as error:
        raise NotFound(f"The service is not installed: there is no {str(folder / RECORD)!r}.") from error
    try:
        return msgspec.json.decode(data, type=Installed, dec_hook=lambda kind, text: kind(text))
    except msgspec.DecodeError as error:
        raise CannotDo(f"{str(folder / RECORD)!r} cannot be read ({error}). Uninstall by hand.") from error


def has_backup(setup: Setup) -> bool:
    """Whether there is a backup of an earlier unit file."""
    return Path(f"{setup.unit}{BACKUP}").is_file()


def run_commands(commands: Sequence[RootCommand], *, say: Callable[[RootCommand], Any]) -> None:
    """Run commands as root, calling `say` before each; stops at the first that fails."""
    for one in commands:
        say(one)
        try:
            done = subprocess.run(
                one.words,
                input=None if one.given is None else one.given.encode(),
                # tee repeats what it writes.
                capture_output=True,
                timeout=_SECONDS,
                # The service must be able to read what is created.
                umask=0o022,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            if one.may_fail:
                continue
            raise CannotDo(
                f"`{one.words[0]}` could not be run ({error}). Fix that and run the command again."
            ) from error
        if done.returncode and not one.may_fail:
            said = done.stderr.decode(errors="replace").strip()[-500:]
            raise CannotDo(f"`{' '.join(one.words)[:200]}` failed: {said}. Fix that and run the command again.")
