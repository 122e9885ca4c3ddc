"""Reads a shell command: which programs it runs, how they are joined, and whose exit status is its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.lazy_regex import LazyRegex

Join = Literal["", ";", "&", "&&", "||", "|"]


def names(text: str) -> frozenset[str]:
    """A set of names from one string, which keeps long tables readable."""
    return frozenset(text.split())


def is_python(program: str) -> bool:
    """Whether an interpreter reads Python; code for others happens to parse as Python at times."""
    return program in ("", "pypy", "pypy3", "ipython", "uv") or program.startswith("python")


class Step(msgspec.Struct, frozen=True):
    """One program of a command and how it is joined to the one before."""

    join: Join
    program: str
    words: tuple[str, ...]
    """Its arguments, quotes removed. Redirections are left out."""
    behind: tuple[str, ...] = ()
    """The wrappers that run it: `sudo` and `timeout` in `sudo timeout 5 make`."""
    prefix: tuple[str, ...] = ()
    """Everything in front of its name: `A=` (a variable), `rtk`, `uv run`, and the folder `.venv/bin/`."""

    @property
    def sub(self) -> str:
        """The first argument that is not an option: `push` in `git -C x push`."""
        return first_argument(self.words, OPTION_VALUES.get(self.program, frozenset()))[0]


# Options in front of the subcommand that take a value: `git -C x push` pushes.
OPTION_VALUES = {
    "git": names("-C -c --git-dir --work-tree"),
    "make": names("-C -f -j --directory --file"),
    "just": names("-f -d --justfile --working-directory"),
    "npm": names("--prefix -w --workspace"),
    "pnpm": names("-C --dir --filter -F"),
    "yarn": names("--cwd"),
    "bun": names("--cwd --filter"),
    "cargo": names("--manifest-path -p --package"),
    "go": names("-C"),
    "docker": names("-H --context -f --file"),
    "kubectl": names("-n --namespace --context"),
    "aws": names("--profile --region --output --endpoint-url"),
    "helm": names("-n --namespace --kube-context"),
    "gh": names("-R --repo"),
    "tox": names("-e -c"),
    "nox": names("-s -f --session --sessions"),
    **dict.fromkeys(("gradle", "gradlew"), names("-x --exclude-task -p --project-dir -b -c -I --init-script --tests")),
    **dict.fromkeys(("mvn", "mvnw"), names("-pl --projects -f --file -s --settings -P --activate-profiles -T")),
    "mise": names("-C --cd"),
    **dict.fromkeys(("python", "python3"), names("-W -X")),
    **dict.fromkeys(("bash", "sh", "zsh"), names("-o -O +o +O --rcfile --init-file")),
}
# Shell keywords that may come before a program.
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "done", "fi", "esac", "time"}
)
# Programs that run the one behind them, with those of their options that take a value.
_WRAPPERS = {
    "sudo": names("-u -g -h -p -C -D -R -T -r -t -U --user --group --chdir"),
    "env": frozenset({"-u", "-C"}),
    "nohup": frozenset[str](),
    "exec": frozenset[str](),
    "command": frozenset[str](),
    "builtin": frozenset[str](),
    "nice": frozenset({"-n"}),
    "stdbuf": frozenset({"-o", "-e", "-i"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "gtimeout": frozenset({"-s", "-k"}),
    "xargs": names("-n -I -P -L -d -s -a -E --arg-file --max-args --max-procs --delimiter --replace"),
    "npx": frozenset({"-p", "--package"}),
    "bunx": frozenset[str](),
    "pnpx": frozenset[str](),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}),
    "rtk": frozenset[str](),
}
# Project tools that run a program after one word: `uv run pytest`.
_RUNNERS = {"uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "hatch": "run", "rye": "run", "bundle": "exec"}
_SPLIT_STRING = LazyRegex(r"(?s)(?:-[a-zA-Z]*S|--split-string=)(?P<text>.+)\Z")
_NUMBER = LazyRegex(r"[\d.]+[smhd]?\Z")
_ASSIGNMENT = LazyRegex(r"[A-Za-z_]\w*\+?=")
# The body of a here-document is input, not a command; what follows its mark on the first line stays.
HEREDOC = LazyRegex(
    r"<<-?[ \t]*(?P<quote>['\"]?)(?P<mark>[A-Za-z_][\w-]*)(?P=quote)(?P<after>[^\n]*)\n"
    # Line by line: a look at every character takes three times as long.
    r"(?P<body>(?:(?![ \t]*(?P=mark)[ \t]*$)[^\n]*+(?:\n|\Z))*+)(?:[ \t]*(?P=mark)[ \t]*$|\Z)",
    re.MULTILINE,
)
# Options of find and fd behind which a command follows.
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
# Codex takes a patch behind `apply_patch` without quotes: its lines are no commands.
_PATCH = LazyRegex(r"\*\*\* Begin Patch\n.*?(?:^\*\*\* End Patch[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
# What makes a command more than words with blanks between them.
_SPECIAL = LazyRegex(r"[^\S ]|['\"\\;|&()<>$#]")
_TOKEN = LazyRegex(
    r"(?P<blank>[ \t\r]+|\\\n)"
    r"|(?P<comment>(?<![^\s;&|(])#[^\n]*)"
    r"|(?P<single>\$'(?:\\.|[^'\\])*'?|'[^']*'?)"
    r'|(?P<double>"(?:[^"\\$]++|\\.|\$\((?:[^()"]|"[^"]*"|\([^()]*\))*\)|[^"\\])*"?)'
    r"|(?P<redirect>\d*(?:>>|>&|<&|<<<|>\||<>|&>>|&>|[<>](?!\())(?:\d+\b|-)?)"
    r"|(?P<join>&&|\|\||;;|\|&|[;|&\n])"
    r"|(?P<open>\$\(|<\(|>\(|\()"
    r"|(?P<close>\))"
    r"|(?P<word>(?:[^\s'\"\\;|&()<>$]++|\\.|\$(?!\(|'))+|\\|\$)",
    re.DOTALL,
)
_ESCAPED = {
    "double": LazyRegex(r"\\(?P<plain>[\"\\$`])"),
    "single": LazyRegex(r"\\(?:(?P<code>x[0-9a-fA-F]{1,2}|[0-7]{1,3})|(?P<plain>.))", re.DOTALL),
}
# Longer commands are cut: nothing this long is written by hand.
MOST_READ = 20_000


@lru_cache(maxsize=1024)
def parse(command: str) -> tuple[Step, ...]:
    """The programs a command runs, in order. What cannot be read is left out; it never raises."""
    text = command[:MOST_READ]
    steps: list[Step] = []
    if not _SPECIAL.compiled.search(text):
        runs(steps, "", text.split())
        return tuple(steps)
    return _parsed(without_bodies(text))


def without_bodies(text: str) -> str:
    """A command without the bodies of here-documents and patches, which are input and not commands."""
    if "<<" in text:
        text = HEREDOC.compiled.sub(r"\g<after>\n", text)
    return without_patches(text)


def without_patches(text: str) -> str:
    """A command without patches."""
    return _PATCH.compiled.sub("", text) if "*** Begin Patch" in text else text


# What a command runs and how it was written are both asked of most commands, one after the other.
@lru_cache(maxsize=1024)
def segments(text: str) -> tuple[tuple[list[str], int, int, str], ...]:
    """The parts of a command between `&&`, `|`, `;` and their like.

    Of each its words, where its text begins and ends, and what joins it to the next one; empty for the last.
    Do not change the lists.
    """
    return tuple(_segments(text))


def _segments(text: str) -> Iterator[tuple[list[str], int, int, str]]:
    words: list[str] = []
    word: list[str] = []
    depth = start = 0
    redirecting = False
    for token in _TOKEN.compiled.finditer(text):
        kind, value = token.lastgroup, token.group()
        if kind == "open":
            # A bare parenthesis opens a group whose steps count; the others are substitutions.
            if value != "(" or depth or word:
                depth += 1
                word.append("$()")
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth or kind == "comment":
            continue
        elif kind in ("single", "double", "word"):
            word.append(_unquoted(kind, value))
        else:
            if word:
                if not redirecting:
                    words.append("".join(word))
                word, redirecting = [], False
            if kind == "redirect":
                redirecting = not (value[-1].isdigit() or value[-1] == "-")
            elif kind == "join":
                yield words, start, token.start(), value
                words, start = [], token.end()
    if word and not redirecting:
        words.append("".join(word))
    yield words, start, len(text), ""


def _parsed(text: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    join: Join = ""
    for words, _, _, following in segments(text):
        runs(steps, join, words)
        if words or following in ("&&", "||"):
            join = JOINS.get(following, join)
        elif join == "":
            join = ";"
    return tuple(steps)


JOINS: dict[str, Join] = {"&&": "&&", "||": "||", "|": "|", "|&": "|", ";": ";", ";;": ";", "\n": ";", "&": "&"}


def _unquoted(kind: str, value: str) -> str:
    if kind == "word":
        # Shells of Windows keep the backslashes of `C:\build`.
        return value.replace("\\", "") if "\\" in value and value[1:3] != ":\\" else value
    body = value[value.index("'" if kind == "single" else '"') + 1 :]
    body = body[:-1] if body and body[-1] in "'\"" else body
    if "\\" in body and (kind == "double" or value[0] == "$"):
        return _ESCAPED[kind].compiled.sub(_unescaped, body)
    return body


def _unescaped(found: re.Match[str]) -> str:
    """The character that an escape in quotes means."""
    plain = found["plain"]
    if plain is not None:
        return {"n": "\n", "t": "\t"}.get(plain, plain)
    code = found["code"]
    return chr(int(code[1:], 16) if code[0] == "x" else int(code, 8))


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable: `CI=1` in `CI=1 make test`."""
    return _ASSIGNMENT.compiled.match(word) is not None


def runs(steps: list[Step], join: Join, words: list[str]) -> None:
    """Add to `steps` the program that these words run, after keywords, assignments and wrappers."""
    rest = words
    behind: list[str] = []
    prefix: list[str] = []
    while rest:
        first = rest[0]
        if _ASSIGNMENT.compiled.match(first):
            prefix.append(first[: first.index("=") + 1])
            rest = rest[1:]
        elif first in _KEYWORDS:
            rest = rest[1:]
        elif first == "for":
            return
        elif (first == "function" and len(rest) > 1) or (first.endswith("$()") and rest[1:2] == ["{"]):
            rest = rest[2:]  # the body of a function counts where it is defined
        elif first.endswith("$(){"):
            rest = rest[1:]
        elif first in _RUNNERS and len(rest) > 2 and rest[1] == _RUNNERS[first]:
            prefix.append(f"{first} {rest[1]}")
            rest = after_options(rest[2:], frozenset({"--with", "--python", "-p", "--extra", "--group", "--project"}))
        elif first in _WRAPPERS and len(rest) > 1:
            inner = after_options(_split_string(rest[1:]) if first == "env" else rest[1:], _WRAPPERS[first])
            if first == "command" and len(inner) < len(rest) - 1:  # `command -v x` asks; it does not run x
                break
            if not inner:  # `sudo -i` runs a shell
                break
            behind.append(first)
            # `env A=1 make` is `A=1 make`; only without a variable is `env` more than another way to write that.
            given = [word[: word.index("=") + 1] for word in rest[: -len(inner)] if _ASSIGNMENT.compiled.match(word)]
            prefix += given if first == "env" and given else [first]
            # `env -S 'make x'` and `npx -c 'make x'` are given a whole command as one word.
            rest = [*inner[0].split(), *inner[1:]] if first in ("env", "npx") and " " in inner[0] else inner
        else:
            break
    if rest:
        program = rest[0].rsplit("/", 1)[-1] or rest[0]
        if program != rest[0]:
            prefix.append(rest[0][: -len(program)])
        steps.append(Step(join if steps else "", program, tuple(rest[1:]), tuple(behind), tuple(prefix)))


def _split_string(words: list[str]) -> list[str]:
    """The words of `env -S'rm -r x'`, where the option contains a whole command."""
    for at, word in enumerate(words):
        found = _SPLIT_STRING.compiled.match(word)
        if found is not None:
            return [*words[:at], *found["text"].split(), *words[at + 1 :]]
        if not word.startswith("-"):
            break
    return words


def first_argument(words: Sequence[str], takes_value: Collection[str]) -> tuple[str, int]:
    """The first word that is neither an option nor its value, and its position; empty behind the last."""
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word.startswith("-") or word in takes_value:
            skip = word in takes_value
        else:
            return word, at
    return "", len(words)


def after_options(words: list[str], takes_value: Collection[str]) -> list[str]:
    """What a wrapper runs: the words behind its options, values, numbers and assignments."""
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word == "--":
            return words[at + 1 :]
        elif word.startswith("-"):
            skip = word in takes_value
        elif not (_ASSIGNMENT.compiled.match(word) or _NUMBER.compiled.match(word)):
            return words[at:]
    return []


# `exit $rc` passes on the status of something before it, `test $rc -ne 0` turns it around.
_PASSED_ON = LazyRegex(
    r"(?:exit|return) .*\$|(?:test|\[\[?) .*\$(?:\?|\{?(?:rc|ret|code|status|exit\w*|PIPESTATUS|pipestatus)\b)"
)


def deciding(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps whose failure makes the whole command fail: the ones that its exit status reports."""
    if not steps:
        return ()
    # With `set -e` every step decides, with `pipefail` every part of a pipe.
    everything = any(
        step.program == "set" and any(w.startswith("-") and "e" in w for w in step.words) for step in steps
    )
    pipes = any(step.program == "set" and "pipefail" in step.words for step in steps)
    last = " ".join((steps[-1].program, *steps[-1].words))
    if _PASSED_ON.compiled.match(last):
        everything, pipes = True, pipes or "pipestatus" in last.lower()
    chosen: list[Step] = []
    last_of_pipe = True
    for step in reversed(steps):
        if last_of_pipe or pipes:
            chosen.append(step)
        last_of_pipe = step.join != "|"
        if last_of_pipe and step.join != "&&" and not (everything and step.join == ";"):
            break
    return tuple(reversed(chosen))
