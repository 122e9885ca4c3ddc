"""Why a call failed, by the words of its error: the same for what sessions did and for what a hook is asked."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from seasoned.lazy_regex import LazyRegex


class Cause(msgspec.Struct, frozen=True):
    """Why a call failed, recognised by the words of its error."""

    name: str
    words: LazyRegex
    # Whether it means that the call itself was wrong even in the output of a test run or a linter.
    of_any_program: bool = False


def _cause(name: str, words: str, *, of_any_program: bool = False) -> Cause:
    return Cause(name, LazyRegex(words, re.IGNORECASE), of_any_program)


# In order: the first match counts. Groups named `what…` capture the thing that the error is about.
CAUSES = (
    _cause("unread", r"has not been read yet|read (?:it|the file) first|must read the file"),
    _cause("stale", r"modified since (?:it was )?(?:last )?read|has (?:been changed|changed) since"),
    _cause(
        "no match",
        r"string to replace not found|old_?(?:str|string|text)\b.{0,40}not found|hunk #?\d* ?failed"
        r"|failed to find (?:expected lines|context)|no replacement was performed|did not appear verbatim"
        r"|could not find (?:the )?(?:exact |specified )*(?:match|text|old|string)|patch does not apply",
    ),
    _cause(
        "several matches", r"found \d+ (?:matches|occurrences)|multiple (?:occurrences|matches)|(?:not|must be) unique"
    ),
    _cause(
        "bad patch",
        r"invalid (?:patch )?hunk|valid hunk header|invalid patch|malformed patch|corrupt patch"
        r"|hunk for path \S+ is empty",
    ),
    _cause("too large", r"exceeds (?:the )?maximum (?:allowed )?(?:size|tokens)|file is too large|output too large"),
    _cause("directory", r"EISDIR|\bis a directory\b"),
    _cause("no tool", r"no such tool|unknown (?:tool|skill|action|function)\b|tool \S+ (?:not found|does not exist)"),
    _cause("blocked", r"\ABlocked: (?P<what>[\w-]+)?", of_any_program=True),
    _cause(
        "folder",
        r"not a git repository|cannot find main module|directory not found|\[setup failed\]|can't cd|\bcd:(?:\d+:)? "
        r"|(?:\bno|not find|n't find|not contain|specify) (?:an? |any |the )?['\"`]?(?P<what>package\.json"
        r"|pyproject\.toml|Cargo\.toml|go\.mod|makefile|Gemfile|pubspec\.yaml|Mix\.Project|pom\.xml|composer\.json"
        r"|Xcode project|project or solution file|configuration file)|go\.mod file not found"
        r"|package\.json.{0,60}no such file|no such file or directory.{0,40}package\.json",
        of_any_program=True,
    ),
    _cause(
        "service",
        r"connection refused|cannot connect to|could not connect to|connection to (?:the )?server|daemon running"
        r"|failed to connect to (?:localhost|127\.)|ECONNREFUSED",
    ),
    _cause(
        "missing program",
        r"command not found(?:: *(?P<what>\w[\w.@+-]*))?|(?:\A|: )(?P<what2>\w[\w.@+-]*): (?:command )?not found\Z"
        r"|\Aenv: ‘?(?P<what6>[\w.@+-]+)’?: no such file"
        r"|exec: \"?(?P<what3>[\w.@+-]+)\"?:|failed to (?:run|execute) command .(?P<what4>[\w.@+-]+).: no such"
        r"|failed to spawn: .(?P<what5>[\w.@+-]+)|executable file not found|could not determine executable"
        r"|is not recognized as (?:an? )?(?:internal|the name)|posix_spawn",
        of_any_program=True,
    ),
    _cause(
        "unknown option",
        r"(?:unknown|unrecogni[sz]ed|illegal|invalid|bad|no such|unsupported) (?:command[- ]line )?"
        r"(?:flag|option|switch|shorthand flag|argument)s?\b[ :'\"`‘]*(?:-- )?(?P<what>-{0,2}\w[\w-]*)?"
        r"|unexpected argument|flag provided but not defined|unknown json field: [\"'](?P<what2>\w+)",
        of_any_program=True,
    ),
    _cause(
        "unknown command",
        r"(?:unknown|unrecogni[sz]ed|invalid|no such) (?:sub-?)?commands?\b(?! code):?[ '\"`‘]*(?P<what>[\w:.-]+)?"
        r"|missing script:?[ '\"]*(?P<what2>[\w:.-]+)?|script not found|no task[ '\"]+(?P<what3>[\w:.-]+)"
        r"|no rule to make target|is not a \S+ command|could not find (?:task|script|command)|task \S+ not found"
        r"|(?:command|script) [\"'](?P<what4>[\w:.-]+)[\"'] not found|no scripts? named|command \"\S+\" is not defined"
        r"|don't know how to build task|not the \S+ command you|does not contain recipes?\b|\bunknown target\b",
        of_any_program=True,
    ),
    _cause("equals", r"(?:\A|: )=+\S* not found", of_any_program=True),
    _cause("here document", r"can't create temp file for here document", of_any_program=True),
    _cause("unsaved", r"commit or stash|unstaged changes|uncommitted changes|would be overwritten|commit your changes"),
    _cause(
        "quoting",
        r"no matches found: (?P<what>\S+)|unmatched [\"'`]|unexpected EOF|parse error near|syntax error near"
        r"|unterminated quoted|bad substitution|event not found|shell quoting",
        of_any_program=True,
    ),
    _cause(
        "dependencies",
        r"not up-to-date with|(?:run|try) .{0,3}(?:npm|pnpm|yarn|bun|bundle|poetry|uv|mix) (?:install|sync|deps)"
        r"|ERR_PNPM_(?:VERIFY_DEPS|OUTDATED_LOCKFILE|NO_LOCKFILE|MODULES)|node_modules missing|could not find gem"
        r"|executable doesn.t exist",
        of_any_program=True,
    ),
    _cause(
        "version",
        r"(?:requires?|needs?|unsupported|required|expected|want(?:ed)?)\b.{0,40}\b(?P<what>node|python|go|ruby|java)(?:\.js)?\b"
        r".{0,20}(?:\d|version|engine)|(?P<what2>node|python|go|ruby|java)(?:\.js)? (?:version|v\d\S*).{0,40}"
        r"(?:not supported|unsupported|too old|or (?:newer|higher|later))|unsupported engine",
        of_any_program=True,
    ),
    _cause("library", r"no library targets found|no (?:bin|example|test) target named", of_any_program=True),
    _cause(
        "environment",
        r"(?:environment variable|env var)\b.{0,60}\b(?:not set|required|missing|undefined)"
        r"|\bmissing (?:required )?env\w*",
        of_any_program=True,
    ),
    # A module of the project itself, by its place, is about the code.
    _cause(
        "module",
        r"no module named|(?:cannot find (?:module|package)|module not found)\b(?!:? ['\"]?\.)",
        of_any_program=True,
    ),
    _cause(
        "login",
        r"\b401\b|not logged in|requires? (?:login|authentication)|authentication (?:failed|required)|bad credentials"
        r"|publickey|failed to log in|unauthori[sz]ed|\bauth login\b"
        r"|unable to locate credentials|permission to \S+ denied",
    ),
    _cause("access", r"could not read from remote repository|remote not found|no such remote|repository \S+ not found"),
    _cause(
        "permission",
        r"(?:password|terminal) is required|operation not permitted|permission denied|\bEPERM\b|\bEACCES\b"
        r"|read-only file system",
    ),
    _cause(
        "time",
        r"command timed out|timed out after|did not complete within|took too long and was stopped",
        of_any_program=True,
    ),
    _cause(
        "port", r"EADDRINUSE|address already in use|port \d+ is (?:already )?(?:in use|allocated)", of_any_program=True
    ),
    _cause(
        "network",
        r"could not resolve host|\bENOTFOUND\b|error connecting|network (?:is|did|error)|\bECONN",
    ),
    _cause(
        "conflict",
        r"\bconflict\b|could not apply|not possible to fast-forward|failed to push some refs"
        r"|\[rejected\]|no local changes to save|nothing to commit",
    ),
    _cause("no pull request", r"no pull requests? found|no commits between|branch not (?:found|protected)"),
    _cause(
        "missing file",
        r"no such file|does not exist|\bENOENT\b|cannot access|can't read|cannot open|can't open|path not found"
        r"|file not found|did not match any files\b",
    ),
    _cause(
        "argument",
        r"validation ?error|invalid (?:value|argument|type|choice|request|search)|missing required|required (?:argument"
        r"|parameter|option|flag|propert)|\bmust be\b|non-uuid|ambiguous argument|argument \S+ (?:is )?required"
        r"|are set none of the others|specify --|answered with its usage"
        r"|too (?:many|few) arguments|unexpected (?:keyword|parameter)|\busage:",
    ),
    _cause("no test", r"no tests? (?:found|ran|were found)|not found: \S+::|no tests to run", of_any_program=True),
    _cause("remote", r"known to git|http 4\d\d|\bE404\b|\b404\b|not found"),
)
BY_NAME = {cause.name: cause for cause in CAUSES}


@lru_cache(maxsize=1024)
def cause_in(text: str) -> str | None:
    """Why a call failed, by a line of its error; None if its words are not known."""
    read, words = _read(text)
    return next((cause.name for cause in CAUSES if words[cause.name].compiled.search(read)), None)


def is_among(text: str, causes: frozenset[str]) -> bool:
    """Whether the cause is one of these. Only their words are looked for where none of them stands."""
    read, words = _read(text)
    return any(words[name].compiled.search(read) for name in causes) and cause_in(text) in causes


def _read(text: str) -> tuple[str, dict[str, LazyRegex]]:
    """The text and the words of each cause as they are compared."""
    # The engine skips to where a match may begin only if case counts: in lower case that is three times as fast.
    return (text.lower(), _LOW) if text.isascii() else (text, _AS_WRITTEN)


def _in_lower_case(pattern: str) -> LazyRegex:
    """The expression for texts in lower case. Escapes such as `\\S` and the openings of named groups stay."""
    return LazyRegex("".join([part if part[0] in "\\(" else part.lower() for part in _PIECES.findall(pattern)]))


_PIECES = re.compile(r"\\.|\(\?P|[^\\(]+|\(")
_LOW = {cause.name: _in_lower_case(cause.words.text) for cause in CAUSES}
_AS_WRITTEN = {cause.name: cause.words for cause in CAUSES}


@lru_cache(maxsize=1024)
def subject_of_error(cause: str | None, line: str) -> str | None:
    """The program, option or script that an error names."""
    if cause is None:
        return None
    found = BY_NAME[cause].words.compiled.search(line)
    groups = found.groupdict() if found else {}
    return next((value.strip("'\"`") for name, value in groups.items() if name.startswith("what") and value), None)
