"""Commands that stand in the arguments, variables and code of another command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from seasoned.command.parse import Step, is_python, names
from seasoned.command.rows import group
from seasoned.lazy_regex import LazyRegex

# Longer code is cut: nothing this long is written into a command.
_MOST_CODE = 20_000
_MOST_GUESSES = 8
_RUNNING = names("run exec ssh rsh debug")
_SSH_VALUES = names("-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
# Options of find and fd behind which a command follows.
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
_RUNNERS = names(
    "system popen run call check_call check_output Popen getoutput getstatusoutput create_subprocess_shell"
    " execSync spawn spawnSync execFileSync shell_exec passthru execv execve execvp execvpe execl execlp spawnv spawnvp"
)
# Calls by which code of other languages than Python starts a program, with all that they are given.
_CODE_RUNS = LazyRegex(
    r"\b(?:system|exec|execSync|spawn|spawnSync|popen|shell_exec|passthru|execFile|execFileSync|execute|shell|ProcessBuilder|Open3\.\w+"
    r"|shell-command|call-process|proc_open|run|do shell script)\b\s*[({]?\s*(?P<given>[^)\n]{1,1000})"
    r"|(?:%x|qx)\s*[({/](?P<quoted>[^)}/]*)|`(?P<ticks>[^`]+)`|\b(?:exec|spawn)\s+(?P<bare>[^\"'\n]+)"
    r"|(?P<before>['\"][^'\"]+['\"])\s*(?:\.execute\(\)|\|\s*getline)|\|\s*(?P<piped>['\"][^'\"]+['\"])"
)
_LITERAL = LazyRegex(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")
_WITHOUT_SHELL = names("awk gawk mawk nawk lua luajit R Rscript")
# A program that can do harm with an option or a path behind it, wherever it stands in a text.
_HARMFUL = LazyRegex(
    r"(?:\A|(?<=[\s;&|!=\"'(`:]))(?:sudo\s+)?(?:/usr)?(?:/s?bin/)?(?:rm|rmdir|unlink|shred|dd|mkfs\S*|truncate|chmod|chown|mv"
    r"|curl|wget|sh|bash|zsh|dropdb)\s+(?:-\w|/|~|\$|\.\.|\w+=|https?:).*",
    re.DOTALL,
)
_HARMFUL_PROGRAMS = names(
    "rm rmdir unlink shred dd truncate chmod chown mv sh bash zsh curl wget python python3 node perl ruby"
)
# Variables whose value other programs run.
_RUN_VARIABLE = LazyRegex(
    r"(?<![\w$])(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|\w*_COMMAND|\w*_CMD|\w*ASKPASS|LESSOPEN|BASH_ENV|ENV|SHELL"
    r"|GIT_EXTERNAL_DIFF|GIT_SSH|RUSTC_WRAPPER|\w*_WRAPPER)=(?:'([^']*)'|\"([^\"]*)\")"
)
_ALIAS = LazyRegex(r"(?:^|[;&|\n])\s*alias\s+([\w.-]+)=(?:'([^']*)'|\"([^\"]*)\"|(\S+))")
_SED_RUNS = LazyRegex(
    r"(?:\A|[;\n}\d$/])\s*e\s+(?P<command>.+)|s(?P<mark>[/|,#])(?:.*?)(?<!\\)(?P=mark)(?P<put>.*?)(?<!\\)(?P=mark)\w*e"
)
_GIT_RUNS = LazyRegex(
    r"(?:alias\.[\w-]+|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|sequence\.editor|diff\.\w*|difftool\.\S+|mergetool\.\S+"
    r"|credential\.\S*|filter\.\S+|pager\.\w+|gpg\.\S*program|uploadpack\.\S+|protocol\.ext\.allow)",
    re.IGNORECASE,
)
_GIVEN = LazyRegex(r"-[a-zA-Z]*c|--command|/[cC]|-[cC]ommand")
# Options whose value many programs run.
_RUN_OPTION = LazyRegex(
    r"--(?:script-shell|pager|editor|use-compress-program|checkpoint-action=exec|rsh|to-command|rsync-path)=(.+ .+)"
)
_SPOKEN = LazyRegex(r"(?:\\!|\.shell|\.system|\bsystem)\s+(.+)")


def in_arguments(step: Step) -> Iterator[str]:
    """Commands that stand in the arguments of another."""
    words = step.words
    program = step.program
    if program in group("shells") or program in group("command_takers"):
        for at, word in enumerate(words[:-1]):
            if _GIVEN.compiled.fullmatch(word):
                yield words[at + 1] if program != "cmd" else " ".join(words[at + 1 :])
                # `bash -c 'rm -rf "$1"' _ /srv`: what follows takes the place of the parameters.
                yield shlex.join(words[at + 3 :])
                if len(words) > at + 2:
                    yield re.sub(r"\$\{?\d\}?", words[-1].replace("\\", ""), words[at + 1])
    if program in ("eval", "watch", "trap", "coproc"):
        yield " ".join(words)
    elif program == "ssh":
        yield " ".join(_behind_host(words))
    elif program == "command" and words[:1] in (("-v",), ("-V",)):
        return
    elif program in group("wrappers") and (program not in group("containers") or not _RUNNING.isdisjoint(words[:6])):
        # Which word begins the inner command depends on options that differ from program to program.
        yield from (
            shlex.join(words[at:]) for at in range(min(len(words), _MOST_GUESSES)) if not words[at].startswith("-")
        )
        if "--" in words:
            yield shlex.join(words[words.index("--") + 1 :])
    if program == "start-stop-daemon" and "--exec" in words[:-1] and "--" in words:
        yield shlex.join((words[words.index("--exec") + 1], *words[words.index("--") + 1 :]))
    yield from (found[1] for word in words if (found := _RUN_OPTION.compiled.match(word)) is not None)
    if program in ("less", "more", "man"):
        yield from (word[2:] for word in words if word.startswith("+!"))
    if program in ("find", "fd", "fdfind"):
        starts = [at for at, word in enumerate(words) if word in FIND_RUNS]
        for at in starts[:_MOST_GUESSES]:
            yield shlex.join(each for each in words[at + 1 :] if each not in (";", "+"))
    elif program == "git":
        yield from _in_git(step)
    elif program == "sed":
        for word in words:
            for found in _SED_RUNS.compiled.finditer(word):
                yield found["command"] or re.sub(r"\\(.)", r"\1", found["put"] or "")
    elif program in group("databases"):
        yield from (spoken for word in words for spoken in _SPOKEN.compiled.findall(word))
    yield from _in_any(step)


def is_given_command(step: Step) -> bool:
    """Whether a shell gets its commands as an argument: `sh -c …`."""
    return any(_GIVEN.compiled.fullmatch(word) for word in step.words[:-1])


def _in_any(step: Step) -> Iterator[str]:
    """Harmful commands among the arguments of a program that is not known to take them as a text."""
    if step.program in group("readers") or step.program in group("text_takers"):
        return
    # Read as a whole already; a part of it, cut out of its quotes, would be another command.
    if step.program in ("eval", "su") or (step.program in group("shells") and is_given_command(step)):
        return
    for at, word in enumerate(step.words[: 4 * _MOST_GUESSES]):
        if " " in word:
            found = _HARMFUL.compiled.search(word)
            if found is not None:
                yield found[0].rstrip("\"')")
        elif word in _HARMFUL_PROGRAMS and step.program not in group("code_programs"):
            yield shlex.join(step.words[at:])


def _in_git(step: Step) -> Iterator[str]:
    """Commands that git runs: aliases, pagers and editors that it is given, and those of its subcommands."""
    words = step.words
    for at, word in enumerate(words):
        key, _, value = word.partition("=")
        if "." in key and _GIT_RUNS.compiled.fullmatch(key):
            given = value or " ".join(words[at + 1 : at + 2])
            yield given[1:] if given.startswith("!") else f"git {given}" if key.startswith("alias.") else given
        if word in ("-x", "--exec", "--upload-pack", "--receive-pack") or word.endswith("-filter"):
            yield " ".join(words[at + 1 : at + 2])
        elif key == "--exec" or key.endswith("-filter"):
            yield value
    if step.sub in ("bisect", "submodule"):
        runs = next((at for at, word in enumerate(words) if word in ("run", "foreach")), len(words))
        rest = [word for word in words[runs + 1 :] if word != "--recursive"]
        yield rest[0] if len(rest) == 1 else shlex.join(rest)


def _behind_host(words: tuple[str, ...]) -> tuple[str, ...]:
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _SSH_VALUES
        else:
            return words[at + 1 :]
    return ()


def in_variables(text: str) -> Iterator[str]:
    """Commands in variables that other programs run: `PAGER='…' man ls`."""
    if "=" in text:
        yield from (one or two for one, two in _RUN_VARIABLE.compiled.findall(text))


def by_alias(text: str, steps: tuple[Step, ...]) -> Iterator[str]:
    """Commands under the names that `alias` gave them."""
    if "alias" not in text:
        return
    known = {name: one or two or bare for name, one, two, bare in _ALIAS.compiled.findall(text)}
    for step in steps:
        if step.program in known:
            yield f"{known[step.program]} {shlex.join(step.words)}"


def in_text(text: str) -> Iterator[str]:
    """Harmful commands in what a program that runs its input is given."""
    for line in text.replace("\\n", "\n").splitlines():
        found = _HARMFUL.compiled.search(line)
        if found is not None:
            yield found[0]


def in_code(code: str, program: str = "") -> Iterator[str]:
    """Shell commands that a piece of code runs, as far as they stand in it as text; `program` is who reads it."""
    from seasoned.command import python_tree

    tree = python_tree.parse_code(code) if is_python(program) else None
    if tree is not None:
        yield from python_tree.commands(tree, _RUNNERS)
        return
    for found in _CODE_RUNS.compiled.finditer(code[:_MOST_CODE]):
        given = found["given"]
        if given is not None:
            literals = [re.sub(r"\\(.)", r"\1", one or two) for one, two in _LITERAL.compiled.findall(given)]
            yield " ".join(literals)
        else:
            held = found["before"] or found["piped"]
            if held is None or program in _WITHOUT_SHELL or found["before"]:
                yield (found["quoted"] or found["ticks"] or found["bare"] or held or "").strip("\"'")
