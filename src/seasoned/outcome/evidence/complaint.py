"""Finds the complaint in what a command printed, knowing which programs could have said it."""

from __future__ import annotations

import re

from seasoned.command.parse import names
from seasoned.outcome.evidence.shell_command import CLIS, ShellCommand
from seasoned.outcome.verdict import Verdict
from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, WordingRule, find, find_all, first

# Programs that run others and complain in their own name when they cannot.
_AROUND = frozenset({"sudo", "env", "timeout", "xargs", "nohup", "npx", "uvx"})


def complaint(speech: OutputText, ran: ShellCommand, *, shows_code: bool, weak: bool = True) -> Verdict | None:
    """The failure that the programs that are asked speak of. `weak`: also in words that any program may say."""
    own = _own_words(speech, ran, shows_code=shows_code)
    if own is not None:
        return own
    # Beside content that is shown, git alone says nothing about tests and builds: a title in a log may.
    builds = ran.works and (weak or any(step.program != "git" for step in ran.asked))
    if builds and (tests := first(programs.TEST_FAILURES, speech)):
        return tests.says()
    if "git" in ran.names or not ran.steps:
        for rule in programs.GIT:
            if _git_speaks(rule, speech, ran):
                return rule.says()
    for tool, rules in _NAMED_TOOLS:
        if not tool.isdisjoint(ran.names) and (named := first(rules, speech)):
            return named.says()
    if not ran.works:
        return _cli_usage(speech, ran)
    found = first(programs.INTERPRETER, speech) if builds else None
    if found is None and builds and not ran.inline:
        found = first(programs.BUILD_FAILURES, speech)
    if found is None:
        return _weak_words(speech, ran, shows_code=shows_code) if weak else None
    return found.says()


def _weak_words(speech: OutputText, ran: ShellCommand, *, shows_code: bool) -> Verdict | None:
    """What any program may say when it fails, and may also say when it does not."""
    if ran.inline:
        return None
    found = first(programs.GENERIC, speech) or _refusal(speech, ran)
    # Tests that passed may have spoken of any error.
    if found is None or first(programs.TEST_SUCCESSES, speech) is not None:
        return None
    if shows_code:
        return Verdict("unclear", "wording", found.fault, f"{found.reason[:-1]}, it seems, but no exit code is shown.")
    return found.says()


def _refusal(speech: OutputText, ran: ShellCommand) -> WordingRule | None:
    """A short answer that begins with a refusal. git is left out: it marks its complaints, and shows titles."""
    if (ran.steps and ran.names <= _TITLES) or any(mark in speech.short for mark in _TICKS):
        return None
    return first(tools.TERSE, speech)


_TITLES = frozenset({"git", "cd"})
_TICKS = ("✓", "✔", "✅", "☑")


# Tools that always speak in the same few words, whatever they show.
_NAMED_TOOLS = (
    (names("curl wget"), tools.CURL),
    (names("gh"), programs.GH),
    (names("npm npx pnpm yarn"), programs.PACKAGE),
    (names("apply_patch"), tools.FILE_FAILURES),
)


def _cli_usage(speech: OutputText, ran: ShellCommand) -> Verdict | None:
    """Programs that show things complain about a wrong call in their very first words."""
    if not ran.steps or len(ran.asked) < len(ran.steps) or ran.asked[-1].program not in CLIS:
        return None
    if ran.asked[-1].sub == "logs":
        return None
    found = first(programs.GENERIC, OutputText(speech.first_lines.split("\n", 1)[0]))
    if found is None and not {"-q", "--jq", "--template", "-t"} & set(ran.asked[-1].words):
        found = _refusal(speech, ran)
    return found.says() if found is not None else None


def _own_words(speech: OutputText, ran: ShellCommand, *, shows_code: bool) -> Verdict | None:
    """Complaints that name who complains: the shell, or a program whose status is the command's."""
    for rule in programs.SHELL_OWN:
        hit = find(rule, speech)
        if hit is not None and _shell_means_the_end(hit, speech, ran):
            return rule.says()
    for rule in programs.PROGRAM_OWN:
        for hit in find_all(rule, speech):
            program = hit["program"]
            if (_speaks_as(program, ran.names) or program in _AROUND) and (
                not ran.repeats(program) or hit.string.find("\n", hit.end()) < 0
            ):
                return _partly(rule, speech, program, shows_code=shows_code)
    return None


def _speaks_as(name: str, programs: set[str]) -> bool:
    """Whether one of the programs complains under this name: `grep` may be `ugrep`, `sed` may be `gsed`."""
    return name in programs or any(len(program) > 2 and name.endswith(program) for program in programs)


def _partly(rule: WordingRule, speech: OutputText, program: str, *, shows_code: bool) -> Verdict:
    """`find` complains about one folder and goes on: what else it says was found."""
    others = [line for line in speech.first_lines.splitlines() if not line.startswith(f"{program}: ")]
    if program == "find" and (others or shows_code):
        return Verdict("unclear", "wording", rule.fault, "find could not look everywhere.")
    return rule.says()


def _shell_means_the_end(hit: re.Match[str], speech: OutputText, ran: ShellCommand) -> bool:
    groups = hit.groupdict()
    glob = groups.get("glob")
    if glob:
        if any(glob in step.words for step in ran.asked):
            return True
        return ran.own and not any(glob in step.words for step in ran.steps)
    name = (
        groups.get("program") or groups.get("other") or groups.get("bare") or groups.get("file") or groups.get("inner")
    )
    # What the shell did not find inside a substitution or an earlier step does not end the command;
    # a path that is not a program is the target of a redirection, which ends its step.
    if name is None or name.rsplit("/", 1)[-1] in ran.names:
        return True
    # A script or a task ran it, and nothing more was said.
    if ran.works and not ran.inline and not groups.get("file") and speech.tail.endswith(hit.group()):
        return True
    return "/" in name and all(step.join in ("", "&&", "|") for step in ran.steps)


def _git_speaks(rule: WordingRule, speech: OutputText, ran: ShellCommand) -> bool:
    # An earlier git command without a say may have complained; the last line is the last one's.
    repeats = ran.repeats("git")
    return any(not repeats or hit.string.find("\n", hit.end()) < 0 for hit in find_all(rule, speech))


def success(speech: OutputText) -> WordingRule | None:
    """The rule by whose words tests passed or a build was clean."""
    return first(programs.TEST_SUCCESSES, speech) or first(programs.BUILD_SUCCESSES, speech)
