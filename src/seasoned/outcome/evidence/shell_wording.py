"""Judges the output of a shell command by its words, knowing which programs could have said them."""

from __future__ import annotations

import msgspec

from seasoned.command.parse import Step, deciding, names, parse
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.exit_code import answer_no
from seasoned.outcome.verdict import Verdict
from seasoned.outcome.wording.compiler import BUILD_FAILURES, BUILD_SUCCESSES, HOOKS, PACKAGE
from seasoned.outcome.wording.file_tool import WRITE_FAILURES
from seasoned.outcome.wording.http import CURL
from seasoned.outcome.wording.program import DATABASE, GENERIC, GH
from seasoned.outcome.wording.python import INTERPRETER
from seasoned.outcome.wording.rule import OutputText, WordingRule, find, find_all, first
from seasoned.outcome.wording.shell import GIT, PROGRAM_OWN, SHELL_OWN
from seasoned.outcome.wording.test_runner import TEST_FAILURES, TEST_SUCCESSES

# Programs that show what lies in files, in histories or on the web: their output is content, not speech.
_SHOW = names(
    "cat bat sed awk gawk head tail less more nl grep egrep fgrep zgrep rg ag ack find fd ls tree wc sort uniq cut tr"
    " diff cmp comm stat file du df echo printf jq yq xxd hexdump od strings base64 column paste tee rev tac pwd cd"
    " date env printenv which type command whoami hostname uname basename dirname realpath readlink md5 md5sum"
    " sha256sum shasum ps pgrep lsof history journalctl dmesg pbpaste curl wget true : test [ [[ sleep export set read"
    " mkdir touch cp mv rm ln chmod chown tmux screen open xargs man whatis help sqlite3 psql seq yes local return"
    " declare trap wait unset shift"
)
# The same for programs whose subcommand decides.
_SHOW_SUB = {
    "git": names(
        "show diff log blame grep cat-file status branch ls-files ls-tree ls-remote reflog remote rev-parse rev-list"
        " config stash shortlog describe tag worktree whatchanged for-each-ref format-patch"
    ),
    "gh": names("pr issue api run release repo search gist"),
    "docker": names("logs inspect ps images"),
    "kubectl": names("logs get describe"),
    "npm": names("view info show ls list"),
}
# Programs that print nothing when all went well.
_QUIET = names(
    "mkdir touch cp mv rm rmdir ln chmod chown cd export set sleep kill true : echo printf sed tee git go gofmt"
    " goimports cat tar unzip rsync tsc mypy ruff eslint prettier source . make cargo ls head tail sort jq curl find"
    " cut awk python python3 node"
)


def judge_shell(text: str, command: str | None, *, shows_code: bool = False) -> Verdict:
    """What the output of a command says about it. `shows_code`: a non-zero code would stand in the text."""
    steps = parse(command) if command else ()
    deciders = deciding(steps)
    static = _status_in_command(deciders)
    if static is not None:
        return static
    speech = OutputText(text)
    if not speech.stripped:
        return _silence(deciders, command or "")
    ran = _CommandSteps(steps, deciders)
    found = _failure(speech, ran, shows_code=shows_code)
    if found is not None:
        return found
    worked = (first(TEST_SUCCESSES, speech) or first(BUILD_SUCCESSES, speech)) if ran.runs else None
    if worked is not None:
        return worked.says()
    return Verdict("ok", "none", "none", "There is output, and nothing in it says that the command failed.")


def hidden_test_failure(text: str, command: str | None) -> WordingRule | None:
    """Tests that failed in a command that is recorded as a success, because a pipe or another command hid it."""
    # Only what is joined to something else can be hidden by it: most commands are done with that question.
    if not command or not any(sign in command for sign in _JOINS) or not any(word in text for word in _FAILS):
        return None
    steps = parse(command)
    ran = _CommandSteps(steps, deciding(steps))
    return first(TEST_FAILURES, OutputText(text)) if ran.runs and ran.hidden else None


_JOINS = ("|", ";", "&", "\n")
_FAILS = ("fail", "FAIL", "Fail")


def _status_in_command(deciders: tuple[Step, ...]) -> Verdict | None:
    """`false` and `exit 3` say themselves how they end."""
    if not deciders:
        return None
    last = deciders[-1]
    if last.program == "false" or (last.program in ("exit", "return") and last.words[:1] not in ((), ("0",))):
        if last.words[:1] and not last.words[0].isdigit():
            return None
        return Verdict(
            "failed", "wording", "call", f"The command itself ends with {' '.join((last.program, *last.words))}."
        )
    return None


def _silence(deciders: tuple[Step, ...], command: str) -> Verdict:
    """Nothing was said: by custom that is success, and for a search it means that nothing was found."""
    if not deciders:
        return Verdict("unclear", "none", "none", "Nothing was said, and what ran is not known.")
    last = deciders[-1]
    for step in (last, deciders[0]):
        no = answer_no(step)
        if no is not None:
            return Verdict("ok", "wording", "none", f"No output of {step.program}: {no}.")
    if last.program in _PRINTERS and _MUTED.compiled.search(command):
        return Verdict("unclear", "none", "none", f"{last.program} said nothing, and its complaints were thrown away.")
    if all(step.program in _QUIET for step in deciders):
        return Verdict("ok", "wording", "none", f"{last.program} says nothing when all went well.")
    return Verdict("unclear", "none", "none", f"{last.program} said nothing.")


_CLIS = frozenset(_SHOW_SUB) - {"git"}  # git has its own rules
# Programs from which silence is suspicious when errors were thrown away.
_PRINTERS = names("ls cat head tail jq curl awk find stat git python python3 node cut sort")
_MUTED = LazyRegex(r"(?:2|&)>\s*/dev/null")


def _is_show(step: Step) -> bool:
    subs = _SHOW_SUB.get(step.program)
    return step.program in _SHOW if subs is None else step.sub in subs


class _CommandSteps(msgspec.Struct, frozen=True):
    """The programs of a command, and those whose exit status is the command's."""

    steps: tuple[Step, ...]
    deciders: tuple[Step, ...]

    @property
    def names(self) -> set[str]:
        return {step.program for step in self.deciders}

    @property
    def runs(self) -> bool:
        """Whether anything runs that speaks for itself and does not merely show content."""
        return not self.steps or any(not _is_show(step) for step in self.steps if step.join != "|")

    @property
    def hidden(self) -> bool:
        """Whether the status of what spoke is lost: it went through a pipe, or something else came last."""
        if not self.steps:
            return False
        head = len(self.steps) - 1
        while head > 0 and self.steps[head].join == "|":
            head -= 1
        if _is_show(self.steps[-1]) and not _is_show(self.steps[head]):
            return self.steps[-1] not in self.deciders or len(self.deciders) == 1 or not _pipefail(self.steps)
        return all(_is_show(step) for step in self.deciders)

    @property
    def inline(self) -> bool:
        """Whether what decides is code given on the command line: it prints whatever it likes."""
        return any(
            step.program.startswith(("python", "node", "bun", "deno", "perl", "ruby")) and _INLINE & set(step.words[:2])
            for step in self.deciders
        )

    def repeats(self, program: str) -> bool:
        """Whether a program that decides also ran earlier without deciding."""
        return sum(step.program == program for step in self.steps) > sum(s.program == program for s in self.deciders)


# Programs that run others and complain in their own name when they cannot.
_AROUND = frozenset({"sudo", "env", "timeout", "xargs", "nohup", "npx", "uvx"})
_INLINE = frozenset({"-c", "-e", "-p", "--eval", "-"})


def _pipefail(steps: tuple[Step, ...]) -> bool:
    return any(step.program == "set" and "pipefail" in step.words for step in steps)


def _failure(speech: OutputText, ran: _CommandSteps, *, shows_code: bool) -> Verdict | None:
    deciding_names = ran.names
    own = _own_words(speech, ran, shows_code=shows_code)
    if own is not None:
        return own
    if ran.runs and (tests := first(TEST_FAILURES, speech)):
        return _hidden(tests) if shows_code and ran.hidden else tests.says()
    if "git" in deciding_names or not ran.steps:
        for rule in GIT:
            if _git_speaks(rule, speech, ran):
                return rule.says()
    if "git" in deciding_names and not ran.hidden and (hook := first(HOOKS, speech)):
        return hook.says()
    named = _named_tools(speech, deciding_names)
    if named is not None:
        return named.says()
    if not ran.runs:
        return _cli_usage(speech, ran)
    found = first(INTERPRETER, speech)
    if found is None and not ran.inline:
        found = first(BUILD_FAILURES, speech)
    if found is None:
        return _weak_words(speech, ran, shows_code=shows_code)
    return _hidden(found) if ran.hidden else found.says()


def _weak_words(speech: OutputText, ran: _CommandSteps, *, shows_code: bool) -> Verdict | None:
    """What any program may say when it fails, and may also say when it does not."""
    if ran.inline or first(TEST_SUCCESSES, speech) is not None:
        return None
    found = first(GENERIC, speech)
    if found is None:
        return None
    if ran.hidden:
        return _hidden(found)
    if shows_code:
        return Verdict("unclear", "wording", found.fault, f"{found.reason[:-1]}, it seems, but no exit code is shown.")
    return found.says()


def _hidden(rule: WordingRule) -> Verdict:
    return Verdict(
        "unclear", "wording", rule.fault, f"{rule.reason[:-1]}, it seems, but what came last hides how it ended."
    )


def _named_tools(speech: OutputText, programs: set[str]) -> WordingRule | None:
    """Tools that always speak in the same few words, whatever they show."""
    if programs & {"curl", "wget"} and (rule := first(CURL, speech)):
        return rule
    if "gh" in programs and (rule := first(GH, speech)):
        return rule
    if programs & {"psql", "sqlite3", "mysql", "mariadb"} and (rule := first(DATABASE, speech)):
        return rule
    if programs & {"npm", "npx", "pnpm", "yarn"} and (rule := first(PACKAGE, speech)):
        return rule
    return first(WRITE_FAILURES, speech) if "apply_patch" in programs else None


def _cli_usage(speech: OutputText, ran: _CommandSteps) -> Verdict | None:
    """Programs that show things complain about a wrong call in their very first words."""
    if not ran.steps or len(ran.deciders) < len(ran.steps) or ran.deciders[-1].program not in _CLIS:
        return None
    if ran.deciders[-1].sub == "logs":
        return None
    found = first(GENERIC, OutputText(speech.first_lines.split("\n", 1)[0]))
    return found.says() if found is not None else None


def _own_words(speech: OutputText, ran: _CommandSteps, *, shows_code: bool) -> Verdict | None:
    """Complaints that name who complains: the shell, or a program whose status is the command's."""
    for rule in SHELL_OWN:
        hit = find(rule, speech)
        if hit is not None and _shell_means_the_end(hit.groupdict(), ran):
            return _hidden(rule) if ran.hidden and _SCRIPT.compiled.match(hit.group()) else rule.says()
    for rule in PROGRAM_OWN:
        for hit in find_all(rule, speech):
            program = hit["program"]
            if not ran.steps:
                if program.islower():
                    return rule.says()
            elif (program in ran.names or program in _AROUND) and (
                not ran.repeats(program) or hit.string.find("\n", hit.end()) < 0
            ):
                return _partly(rule, speech, program, shows_code=shows_code)
    return None


def _partly(rule: WordingRule, speech: OutputText, program: str, *, shows_code: bool) -> Verdict:
    """`find` complains about one folder and goes on: what else it says was found."""
    others = [line for line in speech.first_lines.splitlines() if not line.startswith(f"{program}: ")]
    if program == "find" and (others or shows_code):
        return Verdict("unclear", "wording", rule.fault, "find could not look everywhere.")
    return rule.says()


def _shell_means_the_end(groups: dict[str, str | None], ran: _CommandSteps) -> bool:
    if not ran.steps:
        return True
    glob = groups.get("glob")
    if glob:
        return any(glob in step.words for step in ran.deciders) or not any(glob in step.words for step in ran.steps)
    name = groups.get("program") or groups.get("other") or groups.get("bare") or groups.get("file")
    # What the shell did not find inside a substitution or an earlier step does not end the command;
    # a path that is not a program is the target of a redirection, which ends its step.
    if name is None or name.rsplit("/", 1)[-1] in ran.names:
        return True
    return "/" in name and not _mentions(ran.steps, name) and all(step.join in ("", "&&", "|") for step in ran.steps)


def _mentions(steps: tuple[Step, ...], name: str) -> bool:
    return any(step.program == name.rsplit("/", 1)[-1] for step in steps)


_SCRIPT = LazyRegex(r"\S+\.sh:")


def _git_speaks(rule: WordingRule, speech: OutputText, ran: _CommandSteps) -> bool:
    last = next((step for step in reversed(ran.deciders) if step.program == "git"), None)
    subs = {step.sub for step in ran.deciders if step.program == "git"}
    if rule.name == "nothing to commit" and ran.steps and (last is None or last.sub != "commit"):
        return False
    if rule.name == "git conflict" and ran.steps and not subs & _JOINING:
        return False
    # An earlier git command without a say may have complained; the last line is the last one's.
    repeats = ran.repeats("git")
    return any(not repeats or hit.string.find("\n", hit.end()) < 0 for hit in find_all(rule, speech))


_JOINING = names("merge rebase cherry-pick revert pull stash push am checkout switch apply fetch")
