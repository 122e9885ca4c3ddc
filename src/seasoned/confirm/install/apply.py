"""Looks at the machine, and runs the commands of a plan as root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.confirm.install.plan import BACKUP, RECORD, Present, RootCommand, Setup, System, setup_for_mac
from seasoned.errors import CannotDo, NotFound, UsageError

_SECONDS = 300


class Installed(msgspec.Struct, frozen=True):
    """What an installation left: how it was set up, and whether its user was made for it."""

    setup: Setup
    made_user: bool


def is_root() -> bool:
    """Whether this process may change the system."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def system_here() -> System:
    """What starts services on this machine."""
    if sys.platform == "darwin":
        return "launchd"
    # systemd makes this folder when it runs the machine; in most containers it does not.
    return "systemd" if Path("/run/systemd/system").is_dir() else "none"


def make_setup(*, user: str, person: str | None, group: str | None, port: int, alone: bool) -> tuple[Setup, set[int]]:
    """The set-up for a person, and the ids of the person's groups."""
    try:
        import grp
        import pwd
    except ImportError as error:
        raise CannotDo("This needs Linux or macOS. Run the service on another machine instead.") from error
    if person is None and is_root():
        raise UsageError("Whose agents are to ask? Add --for NAME, the user who runs them.")
    try:
        found = pwd.getpwnam(person) if person is not None else pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise UsageError(f"There is no user {person!r} on this machine. Check --for.") from error
    if found.pw_uid == 0:
        raise UsageError("Agents that run as root can change everything. Give --for a user that is not root.")
    if found.pw_name == user:
        raise UsageError(f"{user!r} is the user who runs the agents. Give --as-user another name.")
    try:
        named = grp.getgrnam(group) if group is not None else grp.getgrgid(found.pw_gid)
    except KeyError as error:
        raise UsageError(f"There is no group {group or found.pw_gid!r} on this machine. Check --group.") from error
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
    """What is there already; refuses to write into a folder that belongs to something else."""
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
    """Whether a file stood where the unit is now."""
    return Path(f"{setup.unit}{BACKUP}").is_file()


def run_commands(commands: Sequence[RootCommand], *, say: Callable[[RootCommand], Any]) -> None:
    """Run commands as root, each after it was said; stops at the first that fails."""
    for one in commands:
        say(one)
        try:
            done = subprocess.run(
                one.words,
                input=None if one.given is None else one.given.encode(),
                # tee repeats what it writes.
                capture_output=True,
                timeout=_SECONDS,
                # What is made here must be readable by the service.
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
