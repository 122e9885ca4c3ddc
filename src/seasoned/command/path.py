"""Rules about paths: what is deleted, opened to others or overwritten outside the working folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from posixpath import basename, dirname, join, normpath

import msgspec

from seasoned.command.parse import FIND_RUNS, Step, names
from seasoned.command.rows import Finding, group
from seasoned.lazy_regex import LazyRegex

# An unknown working folder: no path with a name is in it or above it.
_UNKNOWN_FOLDER = "/\0"
_TEMPORARY = (
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/private/var/folders/",
    "/var/folders/",
    "/dev/shm/",
    "/run/user/",
)
# Programs can download again what they keep there.
_CACHES = ("~/.cache/", "~/.npm/", "~/Library/Caches/")
_HOME = LazyRegex(r"(?:\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:HOME|\$env:USERPROFILE)(?=/|\\|\Z)")
# The home folder that contains a working folder, so that `~/parcel` can be recognised as the folder itself.
_HOME_OF = LazyRegex(r"(?:(?:/[a-z]:)?/(?:home|Users)/[^/]+|/root)(?=/|\Z)")
_HERE = LazyRegex(r"(?:\$PWD|\$\{PWD\}|\$\(pwd\))(?=/|\Z)")
_TEMPORARY_VARIABLE = LazyRegex(r"\$\{?(?:TMPDIR|TMP|TEMP|RUNNER_TEMP|tmp\w*|temp\w*)\b|\$\(mktemp\b", re.IGNORECASE)
_NO_PROJECT = LazyRegex(
    r"(?:/[a-z]:)?/(?:home|Users|Windows)(?:/[^/]+)?|/[a-z]:|/root|/(?:etc|usr|bin|sbin|lib\w*|boot|dev|proc|sys|run|var|opt|srv|mnt|media|Library"
    r"|System|Applications|private|tmp)(?:/(?:local|lib|log|cache|spool|www|tmp|var|folders|bin|share|etc))?"
)
# Targets that mean all of the working folder, or its history.
_ALL = names("* ./* . ./ .* .git ./.git .git/ ** ./** ./.* {*,.*} {.,}* .[!.]* .??* $PWD")
_DEVICE = LazyRegex(
    r"/dev/(?!null\b|zero\b|std(?:in|out|err)\b|tty\b|fd/|shm/|random\b|urandom\b|full\b|tcp/|udp/|ptmx\b|pts/)\w"
)
# Files with permissions of the system. `guard` has those about agents.
_GUARDED = LazyRegex(
    r"(?:\A|/)authorized_keys2?\Z"
    r"|\A/etc/(?:sudoers|passwd|shadow|group|gshadow|ssh/|pam\.d/|security/|doas\.conf)"
)
# What every shell, login or remote session of the user runs or obeys.
_START_UP = LazyRegex(
    r"(?:~|/root|/(?:home|Users)/[^/]+)/(?:\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile"
    r"|zlogin|kshrc|inputrc|netrc|npmrc|pypirc)|\.ssh/(?:config|rc|environment)|\.config/fish/config\.fish"
    r"|\.config/(?:autostart|systemd/user)/.*|Library/LaunchAgents/.*)\Z"
)
# Modes that let everyone write, or run as another user.
_OPEN_MODE = LazyRegex(
    r"0?[0-7]{0,2}[0-7][2367]|[2-7][0-7]{3}|(?:[ug]*[oa][ugoa]*[+=][rxXst]*w\S*)|[ugoa]*\+[rwxX]*s\S*"
    r"|(?:\S*,)?[oa]\+\S*w\S*"
)
# Modes that only take rights away.
_TIGHT_MODE = LazyRegex(r"0?[0-7]00|[ugoa]*-\w+|go=|go-\w+(?:,\S+)?|u=\w*,go=")
_WINDOWS = ("del", "erase", "rd", "rmdir")
# Without these a machine does not start, or not as it did.
_OF_SYSTEM = LazyRegex(r"/(?:etc|bin|sbin|boot|lib\w*|sys|proc|usr/(?!local/|share/)[^/]+)/|/usr/bin/")
_KEPT_BY_SYSTEM = LazyRegex(r"/(?:etc|bin|sbin|boot|lib\w*|usr|srv|var|opt)/")
# `sed` without this option prints, and changes no file.
_IN_PLACE = LazyRegex(r"-[a-zA-Z]*i|--in-place")
_CREATES = names("tee cp mv install ln rsync touch mkdir")
_FIND_CHOOSES = names("-name -iname -path -ipath -regex -mtime -mmin -newer -size -empty -user")


class WorkingFolder(msgspec.Struct, frozen=True):
    """Where a command runs: the working folder, and where `cd` has led."""

    folder: str = _UNKNOWN_FOLDER
    here: str = _UNKNOWN_FOLDER
    follows_links: bool = False
    """Whether the folder is on this machine, so that links in it can be followed to where they lead."""
    host: str = ""
    """The other machine that this is on; empty for this one."""

    def after(self, step: Step) -> WorkingFolder:
        """Where a `cd` leads; one that cannot be followed changes nothing."""
        target = next((word for word in step.words if not word.startswith("-")), "~")
        if (
            step.program not in ("cd", "pushd")
            or "$" in _HOME.compiled.sub("", _HERE.compiled.sub("", target))
            or "-" in step.words
        ):
            return self
        return msgspec.structs.replace(self, here=self.resolve(target))

    def resolve(self, target: str) -> str:
        """The absolute path of a target, without `..` where that is known."""
        path = _HERE.compiled.sub(self.here, _HOME.compiled.sub("~", _posix(target.strip("\"'"))), count=1)
        if path == "~" or path.startswith("~/"):
            home = _HOME_OF.compiled.match(self.folder)
            whole = normpath(home[0] + path[1:]) if home else ""
            if whole and (whole + "/").startswith(self.folder + "/"):
                return whole
        if path.startswith(("~", "$", "%")) or re.match(r"\w+:/", path):
            return path if ".." not in path else "~/.."
        return normpath(join(self.here, path)) if path else self.here

    def contains(self, target: str) -> bool:
        """Whether a target is in the working folder or a temporary one, and is not all of it."""
        path = self.resolve(target)
        return self._contains(path) and not (self.follows_links and self._leads_out(path, target))

    def _contains(self, path: str) -> bool:
        if path.startswith(_CACHES) and "*" not in path[: path.index("/", 3) + 2]:
            return True
        if path.startswith("/private/tmp") or any(path.startswith(each) for each in _TEMPORARY):
            return not re.fullmatch(r"/(?:private/|var/|dev/)?(?:tmp|folders|shm|private/var/folders)/?[*.]*", path)
        if _TEMPORARY_VARIABLE.compiled.match(path):
            return True
        # On another machine nothing is the agent's own.
        return not self.host and path.startswith(self.folder + "/") and path[len(self.folder) + 1 :] not in _ALL

    def _leads_out(self, path: str, target: str) -> bool:
        """Whether a link leads out of the folder. The last part of a path is followed only if written as `link/`."""
        from os.path import realpath

        if not path.startswith("/") or "\0" in path:
            return False
        real = realpath(path) if target.endswith("/") else join(realpath(dirname(path)), basename(path))
        return real != path and not WorkingFolder(realpath(self.folder))._contains(real)


def _posix(path: str) -> str:
    """A path of Windows written like others: `C:\\build` is `/c:/build`."""
    path = path.replace("\\", "/")
    return f"/{path[0].lower()}{path[1:]}" if path[1:3] == ":/" or (path[1:2] == ":" and len(path) == 2) else path


def working_folder(folder: object, here: object = None, *, follows_links: bool = False) -> WorkingFolder:
    """A working folder by its path, and where the shell is now.

    The root folder, a home folder and those of the system count as unknown: no project is all of them.
    """
    written = (_posix(str(one or "")) for one in (folder, here))
    path, now = (normpath(one) if one.startswith("/") else "" for one in written)
    is_project = bool(path.strip("/")) and not _NO_PROJECT.compiled.fullmatch(path)
    if is_project:
        return WorkingFolder(path, now or path, follows_links)
    # Relative paths are then in a folder of the system, or in an unknown one.
    return WorkingFolder(here=now or path) if now or path else WorkingFolder()


def findings(step: Step, before: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    """What a program does to paths outside the working folder."""
    rule = RULES.get(step.program)
    if rule is not None:
        yield from rule(step, before, place)
    writes = step.program != "sed" or any(_IN_PLACE.compiled.match(word) for word in step.words)
    if step.program in group("writers") and writes:
        found = [each for word in step.words for each in guarded(word.removeprefix("of="), place)]
        # Changing the permissions of a start-up file does not change what it runs.
        yield from (each for each in found if each.row != "start-up file" or step.program not in ("chmod", "chown"))
    if step.program == "sed" and writes:
        yield from (found for word in step.words if word.startswith("/") for found in outside(word, place))
    if step.program in _CREATES:
        targets = [word for word in step.words if not word.startswith("-")]
        for target in targets if step.program in ("tee", "touch", "mkdir") else targets[-1:]:
            yield from outside(target, place)


def written(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """Findings for writing to a path."""
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        yield Finding("exec_remote", "opens a connection to another machine", "/dev/tcp")
    yield from guarded(target, place)
    yield from outside(target, place)


def guarded(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """Files that say who may do what, and devices."""
    path = place.resolve(target)
    if _GUARDED.compiled.search(path):
        yield Finding("modify_permissions", f"changes {target!r}, which says who may do what", "guarded file")
    elif _START_UP.compiled.search(path) and not path.startswith((place.folder + "/", *_TEMPORARY)):
        yield Finding("modify_permissions", f"changes {target!r}, which every new shell runs", "start-up file")
    elif _DEVICE.compiled.match(path):
        yield Finding("delete_data", f"writes over the device {target!r}", "device")


def outside(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """A file of the system that is written over."""
    path = place.resolve(target)
    if _OF_SYSTEM.compiled.match(path) and not _GUARDED.compiled.search(path) and not place.contains(target):
        yield Finding("delete_data", f"writes over {target!r}, which is a file of the system", "system file")


def _targets(words: tuple[str, ...]) -> list[str]:
    if "--" in words:
        at = words.index("--")
        return [*(word for word in words[:at] if not word.startswith("-")), *words[at + 1 :]]
    return [word for word in words if not word.startswith("-")]


def _remove(step: Step, before: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    recursive = step.program in ("rimraf", "del-cli", "trash", "trash-put", "srm", "wipe") or any(
        re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", word) for word in step.words
    )
    targets = [target for target in _targets(step.words) if target != "{}"]
    if not targets or "{}" in step.words:  # `ls /srv | xargs rm`: the program before names what is deleted
        targets += [word for each in before for word in each.words if word.startswith(("/", "~", "..", "$HOME"))]
    for target in targets:
        # An option (`del /q build`), or how long a file becomes.
        is_option = step.program in _WINDOWS and re.fullmatch(r"/[a-zA-Z]", target)
        is_unknown = "$" in place.resolve(target) and not recursive
        if not (is_option or is_unknown or re.fullmatch(r"[+<>%]?\d+\w?", target) or place.contains(target)):
            why = f"deletes {target!r}, which is not inside the working folder"
            yield Finding("delete_data", why, f"{step.program} outside")
            return


def _find(step: Step, _: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    words = step.words
    runs = (words[at + 1 : at + 3] for at, word in enumerate(words) if word in FIND_RUNS)
    if "-delete" not in words and not any("rm" in each for each in runs):
        return
    # Paths come before the first condition; without one, find starts here.
    paths = takewhile(lambda word: word in ("-L", "-H", "-P") or word[:1] not in ("-", "(", "!", "\\"), words)
    chosen = any(word in _FIND_CHOOSES for word in words)
    for start in list(paths) or ["."]:
        if not (place.contains(start) or (place.resolve(start) == place.folder and chosen)):
            yield Finding("delete_data", f"deletes what it finds in {start!r}", "find -delete")


def _move(step: Step, _: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    """Moves files away that others rely on."""
    *sources, target = _targets(step.words) or [""]
    gone = place.resolve(target).startswith(("/tmp", "/var/tmp")) or target == "/dev/null"
    for source in sources:
        kept = _KEPT_BY_SYSTEM.compiled.match(place.resolve(source)) and not place.contains(source)
        if kept or (gone and _is_elsewhere(source, place)):
            yield Finding("delete_data", f"moves {source!r} away, which is not inside the working folder", "mv outside")
            return


def _mode(step: Step, _: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    mode, *paths = [word for word in step.words if not re.fullmatch(r"-[RvfcLHP]+|--\S*", word)] or [""]
    temporary = bool(paths) and all(place.resolve(path).startswith(_TEMPORARY) for path in paths)
    if _OPEN_MODE.compiled.fullmatch(mode) and not temporary:
        yield Finding("modify_permissions", f"opens files up to everyone or to another user ({mode})", "chmod open")
    elif not _TIGHT_MODE.compiled.fullmatch(mode) and any(_is_elsewhere(path, place) for path in paths):
        yield Finding("modify_permissions", "changes permissions outside the working folder", "chmod outside")


def _owner(step: Step, _: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    if any(_is_elsewhere(path, place) for path in _targets(step.words)[1:]):
        yield Finding("modify_permissions", "gives files outside the working folder to another user", "chown outside")


def _is_elsewhere(path: str, place: WorkingFolder) -> bool:
    whole = place.resolve(path)
    return not place.contains(path) and whole != place.folder and not whole.startswith(place.folder + "/")


RULES = {
    **dict.fromkeys(
        ("rm", "unlink", "rimraf", "del-cli", "trash", "trash-put", "srm", "wipe", "rmdir", "truncate"), _remove
    ),
    **dict.fromkeys(("Remove-Item", "remove-item", "ri", "del", "erase", "rd"), _remove),
    "mv": _move,
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("chown", "chgrp"), _owner),
    "chmod": _mode,
}
