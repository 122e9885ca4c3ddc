"""Rules where the path decides: what is deleted, opened up or overwritten outside of the working folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import join, normpath

import msgspec

from seasoned.command.parse import Step, names
from seasoned.confirm.mapping_finding import Finding

_UNKNOWN_FOLDER = "/\0"
"""Stands for a working folder that is not known: nothing with a name lies in it or above it."""
_TEMPORARY = (
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/private/var/folders/",
    "/var/folders/",
    "/dev/shm/",
    "/run/user/",
)
_CACHES = ("~/.cache/", "~/.npm/", "~/Library/Caches/")
_HOME = re.compile(r"(?:\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:HOME|\$env:USERPROFILE)(?=/|\\|\Z)")
_HERE = re.compile(r"(?:\$PWD|\$\{PWD\}|\$\(pwd\))(?=/|\Z)")
_TEMPORARY_VARIABLE = re.compile(r"\$\{?(?:TMPDIR|TMP|TEMP|RUNNER_TEMP|tmp\w*|temp\w*)\b", re.IGNORECASE)
_ALL = names("* ./* . ./ .* .git ./.git .git/ ** ./** ./.* {*,.*} {.,}* .[!.]* .??* $PWD")
_DEVICE = re.compile(
    r"/dev/(?!null\b|zero\b|std(?:in|out|err)\b|tty\b|fd/|shm/|random\b|urandom\b|full\b|tcp/|udp/|ptmx\b|pts/)\w"
)
_GUARDED = re.compile(
    r"(?:\A|/)(?:authorized_keys2?|\.claude/settings(?:\.local)?\.json"
    r"|\.hermes/config\.yaml|\.codex/(?:hooks\.json|config\.toml)"
    r"|\.seasoned/(?:policy\.toml|confirm\.key|(?:config|hermes)\.toml|seasoned\.db(?:-wal|-shm)?|secrets/[^/]+))\Z"
    r"|\A/etc/(?:sudoers|passwd|shadow|group|gshadow|ssh/|pam\.d/|security/|doas\.conf)"
)
_OPEN_MODE = re.compile(
    r"0?[0-7]{0,2}[0-7][2367]|[2-7][0-7]{3}|(?:[ug]*[oa][ugoa]*[+=][rxXst]*w\S*)|[ugoa]*\+[rwxX]*s\S*"
    r"|(?:\S*,)?[oa]\+\S*w\S*"
)
_TIGHT_MODE = re.compile(r"0?[0-7]00|[ugoa]*-\w+|go=|go-\w+(?:,\S+)?|u=\w*,go=")
_WRITERS = names("tee cp mv install ln sed perl truncate rm vi vim nano ed ex dd unlink chmod chown")
_ASKING_KEYGEN = re.compile(r"-[RFlyeiBHYDKLrM]\w*|-\w*[lyFR]|--help")
_KEY_MAKERS = names("genrsa genpkey req ecparam gendsa rand")


class Place(msgspec.Struct, frozen=True):
    """Where a command runs: the working folder, and where `cd` has led."""

    folder: str = _UNKNOWN_FOLDER
    here: str = _UNKNOWN_FOLDER

    def gone_to(self, step: Step) -> Place:
        """The place after a `cd`; one that cannot be followed leaves everything as it was."""
        target = next((word for word in step.words if not word.startswith("-")), "~")
        if step.program not in ("cd", "pushd") or "$" in _HOME.sub("", _HERE.sub("", target)) or "-" in step.words:
            return self
        return msgspec.structs.replace(self, here=self.whole(target))

    def whole(self, target: str) -> str:
        """The whole path of a target, without `..` where that can be said."""
        path = _HERE.sub(self.here, _HOME.sub("~", target.strip("\"'").replace("\\", "/")), count=1)
        if path.startswith(("~", "$", "%")) or re.match(r"[A-Za-z]:/", path):
            return path if ".." not in path else "~/.."
        return normpath(join(self.here, path)) if path else self.here

    def holds(self, target: str) -> bool:
        """Whether a target lies in the working folder or a temporary one, and is not all of it."""
        path = self.whole(target)
        if path.startswith(_CACHES) and "*" not in path[: path.index("/", 3) + 2]:
            return True
        if path.startswith("/private/tmp") or any(path.startswith(each) for each in _TEMPORARY):
            return not re.fullmatch(r"/(?:private/|var/|dev/)?(?:tmp|folders|shm|private/var/folders)/?[*.]*", path)
        if _TEMPORARY_VARIABLE.match(path):
            return True
        if not path.startswith(self.folder + "/"):
            return False
        rest = path[len(self.folder) + 1 :]
        return rest not in _ALL


def place_of(folder: object) -> Place:
    """The place that a working folder makes; the root of everything is none."""
    text = str(folder) if folder is not None else ""
    path = normpath(text) if text.startswith("/") else ""
    return Place(path, path) if path.strip("/") else Place()


def findings(step: Step, before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    """What a step does to paths that are not the agent's own business."""
    targets = _targets(step.words)
    rule = _RULES.get(step.program)
    if rule is not None:
        yield from rule(step, targets, before, place)
    if step.program in _WRITERS:
        yield from (found for word in step.words for found in written(word.removeprefix("of="), place))


def written(target: str, place: Place) -> Iterator[Finding]:
    """What it means that something is written to a path."""
    path = place.whole(target)
    if _GUARDED.search(path):
        yield Finding("modify_permissions", f"changes {target!r}, which says who may do what", "guarded file")
    elif _DEVICE.match(path):
        yield Finding("delete_data", f"writes over the device {target!r}", "device")


def _targets(words: tuple[str, ...]) -> list[str]:
    if "--" in words:
        at = words.index("--")
        return [*(word for word in words[:at] if not word.startswith("-")), *words[at + 1 :]]
    return [word for word in words if not word.startswith("-")]


def _remove(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    recursive = any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", word) for word in step.words)
    if step.program in ("rimraf", "del-cli", "trash"):
        recursive = True
    if not targets:
        targets = [word for each in before for word in each.words if word.startswith(("/", "~", "..", "$HOME"))]
    for target in targets:
        if "$" in place.whole(target) and not recursive:
            continue
        if not place.holds(target):
            yield Finding(
                "delete_data",
                f"deletes {target!r}, which is not inside of the working folder",
                f"{step.program} outside",
            )
            return


def _find(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    words = step.words
    removes = "-delete" in words or any(
        word in ("-exec", "-execdir", "-ok", "-x", "-X", "--exec") and "rm" in words[at + 1 : at + 3]
        for at, word in enumerate(words)
    )
    if not removes:
        return
    starts = []
    for word in words:
        if (word.startswith("-") and word not in ("-L", "-H", "-P")) or word in ("(", "!", "\\("):
            break
        starts.append(word)
    chosen = any(
        word
        in ("-name", "-iname", "-path", "-ipath", "-regex", "-mtime", "-mmin", "-newer", "-size", "-empty", "-user")
        for word in words
    )
    for start in starts or ["."]:
        is_here = place.whole(start) == place.folder
        if not (place.holds(start) or (is_here and chosen)):
            yield Finding("delete_data", f"deletes what it finds in {start!r}", "find -delete")


def _mode(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    words = [word for word in step.words if not re.fullmatch(r"-[RvfcLHP]+|--\S*", word)]
    if not words:
        return
    mode, paths = words[0], words[1:]
    temporary = bool(paths) and all(place.whole(path).startswith(_TEMPORARY) for path in paths)
    if _OPEN_MODE.fullmatch(mode) and not temporary:
        yield Finding("modify_permissions", f"opens files up to everyone or to another user ({mode})", "chmod open")
    elif not _TIGHT_MODE.fullmatch(mode) and any(_is_outside(path, place) for path in paths):
        yield Finding("modify_permissions", "changes rights outside of the working folder", "chmod outside")


def _owner(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    if any(_is_outside(path, place) for path in targets[1:]):
        yield Finding(
            "modify_permissions", "gives files outside of the working folder to another user", "chown outside"
        )


def _is_outside(path: str, place: Place) -> bool:
    return (
        not place.holds(path)
        and place.whole(path) != place.folder
        and not place.whole(path).startswith(place.folder + "/")
    )


def _copy(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    output = next((word[3:] for word in step.words if word.startswith("of=")), "")
    if output and not output.startswith("/dev/") and not place.holds(output):
        yield Finding("delete_data", f"writes over {output!r}", "dd outside")


def _cut(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    if any(_is_outside(path, place) for path in targets if not re.fullmatch(r"[+<>/%-]?\d+\w*", path)):
        yield Finding("delete_data", "cuts off the content of files outside of the working folder", "truncate outside")


def _mirror(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    deletes = any(re.match(r"--del|--remove-source-files", word) for word in step.words)
    if deletes and targets and ":" not in targets[-1] and _is_outside(targets[-1], place):
        yield Finding("delete_data", f"deletes in {targets[-1]!r} what is not in the source", "rsync --delete")


def _make_key(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    if any(_ASKING_KEYGEN.fullmatch(word) for word in step.words):
        return
    pairs = list(zip(step.words, step.words[1:], strict=False))
    file = next((value for option, value in pairs if re.fullmatch(r"-\w*f", option)), "")
    file = file or next((word[2:] for word in step.words if word.startswith("-f") and len(word) > 2), "~/.ssh/id")
    if not place.holds(file):
        yield Finding("rotate_keys", f"makes a key at {file!r}, over one that may be there", "ssh-keygen")


def _make_secret(step: Step, targets: list[str], before: tuple[Step, ...], place: Place) -> Iterator[Finding]:
    pairs = zip(step.words, step.words[1:], strict=False)
    outputs = [value for option, value in pairs if option in ("-out", "-keyout")]
    if step.sub in _KEY_MAKERS and any(not place.holds(each) for each in outputs):
        yield Finding("rotate_keys", "writes a key outside of the working folder", "openssl")


_RULES = {
    **dict.fromkeys(("rm", "unlink", "rimraf", "del-cli"), _remove),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("chown", "chgrp"), _owner),
    **dict.fromkeys(("dd", "dcfldd"), _copy),
    "chmod": _mode,
    "truncate": _cut,
    "rsync": _mirror,
    "ssh-keygen": _make_key,
    "openssl": _make_secret,
}
