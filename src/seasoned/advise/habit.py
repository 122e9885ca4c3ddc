"""What sessions of a project do again and again: search, wait, leave checks failing, call tools that never work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from seasoned.admission import admit_written
from seasoned.advise.advice import Advice, AdviceEvidence, AdviceStep, code, make_advice
from seasoned.command.parse import names
from seasoned.experience.evidence import FormUse, form_uses
from seasoned.experience.lesson import PURPOSES
from seasoned.insight.mistake.failure import cause_of
from seasoned.insight.track import JudgedCall, Track
from seasoned.lazy_regex import LazyRegex
from seasoned.text import plural

# Files that say how a project is built and tested. A session that reads one before its first test was looking for that.
_SAYS_HOW = LazyRegex(
    r"(?:^|[\s/\"'=])(package\.json|[Mm]akefile|[Jj]ustfile|\.?mise\.toml|mise-tasks|pyproject\.toml|tox\.ini|noxfile\.py"
    r"|Taskfile\.ya?ml|build\.gradle(?:\.kts)?|pom\.xml|CONTRIBUTING\.md|\.github/workflows)(?=[\s\"'|;&)/]|$)"
)
_LISTS_TASKS = LazyRegex(
    r"^\s*(?:mise tasks|(?:npm|pnpm|yarn|bun) run|just --list|make help|task --list|poe)\s*(?:[|;&2]|$)"
)
_FILE = LazyRegex(r"\w/\S*\.\w+$|^\w[\w-]*\.(?:py|ts|tsx|js|go|rs|rb|java)$|::")
_WALL = LazyRegex(r"(?:Wall time:? |\"wall_time_seconds\": ?)([\d.]+)")
# Everyone knows these; a line about them says nothing.
_COMMON = names("git gh glab docker kubectl brew apt apt-get ssh aws gcloud az curl")
# The same in every project of their language: no session looks for them.
_OF_LANGUAGE = names("go gofmt cargo rustfmt swift dotnet")
_VERBS = {
    "test": "tested",
    "check": "checked",
    "format": "formatted",
    "build": "built",
    "install": "set up",
    "run": "run",
}
_CHECKS = ("test", "check", "build", "format")
_FEWEST_RUNS = 3
_FEWEST_SESSIONS = 2
_LOOKED_SHARE = 3  # one in three
_SLOW_SECONDS = 60.0
_SURELY_SECONDS = 30.0
_MOST_SECONDS = 1800.0
_FEWEST_FAILURES = 4
_FEWEST_UNFINISHED = 3
_UNFINISHED_SHARE = 4
_FEWEST_KNOWN = 8
_COSTLY = 8  # times the usual tokens, and at least this many failures
_COSTLY_SHARE = 4  # one call in four failed
_LONG_PARTS = 3
_LONG_CHARS = 80
_MOST_CHARS = 400


class _Command(msgspec.Struct):
    """One command of a project in all sessions that ran it."""

    purpose: str
    ran: dict[str, float]  # lineages in which it worked, each with when it last did
    looked: dict[str, tuple[int, float, str]]  # those that looked first: calls, seconds, and a session
    files: Counter[str]
    texts: dict[str, set[str]]  # how it was written, each with the lineages
    seconds: list[tuple[float, str, float, str]]  # how long it took: lineage, time, session


class _Tool(msgspec.Struct):
    outcomes: Counter[str]
    failed: dict[str, float]
    refs: list[str]
    agents: Counter[str]


class ProjectHabits:
    """Collects what the sessions of one project do, one session at a time."""

    def __init__(self, project: str | None) -> None:
        self.project = project
        self.lineages: dict[str, float] = {}
        self.agents: Counter[str] = Counter()
        self._commands: dict[str, _Command] = {}
        self._tools: dict[str, _Tool] = {}
        self._long: dict[str, dict[str, float]] = {}
        self._tokens: Counter[str] = Counter()
        self._outcomes: dict[str, Counter[str]] = {}
        self._refs: dict[str, str] = {}
        # How the last test, check and build of each lineage ended: when, whether it worked, its form and session.
        self._checks: dict[str, dict[str, tuple[float, bool, str, str]]] = {}

    def add(self, track: Track) -> None:
        """Add one session."""
        if not track.calls:
            return
        ended = track.ended or track.started or 0.0
        if track.root not in self.lineages:
            self.agents[track.ref.agent] += 1
        self.lineages[track.root] = max(self.lineages.get(track.root, 0.0), ended)
        self._tokens[track.root] += track.usage.total or 0
        self._outcomes.setdefault(track.root, Counter()).update(call.counts_as for call in track.calls)
        self._refs.setdefault(track.root, str(track.ref))
        looks: list[tuple[str, float]] = []
        for at, call in enumerate(track.calls):
            taken = _seconds(track.calls, at)
            self._add_tool(track, call, ended)
            named = _looks_at(call)
            if named:
                looks.append((named, min(taken or 0.0, _SLOW_SECONDS)))
            uses = list(form_uses(call, track.cwd))
            for use in uses:
                self._add_use(track, call, use, looks, taken if len(uses) == 1 else None)
            if len(uses) >= _LONG_PARTS and call.verdict == "ok" and call.command is not None:
                text = call.command.strip()
                if _LONG_CHARS <= len(text) <= _MOST_CHARS and text.isprintable():
                    self._long.setdefault(text, {})[track.root] = ended

    def count(self, other: ProjectHabits) -> None:
        """Count the sessions of another project too."""
        self.agents.update(other.agents)
        self.lineages.update(other.lineages)

    def _add_tool(self, track: Track, call: JudgedCall, ended: float) -> None:
        tool = self._tools.setdefault(call.tool, _Tool(Counter(), {}, [], Counter()))
        tool.outcomes[call.counts_as] += 1
        if call.has_failed:
            if track.root not in tool.failed:
                tool.refs.append(str(track.ref))
                tool.agents[track.ref.agent] += 1
            tool.failed[track.root] = call.time or ended

    def _add_use(
        self, track: Track, call: JudgedCall, use: FormUse, looks: list[tuple[str, float]], taken: float | None
    ) -> None:
        if use.purpose == "other" or use.form.rpartition("&& ")[2].split()[0] in _COMMON:
            return
        one = self._commands.setdefault(use.form, _Command(use.purpose, {}, {}, Counter(), {}, []))
        at = call.time or track.ended or 0.0
        if taken is not None and use.worked is not None:
            one.seconds.append((taken, track.root, at, str(track.ref)))
        if use.purpose in _CHECKS and use.worked is not None:
            ends = self._checks.setdefault(use.purpose, {})
            # A check that could not run says nothing about the work.
            if (use.worked or cause_of(call) is None) and (track.root not in ends or ends[track.root][0] <= at):
                ends[track.root] = (at, use.worked, use.form, str(track.ref))
        if not use.worked:
            return
        if use.is_whole:
            one.texts.setdefault(use.text, set()).add(track.root)
        if track.root not in one.ran and looks:
            one.looked[track.root] = (len(looks), sum(seconds for _, seconds in looks), str(track.ref))
            one.files.update({name for name, _ in looks})
        one.ran[track.root] = at

    # -- advice -------------------------------------------------------------------------------------------------------

    def advice(self, told: frozenset[str]) -> Iterator[Advice]:
        """All advice; `told` are the forms on the sheet, which sessions of a connected agent see at their start."""
        yield from self._looked_for(told)
        yield from self._slow()
        yield from self._failing_tools()
        yield from self._unfinished()
        yield from self._costly()
        yield from self._scripts()

    @property
    def agent(self) -> str:
        """The agent of most sessions."""
        return self.agents.most_common(1)[0][0] if self.agents else ""

    def _looked_for(self, told: frozenset[str]) -> Iterator[Advice]:
        best: dict[str, Advice] = {}
        for form, one in self._commands.items():
            looked = len(one.looked)
            if len(one.ran) < _FEWEST_RUNS or looked < _FEWEST_SESSIONS:
                continue
            text = self._text(form, one)
            if _LOOKED_SHARE * looked < len(one.ran) or text is None or one.purpose not in _VERBS:
                continue
            if form.rpartition("&& ")[2].split()[0] in _OF_LANGUAGE:
                continue
            where = " and ".join(name for name, _ in one.files.most_common(2))
            evidence = AdviceEvidence(
                sessions=looked,
                among=len(one.ran),
                calls=sum(calls for calls, _, _ in one.looked.values()),
                minutes=sum(seconds for _, seconds, _ in one.looked.values()) / 60,
                last_seen=max(one.ran.values()),
                refs=tuple(ref for _, _, ref in one.looked.values())[:5],
                note=f"they read {where} before they ran it",
            )
            line = f"{PURPOSES[one.purpose]} with {code(text)}."
            said = f"Say how this project is {_VERBS[one.purpose]}: {code(text)}."
            happened = {root: one.ran[root] for root in one.looked}
            step = AdviceStep("instruction", line, self.agent, text)
            advice = make_advice("command", self.project, f"looked\n{form}", said, evidence, step, happened)
            advice = msgspec.structs.replace(advice, is_on_sheet=form in told)
            known = best.get(one.purpose)
            # One command for each purpose: the others are variants of it.
            if known is None or (advice.evidence.among, form) > (known.evidence.among, known.subject):
                best[one.purpose] = advice
        yield from best.values()

    def _slow(self) -> Iterator[Advice]:
        for form, one in self._commands.items():
            roots = {root: at for _, root, at, _ in one.seconds}
            times = sorted(seconds for seconds, *_ in one.seconds)
            if len(times) < _FEWEST_RUNS or len(roots) < _FEWEST_SESSIONS:
                continue
            # The lower quartile too: waiting for a person makes a few calls long, not most of them.
            usual, quick = times[len(times) // 2], times[len(times) // 4]
            text = self._text(form, one) or (form if admit_written("shell", form, self.project or "") else None)
            if usual < _SLOW_SECONDS or quick < _SURELY_SECONDS or text is None:
                continue
            took = plural(round(usual / 60), "minute")
            line = f"{code(text)} takes about {took}: run it in the background, and only when it is needed."
            evidence = AdviceEvidence(
                sessions=len(roots),
                among=len(self.lineages),
                calls=len(times),
                minutes=sum(times) / 60,
                last_seen=max(roots.values()) or None,
                refs=tuple(dict.fromkeys(ref for *_, ref in one.seconds))[:5],
                note=f"half of its {len(times)} runs took longer than {round(usual)} seconds",
            )
            said = f"Run {code(text)} in the background: it takes about {took}."
            step = AdviceStep("instruction", line, self.agent)
            yield make_advice("slow", self.project, f"slow\n{form}", said, evidence, step, roots)

    def _failing_tools(self) -> Iterator[Advice]:
        for name, one in self._tools.items():
            failures = one.outcomes["failed"]
            if failures < _FEWEST_FAILURES or len(one.failed) < _FEWEST_SESSIONS or one.outcomes["ok"]:
                continue
            if one.outcomes["unclear"] or not admit_tool(name):
                continue
            evidence = AdviceEvidence(
                sessions=len(one.failed),
                among=len(self.lineages),
                calls=failures,
                last_seen=max(one.failed.values()) or None,
                refs=tuple(one.refs[:5]),
                note=f"{failures} of {failures} calls failed",
            )
            agent = one.agents.most_common(1)[0][0]
            kind = "permission" if agent == "claude-code" and name.startswith("mcp__") else "instruction"
            line = f"Do not call {code(name)}: it never works here."
            step = AdviceStep(kind, name if kind == "permission" else line, agent)  # type: ignore[arg-type]
            said = f"Remove the tool {code(name)}, or repair it: no call of it ever worked."
            yield make_advice("tool", self.project, f"tool\n{name}", said, evidence, step, one.failed)

    def _unfinished(self) -> Iterator[Advice]:
        """Sessions that ended with a failing check: their cost brought no lasting result."""
        for purpose, ends in self._checks.items():
            left = {root: at for root, (at, worked, _, _) in ends.items() if not worked}
            # Where hardly anything passes, the check itself is the problem.
            if len(left) < _FEWEST_UNFINISHED or not len(ends) / _UNFINISHED_SHARE <= len(left) <= len(ends) / 2:
                continue
            form = Counter(form for root, (_, _, form, _) in ends.items() if root in left).most_common(1)[0][0]
            text = self._text(form, self._commands[form])
            if text is None:
                continue
            evidence = AdviceEvidence(
                sessions=len(left),
                among=len(ends),
                calls=0,
                tokens=sum(self._tokens[root] for root in left) or None,
                last_seen=max(left.values()) or None,
                refs=tuple(ref for root, (_, _, _, ref) in ends.items() if root in left)[:5],
                note="their last run failed",
            )
            line = f"Before you finish, run {code(text)} until it passes."
            said = f"Have sessions end with a passing {code(text)}."
            step = AdviceStep("instruction", line, self.agent)
            yield make_advice("cost", self.project, f"unfinished\n{purpose}", said, evidence, step, left)

    def _costly(self) -> Iterator[Advice]:
        """One session that used many times what others use, while much of what it tried failed."""
        known = {root: tokens for root, tokens in self._tokens.items() if tokens}
        if len(known) < _FEWEST_KNOWN:
            return
        usual = sorted(known.values())[len(known) // 2]
        for root, tokens in known.items():
            counts = self._outcomes[root]
            counted = counts["ok"] + counts["failed"]
            if tokens < _COSTLY * usual or counts["failed"] < _COSTLY or _COSTLY_SHARE * counts["failed"] < counted:
                continue
            evidence = AdviceEvidence(
                sessions=1,
                among=len(known),
                calls=counts["failed"],
                tokens=tokens,
                last_seen=self.lineages[root] or None,
                refs=(self._refs[root],),
                note=f"{round(tokens / usual)} times the usual tokens; {counts['failed']} of {counted} calls failed",
            )
            said = f"Look at what went wrong in {code(self._refs[root])}."
            step = AdviceStep("manual", f"Read the session: `seasoned show {self._refs[root]}`.")
            yield make_advice(
                "cost", self.project, f"costly\n{root}", said, evidence, step, {root: self.lineages[root]}
            )

    def _scripts(self) -> Iterator[Advice]:
        """A long command that sessions write out again and again."""
        for text, roots in self._long.items():
            if len(roots) < _FEWEST_RUNS or not admit_written("shell", text, self.project or ""):
                continue
            name = _script_name(text)
            evidence = AdviceEvidence(
                sessions=len(roots),
                among=len(self.lineages),
                calls=len(roots),
                last_seen=max(roots.values()) or None,
                note=f"{len(text)} characters, the same each time",
            )
            said = f"Keep the command that {plural(len(roots), 'session')} wrote out as {code(f'scripts/{name}')}."
            step = AdviceStep("script", text, self.agent, name)
            yield make_advice("script", self.project, f"script\n{text}", said, evidence, step, roots)

    def _text(self, form: str, one: _Command) -> str | None:
        """How most sessions write a command, if that may be shown; None if each writes it in another way."""
        text = max(one.texts, key=lambda text: (len(one.texts[text]), -len(text), text), default=None)
        if text is None or len(one.texts[text]) < max(_FEWEST_SESSIONS, len(one.ran) / 3):
            return None
        # A file that a session worked on says nothing to the next one.
        if any(_FILE.compiled.search(word) for word in text.split()[len(form.split()) :]):
            text = form
        return text if admit_written("shell", text, self.project or "") else None

    def happened(self, subject: str) -> Mapping[str, float] | None:
        """The lineages in which something happened that was advised about earlier; None if it is not a habit."""
        kind, _, name = subject.partition("\n")
        one = self._commands.get(name)
        match kind:
            case "looked":
                return {} if one is None else {root: one.ran[root] for root in one.looked}
            case "slow":
                return {} if one is None else {root: at for _, root, at, _ in one.seconds}
            case "unfinished":
                return {root: at for root, (at, worked, _, _) in self._checks.get(name, {}).items() if not worked}
            case "tool":
                return self._tools[name].failed if name in self._tools else {}
            case "script":
                return self._long.get(name, {})
        return None


_PLAIN_TOOL = LazyRegex(r"[\w.:-]{1,80}\Z")


def admit_tool(name: str) -> bool:
    """Whether the name of a tool may stand in a file that a model reads."""
    return _PLAIN_TOOL.compiled.match(name) is not None


def _looks_at(call: JudgedCall) -> str:
    """The file that says how the project is worked on, if a call reads one; empty if not."""
    if call.verdict != "ok":
        return ""
    if call.command is not None:
        if _LISTS_TASKS.compiled.search(call.command):
            return "the list of tasks"
        found = _SAYS_HOW.compiled.search(call.command[:400])
        # A commit or an edit that names the file is not a look.
        reads = re.match(r"\s*(?:cd \S+ && )?(?:cat|sed -n|head|tail|less|bat|jq|rg|grep|nl|awk)\b", call.command)
        return found[1] if found and reads else ""
    if call.kind != "file" or any(name in call.arguments for name in ("old_string", "content", "new_string")):
        return ""
    path = call.arguments.get("file_path") or call.arguments.get("path") or ""
    found = _SAYS_HOW.compiled.search(path) if isinstance(path, str) else None
    return found[1] if found else ""


def _seconds(calls: tuple[JudgedCall, ...], at: int) -> float | None:
    """How long a call took: as its result says, else until the next call; None if neither is known."""
    call = calls[at]
    said = _WALL.compiled.search((call.result or "")[:300])
    if said:
        return min(float(said[1]), _MOST_SECONDS)
    if at + 1 >= len(calls) or call.time is None:
        return None
    after = calls[at + 1]
    # Calls of one message run side by side; after a few messages the user may have been asked.
    if after.time is None or not 0 < after.message - call.message <= 2:
        return None
    return min(after.time - call.time, _MOST_SECONDS) if after.time >= call.time else None


def _script_name(text: str) -> str:
    words = [
        word for word in re.findall(r"[a-z][a-z0-9]{2,}", text.lower()) if word not in ("set", "and", "cmd", "run")
    ]
    return "-".join(list(dict.fromkeys(words))[:3]) + ".sh"
