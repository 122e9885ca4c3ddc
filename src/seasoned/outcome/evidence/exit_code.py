"""What an exit code means: not every non-zero one is a failure."""

from __future__ import annotations

from seasoned.command.parse import Step, deciding, parse

# `gh pr checks` ends with 8 while checks are pending.
_PENDING = 8
MAY_BE_AN_ANSWER = (1, _PENDING)
# Exit 1 is the answer "no" of these programs, not an error; errors are 2 and above.
_MATCHERS = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "pidof", "ripgrep", "findstr"})
_COMPARERS = frozenset({"diff", "cmp", "colordiff", "sdiff"})
_CONDITIONS = frozenset({"test", "[", "[[", "expr"})
_SEEKERS = frozenset({"which", "whereis", "type", "hash"})


def answer_no(step: Step) -> str | None:
    """What exit 1 of this program says when it is not an error; None when it is one."""
    program = step.program
    if program in _MATCHERS:
        return "nothing matched"
    if program in _COMPARERS:
        return "the files differ"
    if program in _CONDITIONS:
        return "the condition is false"
    if program in _SEEKERS or (program == "command" and step.words[:1] in (("-v",), ("-V",))):
        return "there is no such program"
    if program == "ssh-add" and {"-l", "-L"} & set(step.words):
        return "the agent holds no keys"
    if program == "git":
        return _git(step)
    return None


def _git(step: Step) -> str | None:
    sub = step.sub
    if sub == "grep":
        return "nothing matched"
    if sub == "diff" and ("--exit-code" in step.words or "--quiet" in step.words or "--no-index" in step.words):
        return "there are differences"
    if sub == "config" and asks_for_a_key(step.words):
        return "the key is not set"
    if sub == "merge-base" and "--is-ancestor" in step.words:
        return "it is not an ancestor"
    if sub == "check-ignore":
        return "nothing is ignored"
    if sub == "show-ref" or (sub == "rev-parse" and ("-q" in step.words or "--quiet" in step.words)):
        return "there is no such ref"
    return None


def asks_for_a_key(words: tuple[str, ...]) -> bool:
    """`git config user.name` and `git config --get user.name` ask; with a value behind it, it sets."""
    if any(word.startswith("--get") for word in words):
        return True
    after = words[words.index("config") + 1 :]
    return len([word for word in after if not word.startswith("-")]) == 1 and not {"--unset", "--unset-all"} & set(
        words
    )


def benign(command: str | None, code: int, *, silent: bool) -> str | None:
    """Why a non-zero code is not a failure of this command; None when it is one. `silent`: there was no output."""
    if code not in MAY_BE_AN_ANSWER or not command:
        return None
    steps = deciding(parse(command))
    if not steps:
        return None
    if code == _PENDING:
        asks = steps[-1].program == "gh" and steps[-1].sub == "pr" and "checks" in steps[-1].words
        return "checks are pending" if asks else None
    # In `grep x f && cat f` without any output it was grep that ended it: it was the last to run.
    return answer_no(steps[-1]) or (answer_no(steps[0]) if silent else None)
