"""Files that decide what agents may do: their settings, our home, our programs. Only known readers may name them.

No list of ways to change a file is complete, so it works the other way round: anything not known to only read them
needs a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seasoned.command.parse import FIND_RUNS, Step, names
from seasoned.command.path import WorkingFolder
from seasoned.command.rows import Finding, group
from seasoned.lazy_regex import LazyRegex

_IN_CLAUDE = r"(?:settings[^/]*\.json|managed-settings\.json|hooks(?:/.*)?|plugins(?:/.*)?)"
_IN_CODEX = r"(?:hooks\.json|config\.toml|requirements\.toml|rules(?:/.*)?)"
# Where agents keep their settings, and we our own; a whole folder counts as what is in it.
_PLACE = LazyRegex(
    rf"(?:\A|/)(?:\.claude(?:\.json|/{_IN_CLAUDE})?|\.codex(?:/{_IN_CODEX})?"
    r"|\.hermes(?:/(?:config\.yaml|plugins(?:/.*)?))?|\.seasoned(?:/(?!logs/|skills/|models/|memory/).*)?)/?\Z"
    r"|(?:/bin/|\A)seasoned(?:-hook)?\Z|/site-packages/seasoned(?:[-/].*)?\Z"
    r"|/managed-settings\.json\Z|\A/(?:opt|run|var/lib|usr/local/(?:lib|var|var/run))/seasoned(?:/.*)?\Z"
    r"|/(?:seasoned-confirm\.service|org\.seasoned\.confirm\.plist)\Z"
    r"|\A\$\{?(?:CLAUDE_CONFIG_DIR|CODEX_HOME|SEASONED_HOME|HERMES_HOME)\}?(?:/.*)?\Z"
)
# With these an agent could approve in a person's name, so they may not be read either.
_SECRET = LazyRegex(r"(?:\A|/)\.seasoned/(?:confirm\.key|secrets(?:/.*)?)\Z")
# The same anywhere in a piece of code, where a path may be put together.
_IN_CODE = LazyRegex(
    rf"\.claude(?:\.json|/{_IN_CLAUDE[:-1]}))|\.codex(?:/{_IN_CODEX[:-1]}))|\.hermes/(?:config\.yaml|plugins)"
    r"|\.seasoned(?:/|\b)|\bseasoned-hook\b|\.claude['\"]?\s*[/,+]\s*['\"]settings"
)
_CODE_CHANGES = LazyRegex(
    r"(?i)write|\bopen\([^)]{0,200}['\"][rb]*[wax+][b+]?['\"]|rename|replace\(\s*[\w.'\"/]+\s*\)|remove|unlink|rmtree"
    r"|\brm\w*\(|copy|move|link\(|chmod|truncate|execute|\bdump\(|system|subprocess|\bexec|spawn|save|>\s*['\"]?~?/"
)
_NOT_PATH = LazyRegex(r"[\s()'\"<>|;]")
_NAMES = LazyRegex(r"(?i)claude|codex|hermes|seasoned|managed-settings")
_GIT_KEEPS = names("add commit ls-files check-ignore rev-list shortlog grep fetch push whatchanged annotate archive")
# Programs that take these places as sources and write to their last argument.
_COPIES = names("cp rsync scp install")
_AGENTS = names("claude claude-code codex hermes seasoned seasoned-hook")
_MOVED_SETTINGS = names("HOME= CLAUDE_CONFIG_DIR= CODEX_HOME= SEASONED_HOME= HERMES_HOME= SEASONED_CONFIRM_URL=")
_MOST_CHARACTERS = 400
_MOVED = Finding("modify_permissions", "starts an agent or Seasoned with other settings", "other settings")


def is_place(word: str, place: WorkingFolder) -> bool:
    """Whether a path is one of these files, even if written with `..` or `~`."""
    # With these characters it is code or a sentence, which other rules read.
    if len(word) > _MOST_CHARACTERS or _NOT_PATH.compiled.search(word):
        return False
    # Most words name nothing of the kind, and need not be resolved.
    if not _NAMES.compiled.search(word) and not _NAMES.compiled.search(place.here):
        return False
    path = place.resolve(word)
    return _PLACE.compiled.search(path) is not None


def changed(target: str, place: WorkingFolder) -> Iterator[Finding]:
    """Such a file that is written to."""
    if is_place(target, place):
        yield _guarded(target)


def _guarded(target: str) -> Finding:
    return Finding("modify_permissions", f"may change {target!r}, which says what agents may do", "guarded place")


def findings(step: Step, place: WorkingFolder) -> Iterator[Finding]:
    """A program that names such a file and is not known to only read."""
    if step.program in _AGENTS and not _MOVED_SETTINGS.isdisjoint(step.prefix):
        yield _MOVED
    for target in _named(step):
        if is_place(target, place) and _SECRET.compiled.search(place.resolve(target)):
            yield Finding("modify_permissions", f"reads {target!r}, with which anyone can confirm", "guarded secret")
            return
        if is_place(target, place) and not _only_reads(step, target, place):
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
    if program in ("sed", "yq", "perl"):
        return program != "perl" and not any(re.match(r"-[a-zA-Z]*i|--in-?place", word) for word in words)
    if program == "git":
        is_staged = step.sub == "restore" and not {"--staged", "-S"}.isdisjoint(words) and "--worktree" not in words
        return is_staged or step.sub in group("git_looks") or step.sub in _GIT_KEEPS
    if program in _COPIES:
        return "-t" not in words and words[-1] != target
    if program.startswith("python") and "-m" in words:
        return words[words.index("-m") + 1 : words.index("-m") + 2] == ("json.tool",)
    if program in ("cd", "pushd"):
        return True
    if program in group("interpreters") and target == step.sub:
        return True  # a script of a plugin that is run, not changed
    return program in group("readers") - names("mv touch cp awk gawk mkdir sort") or program in group("reading")


def in_code(code: str) -> Iterator[Finding]:
    """Code that names such a file and may change something."""
    found = _IN_CODE.compiled.search(code)
    if found is not None and _CODE_CHANGES.compiled.search(code):
        yield _guarded(found[0])


def in_arguments(arguments: Mapping[str, Any], place: WorkingFolder) -> Iterator[Finding]:
    """Such a file among the arguments of a tool that does more than read."""
    for value in arguments.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and is_place(each, place):
                yield _guarded(each)
