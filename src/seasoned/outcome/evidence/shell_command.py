"""What a shell command runs: programs that show, programs that work, and those whose status is lost."""

from __future__ import annotations

import msgspec

from seasoned.command.parse import Step, deciding, names, parse
from seasoned.command.rows import group
from seasoned.lazy_regex import LazyRegex, lazy_property

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


# Programs that show what lies in files, in histories or on the web: their output is content, not speech.
_SHOW = names(
    "cat bat sed awk gawk head tail less more nl grep egrep fgrep zgrep rg ag ack find fd ls tree wc sort uniq cut tr"
    " diff cmp comm stat file du df echo printf jq yq xxd hexdump od strings base64 column paste tee rev tac pwd cd"
    " date env printenv which type command whoami hostname uname basename dirname realpath readlink md5 md5sum"
    " sha256sum shasum ps pgrep lsof history journalctl dmesg pbpaste curl wget true : test [ [[ sleep export set read"
    " mkdir touch cp mv rm ln chmod chown tmux screen open xargs man whatis help sqlite3 psql seq yes local return"
    " declare trap wait unset shift gc gci dir findstr select where"
)
# The same in PowerShell, by the verb of a command; what begins like a value prints that value.
_CMDLETS = (
    *("Get-", "Select-", "Where-", "ForEach-", "Measure-", "Sort-", "Format-", "Out-", "Test-", "Resolve-", "Compare-"),
    *("ConvertFrom-", "ConvertTo-", "Write-", "Group-", "Join-", "Split-", "Set-Location", "Push-Location"),
    *("$", "@", "[System.", "%"),
)
# The same for programs whose subcommand decides.
_SHOW_SUB = {
    "git": names(
        "show diff log blame grep cat-file status branch ls-files ls-tree ls-remote reflog remote rev-parse rev-list"
        " config stash shortlog describe tag worktree whatchanged for-each-ref format-patch show-ref merge-base"
        " diff-index diff-tree diff-files symbolic-ref fsck count-objects check-ignore check-attr name-rev cherry"
        " range-diff var version help verify-pack"
    ),
    "gh": names("pr issue api run release repo search gist"),
    "docker": names("logs inspect ps images"),
    "kubectl": names("logs get describe"),
    "npm": names("view info show ls list"),
}
# Programs with subcommands that complain about a wrong call in their first words; git has its own rules.
CLIS = frozenset(_SHOW_SUB) - {"git"}
# A program that is asked how it is used shows that.
_HELP = names("--help --version -help -version")
# Of those that show, the ones that print whatever lies in a file, a history or on the web.
_DUMP = names(
    "cat bat sed awk gawk head tail less more nl grep egrep fgrep zgrep rg ag ack diff jq yq strings history journalctl"
    " dmesg pbpaste curl wget sqlite3 psql man tmux screen gc type findstr Get-Content Select-String"
)
_DUMP_SUB = {
    "git": names("show diff log blame grep cat-file stash shortlog format-patch range-diff"),
    "gh": names("pr issue api run release repo search gist"),
    "docker": names("logs"),
    "kubectl": names("logs describe"),
    "npm": names("view info show"),
}
# What git subcommands that usually show do with these words: they change the repository.
_GIT_CHANGES = {
    "branch": names("-d -D -m -M -f -u --delete --move --force --set-upstream-to --unset-upstream"),
    "stash": names("push pop apply drop clear save"),
    "worktree": names("add remove move prune repair lock unlock"),
    "remote": names("add remove rm rename set-url set-head set-branches prune update"),
    "tag": names("-a -d -m -s -f --delete --force"),
    "reflog": names("expire delete"),
}
# Programs that print nothing when all went well.
QUIET = names(
    "mkdir touch cp mv rm rmdir ln chmod chown cd export set sleep kill true : echo printf sed tee git go gofmt"
    " goimports cat tar unzip rsync tsc mypy ruff eslint prettier source . make cargo ls head tail sort jq curl find"
    " cut awk python python3 node Remove-Item Set-Content Add-Content Copy-Item Move-Item Out-File Set-Location"
)
# Complaints that are thrown away.
MUTED = LazyRegex(r"(?:2|&)>\s*/dev/null")
# Programs that only lead to what a command is about.
LEADS = names("cd echo printf export set sleep true :")
# Programs whose failure no one waits for.
_AIDS = names(
    "echo printf true : sleep export set wait date pwd local declare trap unset shift return exit read Write-Output"
    " Write-Host Set-Location Push-Location Start-Sleep"
)
# Programs that pass on what comes through a pipe.
_FILTERS = names(
    "head tail grep egrep rg sed awk sort uniq cut tr wc tee cat less more jq column nl xargs fold"
    " findstr select where % ForEach-Object Where-Object Select-Object Sort-Object Measure-Object Select-String"
    " Out-String Out-Host Format-Table Format-List"
)
# `bash -lc "make | tail"` is about what it runs.
_SHELLS = names("sh bash zsh dash")
_RUNS = names("-c -lc -ic -lic")
_LOOP = LazyRegex(r"(?:^|[;&|\n({]|\bdo)\s*(?:for|while|until)\s[^\n]*?(?:;|\n)\s*do\s")
_INLINE = frozenset({"-c", "-e", "-p", "--eval", "-"})
_INTERPRETERS = ("python", "node", "bun", "deno", "perl", "ruby")


def is_show(step: Step) -> bool:
    """Whether a program shows content, so that words in its output are not its own."""
    if not _HELP.isdisjoint(step.words) or step.program.startswith(_CMDLETS):
        return True
    subs = _SHOW_SUB.get(step.program)
    if subs is None:
        return step.program in _SHOW
    return step.sub in subs and not (step.program == "git" and _git_changes(step))


def _dumps(step: Step) -> bool:
    subs = _DUMP_SUB.get(step.program)
    return step.program in _DUMP if subs is None else step.sub in subs


def told_name(step: Step, other: str = "another program") -> str:
    """The name of a program for a reason. Reasons are shown to people: what is not a known program may be a secret."""
    program = step.program
    known = program in _SHOW or program in _SHOW_SUB or program in QUIET or program in group("code")
    return program if known else other


def is_inline(step: Step) -> bool:
    """Whether an interpreter runs code that is given on the command line or in a here-document."""
    return step.program.startswith(_INTERPRETERS) and not _INLINE.isdisjoint(step.words[:2])


def _git_changes(step: Step) -> bool:
    sub = step.sub
    if sub == "config":
        return not asks_for_a_key(step.words) and not {"-l", "--list"} & set(step.words)
    return not _GIT_CHANGES.get(sub, frozenset()).isdisjoint(step.words)


class ShellCommand(msgspec.Struct, frozen=True, dict=True):
    """The programs of a command, and those that are asked how it went."""

    steps: tuple[Step, ...]
    asked: tuple[Step, ...]
    """Those whose exit status is the command's, unless others are asked instead."""
    own: bool = True
    """Whether the status of what is asked is the command's."""
    loops: bool = False
    """The status of a loop is that of its last turn."""

    @lazy_property
    def names(self) -> set[str]:
        return {name for step in self.asked for name in (step.program, *step.behind)}

    @lazy_property
    def works(self) -> bool:
        """Whether anything is asked that speaks for itself and does not merely show content."""
        return not self.steps or any(not is_show(step) for step in self.asked)

    @lazy_property
    def shows_content(self) -> bool:
        """Whether content is shown beside what a program says: its words may be those of a file."""
        return any(step.join != "|" and _dumps(step) for step in self.steps)

    @lazy_property
    def inline(self) -> bool:
        """Whether only code given on the command line is asked: it prints whatever it likes."""
        working = [step for step in self.asked if not is_show(step)]
        return bool(working) and all(is_inline(step) for step in working)

    @lazy_property
    def lost(self) -> tuple[Step, ...]:
        """The programs whose failure the command's status would not tell."""
        asked = set[int]() if self.loops else {id(step) for step in self.asked}
        return tuple(
            [step for at, step in enumerate(self.steps) if id(step) not in asked and not self._is_aid(at, step)]
        )

    def _is_aid(self, at: int, step: Step) -> bool:
        """A filter in a pipe, an `echo`, or what may fail because `||` says so, if it does no work."""
        if step.program in _AIDS or (step.join == "|" and step.program in _FILTERS):
            return True
        # `||` stands behind the whole pipe.
        after = next((one for one in self.steps[at + 1 :] if one.join != "|"), None)
        return after is not None and after.join == "||" and is_show(step)

    def repeats(self, program: str) -> bool:
        """Whether a program that is asked also ran without being asked."""
        return sum(step.program == program for step in self.steps) > sum(s.program == program for s in self.asked)


def read_command(command: str | None) -> ShellCommand:
    """The programs of a command, with those asked whose status is its own."""
    steps = parse(command) if command else ()
    if len(steps) == 1 and steps[0].program in _SHELLS and len(steps[0].words) == 2 and steps[0].words[0] in _RUNS:
        steps = parse(steps[0].words[1])
    loops = command is not None and "done" in command and _LOOP.compiled.search(command) is not None
    return ShellCommand(steps, deciding(steps), loops=loops)
