"""Where a command acts, and what it does there: its folder, the paths it names, files about agents, production.

Files that decide what agents may do (their settings, our home, our programs) may be named by known readers only: no
list of ways to change a file is complete, so anything not known to only read them needs a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile
from posixpath import basename, dirname, join, normpath, realpath
from typing import Literal

import msgspec

from seasoned.command.parse import FIND_RUNS, Step, names
from seasoned.command.rows import Finding, group, regex
from seasoned.command.written import purpose_of
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
_RIGHTS_FILE = LazyRegex(
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
_CREATES = names("tee cp mv install ln rsync touch mkdir sed")
_DELETES = names("rm rmdir unlink shred")
_RECURSIVE = names("rimraf del-cli trash trash-put srm wipe")
_REMOVES = _RECURSIVE | names("rm unlink rmdir truncate Remove-Item remove-item ri del erase rd")
ACTS_ON_PATHS = _REMOVES | names("mv rsync git find fd fdfind chown chgrp chmod")
_MODE_OPTION = LazyRegex(r"-[RvfcLHP]+|--\S*")
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
        if not self.follows_links or not path.startswith("/") or "\0" in path:
            return self._contains(path)
        # The last part of a path is followed only if written as `link/`.
        real = realpath(path) if target.endswith("/") else join(realpath(dirname(path)), basename(path))
        return self._contains(path) and (real == path or WorkingFolder(realpath(self.folder))._contains(real))

    def is_in(self, target: str) -> bool:
        """Whether a target is inside, or is the working folder itself."""
        path = self.resolve(target)
        return self.contains(target) or path == self.folder or path.startswith(self.folder + "/")

    def _contains(self, path: str) -> bool:
        if path.startswith(_CACHES) and "*" not in path[: path.index("/", 3) + 2]:
            return True
        if path.startswith("/private/tmp") or any(path.startswith(each) for each in _TEMPORARY):
            return not re.fullmatch(r"/(?:private/|var/|dev/)?(?:tmp|folders|shm|private/var/folders)/?[*.]*", path)
        if _TEMPORARY_VARIABLE.compiled.match(path):
            return True
        # On another machine nothing is the agent's own.
        return not self.host and path.startswith(self.folder + "/") and path[len(self.folder) + 1 :] not in _ALL


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


def path_findings(step: Step, before: tuple[Step, ...], place: WorkingFolder) -> Iterator[Finding]:
    """What a program does to paths outside the working folder."""
    program, words = step.program, step.words
    if program in ACTS_ON_PATHS:
        targets, does, row = _harmed(step, before, place)
        # Who deletes may not take the folder itself either.
        inside = place.contains if program in _REMOVES or row == "find -delete" else place.is_in
        outside = next((target for target in targets if not inside(target)), None)
        if outside is not None:
            action = "modify_permissions" if program.startswith("ch") else "delete_data"
            yield Finding(action, f"{does} {outside!r}, which is not inside the working folder", row)
    if program == "chmod":
        mode = next((word for word in words if not _MODE_OPTION.compiled.fullmatch(word)), "")
        paths = _operands(words)[1:]
        is_temporary = bool(paths) and all(place.resolve(path).startswith(_TEMPORARY) for path in paths)
        if _OPEN_MODE.compiled.fullmatch(mode) and not is_temporary:
            yield Finding("modify_permissions", f"opens files up to everyone or to another user ({mode})", "chmod open")
    if program == "sed" and not any(_IN_PLACE.compiled.match(word) for word in words):
        return
    if program in group("writers"):
        found = [each for word in words for each in _file_of_rights(word.removeprefix("of="), place)]
        # Changing the permissions of a start-up file does not change what it runs.
        yield from (each for each in found if each.row != "start-up file" or program not in ("chmod", "chown"))
    written = [word for word in words if not word.startswith("-")] if program in _CREATES else ()
    for target in written if program in ("tee", "touch", "mkdir", "sed") else written[-1:]:
        if program != "sed" or target.startswith("/"):
            yield from _file_of_system(target, place)


def _harmed(step: Step, before: tuple[Step, ...], place: WorkingFolder) -> tuple[list[str], str, str]:
    """The paths that a program harms if they are elsewhere, what it does to them, and the name of the rule."""
    program, words, operands = step.program, step.words, _operands(step.words)
    if program in _REMOVES:
        is_recursive = program in _RECURSIVE or any(re.match(r"-[a-zA-Z]*[rR]|--recursive", word) for word in words)
        targets = [target for target in operands if target != "{}"]
        if not targets or "{}" in words:  # `ls /srv | xargs rm`: the program before names what is deleted
            targets += [word for each in before for word in each.words if word.startswith(("/", "~", "..", "$HOME"))]
        # How long a file becomes (`truncate -s 0`) and an option of Windows (`del /q build`) are no paths.
        option = r"/[a-zA-Z]|[+<>%]?\d+\w?" if program in _WINDOWS else r"[+<>%]?\d+\w?"
        targets = [target for target in targets if not re.fullmatch(option, target)]
        known = [target for target in targets if is_recursive or "$" not in place.resolve(target)]
        return known, "deletes", f"{program} outside"
    runs = (words[at + 1 : at + 3] for at, word in enumerate(words) if word in FIND_RUNS)
    if program in ("find", "fd", "fdfind") and (
        "-delete" in words or any(not _DELETES.isdisjoint(each) for each in runs)
    ):
        # Paths come before the first condition; without one, find starts here.
        paths = [*takewhile(lambda word: word in ("-L", "-H", "-P") or word[:1] not in ("-", "(", "!", "\\"), words)]
        chosen = any(word in _FIND_CHOOSES for word in words)
        starts = [start for start in paths or ["."] if not (chosen and place.resolve(start) == place.folder)]
        return starts, "deletes what it finds in", "find -delete"
    target = operands[-1] if operands else ""
    if program == "mv":
        is_gone = place.resolve(target).startswith(("/tmp", "/var/tmp")) or target == "/dev/null"
        sources = [each for each in operands[:-1] if is_gone or _KEPT_BY_SYSTEM.compiled.match(place.resolve(each))]
        return sources, "moves away", "mv outside"
    if program == "rsync" and ":" not in target and any(word.startswith("--delete") for word in words):
        return [target], "deletes what else is in", "rsync --delete"
    loses = step.sub == "clean" or (step.sub == "reset" and "--hard" in words)
    if program == "git" and loses and "-C" in words and {"-n", "--dry-run"}.isdisjoint(words):
        return [*words[words.index("-C") + 1 :][:1]], "throws away work in", "git elsewhere"
    if program in ("chown", "chgrp"):
        return operands[1:], "gives to another user", "chown outside"
    if program == "chmod" and operands and not any(map(_TIGHT_MODE.compiled.fullmatch, words)):
        return operands[1:], "changes permissions of", "chmod outside"
    return [], "", ""


def write_findings(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """Findings for writing to a path."""
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        yield Finding("exec_remote", "opens a connection to another machine", "/dev/tcp")
    yield from _file_of_rights(target, place)
    yield from _file_of_system(target, place)


def _file_of_rights(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """Files that say who may do what, and devices."""
    path = place.resolve(target)
    if _RIGHTS_FILE.compiled.search(path):
        yield Finding("modify_permissions", f"changes {target!r}, which says who may do what", "guarded file")
    elif _START_UP.compiled.search(path) and not path.startswith((place.folder + "/", *_TEMPORARY)):
        yield Finding("modify_permissions", f"changes {target!r}, which every new shell runs", "start-up file")
    elif _DEVICE.compiled.match(path):
        yield Finding("delete_data", f"writes over the device {target!r}", "device")


def _file_of_system(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """A file of the system that is written over."""
    path = place.resolve(target)
    if _OF_SYSTEM.compiled.match(path) and not _RIGHTS_FILE.compiled.search(path) and not place.contains(target):
        yield Finding("delete_data", f"writes over {target!r}, which is a file of the system", "system file")


def _operands(words: tuple[str, ...]) -> list[str]:
    if "--" in words:
        at = words.index("--")
        return [*(word for word in words[:at] if not word.startswith("-")), *words[at + 1 :]]
    return [word for word in words if not word.startswith("-")]


# Where agents keep their settings, and we our own; a whole folder counts as what is in it.
_SETTINGS = (
    r"\.(?:claude|codex|cursor|copilot|gemini|qwen|hermes|config/opencode)/(?:settings[\w.-]*\.json|hooks(?:\.json|/.*)?"
    r"|plugins?(?:/.*)?|config\.(?:toml|ya?ml|json)|mcp[\w-]*\.json|requirements\.toml|[^/'\"]*[*?{][^/'\"]*)"
    r"|\.codex/rules(?:/.*)?|\.claude\.json|opencode\.jsonc?|managed-settings\.json"
    r"|\.seasoned(?:/(?!logs/|skills/|models/|memory/).*)?"
)
_GUARDED = LazyRegex(
    rf"(?:\A|/)(?:{_SETTINGS}|\.(?:claude|codex|hermes))/?\Z"
    r"|(?:/bin/|\A)seasoned(?:-hook)?\Z|/site-packages/seasoned(?:[-/].*)?\Z"
    r"|\A/(?:opt|run|var|usr/local)/(?:.*/)?seasoned(?:/.*)?\Z|/[\w.-]*seasoned[\w.-]*\.(?:service|plist)\Z"
    r"|\A\$\{?(?:CLAUDE_CONFIG_DIR|CODEX_HOME|SEASONED_HOME|HERMES_HOME)\}?(?:/.*)?\Z"
)
# With these an agent could approve in a person's name, so they may not be read either.
_SECRET = LazyRegex(r"(?:\A|/)\.seasoned/(?:confirm\.key|secrets(?:/.*)?)\Z")
# The same anywhere in a piece of code, where a path may be put together.
_IN_CODE = LazyRegex(
    rf"{_SETTINGS}|\bseasoned(?:-hook|\.(?:confirm|connect|hooks))\b"
    r"|\.(?:claude|codex|cursor|gemini|qwen)['\"]?\s*[/,+]\s*['\"](?:settings|hooks|config)"
)
_CODE_CHANGES = LazyRegex(
    r"(?i)write|\bopen\([^)]{0,200}['\"][rb]*[wax+][b+]?['\"]|rename|replace\(\s*[\w.'\"/]+\s*\)|remove|unlink|rmtree"
    r"|\brm\w*\(|copy|move|link\(|chmod|truncate|execute|\bdump\(|system|subprocess|\bexec|spawn|save|>\s*['\"]?~?/"
)
_NOT_PATH = LazyRegex(r"[\s()'\"<>|;]")
_AGENT_NAMES = LazyRegex(r"(?i)claude|codex|hermes|seasoned|managed-settings|gemini|qwen|cursor|copilot|opencode")
_GIT_KEEPS = names("add commit ls-files check-ignore rev-list shortlog grep fetch push whatchanged annotate archive")
# Programs that take these places as sources and write to their last argument.
_COPIES = names("cp rsync scp install")
_MOST_CHARACTERS = 400


def is_place(word: str, place: WorkingFolder) -> bool:
    """Whether a path is one of these files, even if written with `..` or `~`."""
    # With these characters it is code or a sentence, which other rules read.
    if len(word) > _MOST_CHARACTERS or _NOT_PATH.compiled.search(word.replace("Application Support", "")):
        return False
    # Most words name nothing of the kind, and need not be resolved.
    is_near = _AGENT_NAMES.compiled.search(word) or _AGENT_NAMES.compiled.search(place.here)
    return is_near is not None and _GUARDED.compiled.search(place.resolve(word)) is not None


def guarded_write(target: str, place: WorkingFolder) -> list[Finding]:
    """Such a file that is written to."""
    return [_guarded(target)] if is_place(target, place) else []


def _guarded(target: str) -> Finding:
    return Finding("modify_permissions", f"may change {target!r}, which says what agents may do", "guarded place")


def guard_findings(step: Step, place: WorkingFolder) -> Iterator[Finding]:
    """A program that names such a file and is not known to only read."""
    is_agent = step.prefix and (step.program in group("agents") or step.program.startswith("seasoned"))
    if is_agent and any(map(regex(r"(?:HOME|XDG_CONFIG_HOME|{agent_variables})=").match, step.prefix)):
        yield Finding("modify_permissions", "starts an agent or Seasoned with other settings", "other settings")
    for target in [each for each in _named(step) if is_place(each, place)]:
        if _SECRET.compiled.search(place.resolve(target)):
            yield Finding("modify_permissions", f"reads {target!r}, with which anyone can confirm", "guarded secret")
            return
        if not _only_reads(step, target, place):
            yield _guarded(target)
            return


def _named(step: Step) -> Iterator[str]:
    for word in step.words:
        yield word
        if "=" in word:
            yield word.partition("=")[2]
        elif word[:1] == "-" and word[2:3] in ("/", "~", "."):
            yield word[2:]


def _only_reads(step: Step, target: str, place: WorkingFolder) -> bool:
    program, words = step.program, step.words
    if program in ("find", "fd"):
        runs = [words[at + 1 :] for at, word in enumerate(words[:-1]) if word in FIND_RUNS]
        behind = [Step("", inner[0], (*inner[1:], target)) for inner in runs if inner]
        writes = any(word.startswith(("-delete", "-fprint", "-fls")) for word in words)
        return not writes and all(_only_reads(each, target, place) for each in behind)
    if program in ("sed", "yq"):
        return not any(re.match(r"-[a-zA-Z]*i|--in-?place", word) for word in words)
    if program == "git":
        is_staged = step.sub == "restore" and not {"--staged", "-S"}.isdisjoint(words) and "--worktree" not in words
        return is_staged or step.sub in group("git_looks") or step.sub in _GIT_KEEPS
    if program in _COPIES:
        return "-t" not in words and words[-1] != target
    if program.startswith("python") and "-m" in words:
        return "json.tool" in words
    if program in ("cd", "pushd") or (program in group("interpreters") and target == step.sub):
        return True  # a script of a plugin is run, not changed
    return program in group("readers") - names("mv touch cp awk gawk mkdir sort") or program in group("reading")


def guarded_in_code(code: str) -> Iterator[Finding]:
    """Code that names such a file and may change something."""
    found = _IN_CODE.compiled.search(code)
    if found is not None and _CODE_CHANGES.compiled.search(code):
        yield _guarded(found[0])


Target = Literal["here", "elsewhere", "production"]

PRODUCTION = LazyRegex(r"(?i)(?:\A|[^a-z])(?:(?:prod|production|prd)(?![a-z])|live(?=\Z|[_.]))")
_DEVELOPMENT = LazyRegex(
    r"(?i)(?:\A|[^a-z])(?:dev|develop|development|tests?|testing|staging|stage|local|localhost|sandbox|preview|qa|ci"
    r"|e2e|minikube|kind|k3d|vagrant|colima|orbstack|rootless|default|desktop-linux|127\.0\.0\.1|0\.0\.0\.0|::1)(?![a-z])"
)
# Options and variables that name a place: `--context prod`, `AWS_PROFILE=prod`, `DATABASE_URL=…`.
_NAMING = LazyRegex(
    r"--?(?:env|environment|stage|profile|context|kube-context|namespace|n|e|i|h|H|host|settings|app|a|project|cluster"
    r"|url|u|uri|x|account|subscription|config-env)\Z"
)
_BUILD_MODES = re.compile(r"NODE_ENV|BABEL_ENV|NEXT_\w+|VITE_\w+|\w*VERSION|\w*(?:TITLE|MESSAGE|NAME|BODY|TEXT)")
# A variable that holds an address: what it is cannot be seen here.
_ADDRESS_VARIABLE = LazyRegex(r"\$\{?\w*(?:URL|URI|DSN|HOST|DATABASE|CONNECTION)\w*\}?\Z")
_ADDRESS = LazyRegex(
    r"(?i)\A(?!file:|sqlite)[\w+:.-]+?://(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^:/?]*)|\A[\w.-]+@(?P<at>[\w.-]+)"
)
_FAR_HOST = LazyRegex(r"[\w-]+(?:\.[\w-]+)+|\$")
# What is built, checked or installed for production is not changed there.
_MAKING = ("build", "check", "format", "install")
_REMOTE = names("--linked --remote")
_LOCAL_FILES = ("sqlite", "duckdb")


def assignments(text: str) -> dict[str, str]:
    """The variables that a command sets, with their values."""
    return {found[1]: found[2].strip("'\"") for found in _ASSIGNED.compiled.finditer(text)} if "=" in text else {}


_ASSIGNED = LazyRegex(r"(?:^|[\s;&|(])([A-Z]\w{0,60})=('[^'\n]*'|\"[^\"\n]*\"|[^\s;&|'\"()]*)")


def target_of(step: Step, place: WorkingFolder, assigned: Mapping[str, str]) -> Target:
    """Where a step acts, by what its arguments, variables and the machine that it runs on are called."""
    is_database = step.program in group("databases") or step.program in group("migrators")
    options, others = _named_places(step, is_database=is_database)
    named = [*options, *others, place.host]
    named += [f"{name}={value}" for name, value in assigned.items() if is_database or not _BUILD_MODES.fullmatch(name)]
    if any(PRODUCTION.compiled.search(each) for each in named):
        return "production"
    if any(_DEVELOPMENT.compiled.search(each) for each in named):
        return "here"
    if place.host or not _REMOTE.isdisjoint(step.words) or any(map(_is_far, named)) or any(map(_is_host, options)):
        return "elsewhere"
    if step.program.startswith(_LOCAL_FILES) and step.sub and not place.contains(step.sub):
        return "elsewhere"
    return "here"


def _named_places(step: Step, *, is_database: bool) -> tuple[list[str], list[str]]:
    """The arguments that name a place: values of options for one; then addresses, variables and names of databases."""
    options: list[str] = []
    others: list[str] = []
    for before, word in pairwise(("", *step.words)):
        option, _, value = word.partition("=")
        if " " in word or word.startswith("NODE_ENV"):
            continue
        if word.startswith("-"):
            if _NAMING.compiled.match(option):
                options += [value] if value else []
            elif is_database and word.startswith("-h"):
                options.append(word[2:])
        elif _NAMING.compiled.match(before):
            options.append(word)
        elif is_database or "://" in word or "$" in word:
            others.append(word)
    return options, others


def _is_far(named: str) -> bool:
    """Whether an address is on another machine; a host without a dot is a neighbouring container."""
    value = named.partition("=")[2] if re.match(r"\w+=", named) else named
    found = _ADDRESS.compiled.match(value)
    if found is not None:
        return value.startswith("ssh:") or bool(_FAR_HOST.compiled.match(found["host"] or found["at"] or ""))
    # `cqlsh db.example.com`; a file has fewer dots.
    return re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+){2,}", value) is not None or bool(
        _ADDRESS_VARIABLE.compiled.match(value)
    )


def _is_host(value: str) -> bool:
    return re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?", value) is not None


def in_production(step: Step, target: Target) -> Iterator[Finding]:
    """A program that is pointed at production and is not known to only look there, or to build for it."""
    # A name with quotes in it is a part of a text that was guessed to be a command.
    if target != "production" or step.program in _known_to_look() or not re.fullmatch(r"[\w.@+-]+", step.program):
        return
    plain = [word for word in step.words if not word.startswith("-")]
    looks = not group("looking").isdisjoint(each for word in plain[:6] for each in re.split(r"[-:_]", word))
    looks = looks or regex("{not_run}").search(" ".join(step.words)) is not None
    makes = step.program in group("code") and purpose_of(" ".join((step.program, *plain[:3]))) in _MAKING
    if not looks and not makes:
        yield Finding("deploy_production", "is pointed at production", "production")


def _known_to_look() -> frozenset[str]:
    # Branches, files and addresses may be called so; for requests and databases other rules read what they do.
    # What a wrapper or a shell runs is looked at by itself.
    quiet = ("readers", "reading", "downloads", "databases", "wrappers", "shells", "command_takers")
    acting = names("pytest npx npm pnpm yarn docker podman fly flyctl heroku")
    return frozenset[str]().union(*map(group, quiet), names("git gh glab ssh export claude codex gemini")) - acting
