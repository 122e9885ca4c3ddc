"""What the sessions of a project have taught so far: counted, not weighed.

Sessions are added one by one in the order in which they ended, so that a replay knows at each point exactly what was
known then. Nothing here reads a clock, a store or a disk: the same sessions give the same lessons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec

from seasoned.admission import admit_call, admit_written, is_harmless
from seasoned.command.parse import is_assignment
from seasoned.command.written import Purpose
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.evidence import FailedCall, FormUse, SessionEvidence
from seasoned.lesson.lesson import PURPOSES, FailureKind, Lesson, LessonCost, Way, expectation
from seasoned.lesson.one_off import ELLIPSIS, head_of, outline_of, whole_form, without_one_offs
from seasoned.text import plural

# Chosen on seven projects; docs/design/lesson.md has the figures for other values and for three projects kept aside.
WINDOW = 8  # the newest lineages that did something say how it is done
SHARE = 0.5  # of them, at least this share must have done it in this way
FEWEST = 2  # lineages behind anything that is said unasked
RETIRED_BY = 2  # lineages in which something failed since it last worked silence it
EXPECTED_BY = 3  # lineages in which the same failed and nothing helped say that it will fail again
REPLACED_BY = 3  # lineages that put another way in the place of one that failed; with the checkout on its side, two
NAMED_BY = 3  # lineages in which a program or option worked that may then be shown, though the grammar does not know it
_MOST_TEXTS = 40
_MOST_SESSIONS = 5
_NEEDS_HYPHENS = frozenset(("exec", "x"))
_FIGURES = LazyRegex(r"\d+")
# What every agent tries first. A line about it says nothing, unless sessions here first got it wrong.
_DEFAULTS = (
    "go test|go build|go vet|go run|go fmt|gofmt|go mod tidy|go mod download|go generate|cargo test|cargo build|"
    "cargo check|cargo fmt|cargo clippy|cargo run|pytest|make|npm test|npm start|npm install|npm i|npm ci|"
    "npm run build|npm run lint|npm run dev|python -m pytest|python3 -m pytest|pip install|pnpm install|"
    "yarn install|yarn|bun install|bun test|mvn test|gradle test|./gradlew test|./gradlew build|git commit|"
    "swift test|dotnet test|dotnet build|bundle install|uv sync|tsc|npx tsc|deno test|swift build"
)
DEFAULTS = frozenset(_DEFAULTS.split("|"))


def is_default(form: str) -> bool:
    """Whether every agent tries a form first, in the top folder."""
    return whole_form(form) in DEFAULTS


# By lineage: when a repair worked, the call as it was written, and its session.
_Cases = dict[str, tuple[float, str, str]]


class _Outcome(msgspec.Struct):
    """How one form ended in one lineage."""

    worked_at: float | None = None
    failed_at: float | None = None
    reported_at: float | None = None  # it ran and found fault with the code, so it is the right command
    text: str = ""
    session: str = ""


class _Mistake(msgspec.Struct):
    """One kind of failure: in which lineages, what it cost, and the ways in which it was repaired."""

    kind: FailureKind
    roots: dict[str, float]  # each lineage, and when it last made the mistake
    ways: dict[Way, _Cases]
    sessions: list[str]
    signals: int = 0
    failures: int = 0
    calls: int = 0
    seconds: float | None = None
    tokens: float | None = None


class ProjectLessons:
    """The lessons of one project."""

    def __init__(self, project: str = "") -> None:
        self._project = project  # its key: only its own hosts are shown
        self._ends: dict[str, float] = {}  # by lineage
        self._forms: dict[str, dict[str, _Outcome]] = {}
        # The same for each option, value and variable that calls of a form were given.
        self._manners: dict[tuple[str, str], dict[str, _Outcome]] = {}
        self._purposes: dict[str, Purpose] = {}
        self._mistakes: dict[str, _Mistake] = {}
        # The lineages in which each program worked, and in which it worked with an option: `mypy --strict`.
        self._worked_with: dict[str, set[str]] = {}
        self.agents = Counter[str]()  # lineages of each agent

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def agent(self) -> str:
        """The agent of most sessions; empty if there are none."""
        return self.agents.most_common(1)[0][0] if self.agents else ""

    @property
    def lineages(self) -> Mapping[str, float]:
        """Every lineage, and when it ended."""
        return self._ends

    def made(self, key: str) -> Mapping[str, float]:
        """The lineages that made a mistake, by its key or by the form that failed, and when."""
        known = self._mistakes.get(key)
        if known is not None:
            return known.roots
        return {root: one.failed_at for root, one in self._forms.get(key, {}).items() if one.failed_at is not None}

    def add(self, evidence: SessionEvidence) -> None:
        """Add a session that has ended."""
        self.agents[evidence.agent] += evidence.root not in self._ends
        self._ends[evidence.root] = max(evidence.end, self._ends.get(evidence.root, 0.0))
        signals = {one.position for one in evidence.failures if one.is_signal}
        for use in evidence.uses:
            self._add_use(evidence, use, is_signal=use.position in signals)
        for failure in evidence.failures:
            self._add_failure(evidence, failure)

    def _add_use(self, evidence: SessionEvidence, use: FormUse, *, is_signal: bool) -> None:
        if use.worked is None:
            return
        self._purposes[use.form] = use.purpose
        if use.worked:
            # Behind a wrapper, too: `npx nx test`, `mise x hk install`.
            for word in _bare(use.form).split()[:3]:
                self._worked_with.setdefault(word, set()).add(evidence.root)
                for option in _options(use.text):
                    self._worked_with.setdefault(f"{word} {option}", set()).add(evidence.root)
        for manner in _manners(use.text):
            how = self._manners.setdefault((_bare(use.form), manner), {}).setdefault(evidence.root, _Outcome())
            if use.worked:
                how.worked_at = evidence.end
            elif not is_signal:
                how.failed_at = evidence.end
        outcome = self._forms.setdefault(use.form, {}).setdefault(evidence.root, _Outcome())
        if use.worked:
            outcome.worked_at = evidence.end
            outcome.session = evidence.session
            # The shortest text of a lineage says most about the form and least about the day's work.
            if use.is_whole and (not outcome.text or len(use.text) < len(outcome.text)):
                outcome.text = use.text
        elif is_signal:
            outcome.reported_at = evidence.end
        else:
            outcome.failed_at = evidence.end

    def _add_failure(self, evidence: SessionEvidence, failure: FailedCall) -> None:
        kind = failure.kind
        known = self._mistakes.get(kind.key)
        if known is None:
            known = self._mistakes[kind.key] = _Mistake(kind, {}, {}, [])
        if evidence.root not in known.roots:
            known.sessions.append(evidence.session)
        known.roots[evidence.root] = evidence.end
        known.signals += failure.is_signal
        known.failures += 1
        known.calls += failure.calls
        if failure.seconds is not None:
            known.seconds = (known.seconds or 0.0) + failure.seconds
        if evidence.tokens_of_call is not None:
            known.tokens = (known.tokens or 0.0) + evidence.tokens_of_call * failure.calls
        if failure.way is not None:
            known.ways.setdefault(failure.way, {})[evidence.root] = (evidence.end, failure.text, evidence.session)

    def _may_show(self, tool: str, text: str) -> bool:
        return admit_written(tool, text, self._project, self._own_words(text))

    def _own_words(self, text: str) -> frozenset[str]:
        """The programs of a command, and their options, that worked here so often that they are the project's own."""
        words = text.split()
        own = {word for word in words if len(self._worked_with.get(word, ())) >= NAMED_BY}
        given = [f"{program} {said}" for said in _options(text) for program in words]
        return frozenset(own.union(one for one in given if len(self._worked_with.get(one, ())) >= NAMED_BY))

    # -- commands -----------------------------------------------------------------------------------------------------

    def sheet(self) -> tuple[Lesson, ...]:
        """At most one command for each purpose."""
        return tuple(one for one in self.commands() if not one.silent)

    def commands(self) -> list[Lesson]:
        """How each purpose is served, in the order of purposes; then what is not said, with the reason."""
        corrected = self._corrected_forms()
        said: list[Lesson] = []
        silent: list[Lesson] = []
        for purpose in PURPOSES:
            found = self._commands_for(purpose, corrected)
            best = next((one for one in found if not one.silent), None)
            said += [best] if best is not None else []
            for one in found:
                if one is not best:
                    why = one.silent or f"`{best.text if best else ''}` serves the same purpose"
                    silent.append(msgspec.structs.replace(one, silent=why))
        return said + silent

    def command_for(self, purpose: str) -> Lesson | None:
        """The command that the sheet shows for a purpose."""
        found = self._commands_for(purpose, self._corrected_forms())
        return next((one for one in found if not one.silent), None)

    def _commands_for(self, purpose: str, corrected: set[str]) -> list[Lesson]:
        """The forms that served a purpose in two lineages, the most usual one first."""
        forms = {form: self._worked(form) for form, one in self._purposes.items() if one == purpose}
        retired = {form for form, worked in forms.items() if worked and self.is_retired(form)}
        replaced = {form for form in retired if len(forms[form]) >= FEWEST}
        # What no longer works says nothing about how it is done now.
        by_lineage: dict[str, set[str]] = {}
        for form in forms.keys() - retired:
            for root, one in self._forms[form].items():
                # A check that found fault with the code shows as well how it is run here.
                if one.worked_at is not None or one.reported_at is not None:
                    by_lineage.setdefault(root, set()).add(form)
        newest = sorted(by_lineage, key=lambda root: (-self._ends[root], root))
        used = Counter(form for root in newest[:WINDOW] for form in sorted(by_lineage[root]))
        latest = [by_lineage[root] for root in newest[:REPLACED_BY]]
        found = []
        for form, worked in forms.items():
            if len(worked) >= FEWEST:
                takes_over = len(latest) == REPLACED_BY and all(form in some for some in latest)
                share = 1.0 if takes_over else used[form] / max(1, len(newest[:WINDOW]))
                # What no longer works is not among the newest, and did this all the same.
                among = max(len(newest), len(worked))
                lesson = self._command(form, worked, among, is_correction=form in corrected)
                why = self._why_silent(lesson, share, used[form], len(newest[:WINDOW]))
                too_new = bool(replaced) and form not in replaced and len(worked) < REPLACED_BY
                found.append((share, lesson.last, msgspec.structs.replace(lesson, silent=why, needs_tree=too_new)))
        return [one for _, _, one in sorted(found, key=lambda item: (-item[0], -item[1], item[2].key))]

    def _why_silent(self, lesson: Lesson, share: float, times: int, among: int) -> str:
        if self.is_retired(lesson.key):
            return f"it failed in {plural(len(self.failed_since(lesson.key)), 'session')} since it last worked"
        if is_default(lesson.key) and not lesson.is_correction:
            return "every agent tries it first"
        if share < SHARE:
            return f"only {times} of the newest {among} sessions that did this ran it"
        if not lesson.text:
            why = admit_call(
                "Bash", {"command": lesson.key}, project=self._project, named=self._own_words(lesson.key)
            ).why
            return f"it may not be shown: {why}" if why else "its texts may not be shown"
        return ""

    def _command(self, form: str, worked: Mapping[str, _Outcome], among: int, *, is_correction: bool) -> Lesson:
        newest = sorted(worked.values(), key=lambda one: (-(one.worked_at or 0.0), one.session))
        return Lesson(
            "command",
            form,
            self._text(whole_form(form), newest),
            self._purposes[form],
            len(worked),
            among,
            newest[0].worked_at or 0.0,
            tuple(one.session for one in newest[:_MOST_SESSIONS]),
            is_correction=is_correction,
        )

    def _text(self, form: str, outcomes: Iterable[_Outcome]) -> str:
        """How most lineages write the form; the form itself if they differ. Empty if it may not be shown."""
        newest = list(outcomes)[:_MOST_TEXTS]
        texts = Counter(one.text for one in newest if one.text and self._may_show("shell", one.text))
        if not texts:
            # With other words, which may not be shown, it worked; what stood inside the form cannot be left out.
            written_heads = {head_of(one.text, form) for one in newest if one.text}
            is_whole = not written_heads or form in written_heads
            return f"{form} {ELLIPSIS}" if is_whole and self._may_show("shell", form) else ""
        text, times = texts.most_common(1)[0]
        # Sessions on the same test do not make it the project's test command, however many there are.
        if text == form or (times >= FEWEST and without_one_offs(text) == text):
            return text
        lasting = Counter[str]()
        for one, times in texts.items():
            lasting[without_one_offs(one)] += times
        kept, times = lasting.most_common(1)[0]
        if times >= FEWEST and times >= SHARE * texts.total():
            return kept
        # What differs are operands and values of options: the names of the options can be the lesson.
        outlines = Counter[str]()
        for one, times in texts.items():
            outlines[outline_of(one, form)] += times
        outline, times = outlines.most_common(1)[0]
        if " -" in outline and times >= FEWEST and times >= SHARE * texts.total():
            return outline
        heads = Counter[str]()
        for one, times in texts.items():
            heads[head_of(one, form)] += times
        head = heads.most_common(1)[0][0]
        return f"{head} {ELLIPSIS}" if any(len(one) > len(head_of(one, form)) for one in texts) else head

    def _worked(self, form: str) -> dict[str, _Outcome]:
        return {root: one for root, one in self._forms.get(form, {}).items() if one.worked_at is not None}

    def is_retired(self, form: str) -> bool:
        """Whether a form failed in two lineages since it last worked."""
        return _no_longer_works(self._forms.get(form, {}))

    def failed_since(self, form: str) -> dict[str, float]:
        """When a form failed in each lineage since it last worked; empty if that is not enough to retire it."""
        outcomes = self._forms.get(form, {})
        if not _no_longer_works(outcomes):
            return {}
        return {root: one.failed_at for root, one in outcomes.items() if one.failed_at is not None}

    def _corrected_forms(self) -> set[str]:
        """Forms that repaired a mistake in at least two lineages."""
        found: dict[str, set[str]] = {}
        for known in self._mistakes.values():
            for way, cases in known.ways.items():
                if way.kind == "form":
                    found.setdefault(way.value, set()).update(cases)
        return {form for form, roots in found.items() if len(roots) >= FEWEST}

    # -- repairs ------------------------------------------------------------------------------------------------------

    def repairs(self, *, fewest: int = FEWEST) -> list[Lesson]:
        """Every mistake that recurs or has an answer, those that cost most first; silent ones with the reason."""
        found = []
        for known in self._mistakes.values():
            is_mistake = 2 * known.signals <= known.failures
            lesson = self._repair(known)
            if is_mistake and (not lesson.silent or len(known.roots) >= fewest):
                found.append(lesson)
        return sorted(found, key=lambda one: (-one.cost.calls, -one.last, one.key))

    def signals(self, *, fewest: int = FEWEST) -> list[Lesson]:
        """What checks report on the code, again and again."""
        found = [one for one in self._mistakes.values() if 2 * one.signals > one.failures and len(one.roots) >= fewest]
        return [self._repair(one) for one in sorted(found, key=lambda one: (-len(one.roots), one.kind.key))]

    def was_repaired(self, kind: FailureKind) -> bool:
        """Whether a failure of this kind was repaired before, in any way."""
        known = self._mistakes.get(kind.key)
        return known is not None and bool(known.ways)

    def after(self, kind: FailureKind) -> Lesson | None:
        """What to tell after a failure of this kind."""
        known = self._mistakes.get(kind.key)
        if known is None:
            return None
        lesson = self._repair(known)
        return None if lesson.silent else lesson

    def before(self, form: str) -> Lesson | None:
        """What to tell at a call in a form that fails here: the form that works instead."""
        if self.runs_here(form):
            return None
        found = [one for one in self._mistakes.values() if one.kind.form == form and one.ways]
        if not found:
            return None
        joined = _Mistake(found[0].kind, {}, {}, [])
        for one in found:
            joined.roots |= one.roots
            for way, cases in one.ways.items():
                joined.ways.setdefault(way, {}).update(cases)
        lesson = self._repair(joined)
        is_sure = not lesson.silent and lesson.way is not None and lesson.way.kind == "form"
        return lesson if is_sure and lesson.lineages >= FEWEST else None

    def failing_forms(self) -> Iterator[tuple[str, Lesson]]:
        """Every form that fails here, with what works instead."""
        for form in sorted({one.kind.form for one in self._mistakes.values() if one.kind.form}):
            lesson = self.before(form)
            if lesson is not None:
                yield form, lesson

    def _repair(self, known: _Mistake) -> Lesson:
        """What repaired a mistake, or why nothing is said about it."""
        way, cases, why = self._chosen_way(known)
        lesson = Lesson(
            "repair",
            known.kind.key,
            "",
            lineages=len(cases),
            among=len(known.roots),
            last=max(known.roots.values(), default=0.0),
            sessions=tuple(reversed(known.sessions[-_MOST_SESSIONS:])),
            silent=why,
            failed=known.kind,
            way=way,
            cost=LessonCost(
                known.failures, known.calls, known.seconds, None if known.tokens is None else round(known.tokens)
            ),
        )
        if why and (said := self._expectation(known)):
            return msgspec.structs.replace(lesson, text=said, lineages=len(known.roots), silent="", way=Way("expect"))
        if why or way is None:
            return lesson
        text = self._shown_text(known.kind, way, cases)
        if text is None:
            return msgspec.structs.replace(lesson, silent="what repaired it may not be shown")
        purpose = self._purposes.get(way.value, "other") if way.kind == "form" else "other"
        return msgspec.structs.replace(lesson, text=text, purpose=purpose)

    def _expectation(self, known: _Mistake) -> str:
        """What to expect where sessions keep failing so and nothing helped; empty if that says nothing."""
        helped = {root for way, cases in known.ways.items() if not way.is_empty for root in cases}
        is_over = known.kind.form and not self.is_retired(known.kind.form)
        if helped or is_over or 2 * known.signals > known.failures or len(known.roots) < EXPECTED_BY:
            return ""
        said = expectation(known.kind)
        return said if said and is_harmless(said) else ""

    def _chosen_way(self, known: _Mistake) -> tuple[Way | None, _Cases, str]:
        """The way that most of the newest lineages took, with its cases; else why there is none."""
        if not known.ways:
            return None, {}, "no session has repaired it"
        current = {
            way: cases for way, cases in known.ways.items() if not self._is_outdated(known.kind.form, way, cases)
        }
        newest = sorted(
            {root for cases in current.values() for root in cases}, key=lambda root: (-self._ends[root], root)
        )
        recent = set(newest[:WINDOW])
        found = {way: {root: case for root, case in cases.items() if root in recent} for way, cases in current.items()}
        if not recent:
            return None, {}, "what repaired it no longer works"
        way, cases = max(found.items(), key=lambda item: (len(item[1]), max(item[1].values(), default=(0.0,))))
        if way.is_empty:
            return way, cases, "the call was only repeated, or the code was changed"
        if len(cases) < SHARE * len(recent):
            return way, cases, "sessions repaired it in different ways"
        return way, cases, ""

    def runs_here(self, form: str) -> bool:
        """Whether calls of this form work or find fault with the code, wherever in the project."""
        return any(
            (one.worked_at is not None or one.reported_at is not None) and not self.is_retired(known)
            for known, outcomes in self._forms.items()
            if _bare(known) == form
            for one in outcomes.values()
        )

    def _is_outdated(self, form: str, way: Way, cases: _Cases) -> bool:
        if way.kind in ("form", "before"):
            return self.is_retired(way.value)
        if way.kind not in ("option", "value", "variable"):
            return False
        given = _manners(max(cases.values())[1])
        added = [name.removeprefix("+") for name in way.value.split() if not (way.kind == "option" and name[0] == "-")]
        # For a changed value only calls with that value count; for an added option, those with any value.
        manners = [one for one in given if one.partition("=")[0] in added and ("=" in one) == (way.kind == "value")]
        return any(_no_longer_works(self._manners.get((_bare(form), one), {})) for one in manners)

    def _shown_text(self, kind: FailureKind, way: Way, cases: _Cases) -> str | None:
        """The newest call that worked and may be shown, else the bare form; None if nothing may be."""
        if way == Way("folder"):
            return ""
        for _, text, _ in sorted(cases.values(), reverse=True):
            told = _lesson(way, text) if kind.tool == "shell" else text
            if told and self._may_show(kind.tool, told):
                return told
        # With what stood inside the form: `mvn -pl api verify` is another command without it.
        words = head_of(max(cases.values())[1], kind.form).split()
        form = " ".join(words[next((at for at, word in enumerate(words) if not is_assignment(word)), 0) :])
        bare = self._bare_text(form if way.kind == "variable" else kind.form, way, len(cases))
        return bare if bare and self._may_show("shell", bare.rpartition(f"={ELLIPSIS} ")[2]) else None

    def _bare_text(self, form: str, way: Way, lineages: int) -> str:
        """What a way says without the values of a day: a host, a folder of one machine. Empty if nothing."""
        match way.kind:
            # A form without its options may not run: `mise exec` wants `--` before the program.
            case "form" | "before" if not _NEEDS_HYPHENS.intersection(way.value.split()):
                return way.value
            case "folder" if way.value != "top" and form:
                return f"{way.value} && {form} {ELLIPSIS}"
            # The form of a program in a folder does not say what it should do.
            case "option" if form and "/" not in form and not any(one.startswith("-") for one in way.value.split()):
                return " ".join([form, *[f"{name.removeprefix('+')} {ELLIPSIS}" for name in way.value.split()]])
            # A name alone sets nothing, and still sends a session looking for it.
            case "variable" if form and lineages >= NAMED_BY:
                return " ".join([*[f"{name}={ELLIPSIS}" for name in way.value.split()], form])
        return ""


def _no_longer_works(outcomes: Mapping[str, _Outcome]) -> bool:
    """Whether two lineages failed since one last worked."""
    last = max((max(one.worked_at or 0.0, one.reported_at or 0.0) for one in outcomes.values()), default=0.0)
    return sum(one.failed_at is not None and one.failed_at > last for one in outcomes.values()) >= RETIRED_BY


def _bare(form: str) -> str:
    """A form without the folder that it runs in, and whether it ran only some tests."""
    return whole_form(form.rpartition("&& ")[2])


def _options(text: str) -> list[str]:
    return [word.partition("=")[0] for word in text.split() if word.startswith("-")]


def _manners(text: str) -> set[str]:
    """How a command was called: each option and variable by name, and with its value; all numbers are alike."""
    found = set()
    words = text.split()
    # A text that was too long to be kept has no words.
    for word, following in zip(words, [*words[1:], ""][: len(words)], strict=True):
        name, joined, value = word.partition("=")
        if word.startswith("-"):
            value = value if joined else "" if following.startswith("-") else following
        elif not (joined and name.isidentifier() and name.isupper()):
            continue
        found |= {name, f"{name}={_FIGURES.compiled.sub('9', value)}"}
    return found


def _lesson(way: Way, text: str) -> str | None:
    """The command that worked without the operands of that day; None if they were all that it taught."""
    kept = without_one_offs(text)
    if kept == text:
        return text
    if way.kind == "value":
        # The changed value is the lesson.
        return kept if _value_of(way.value, text) == _value_of(way.value, kept) else None
    return None if way.kind == "before" else kept


def _value_of(option: str, text: str) -> str:
    """What a command gives to an option; empty if that was left out."""
    for word, following in pairwise([*text.split(), ""]):
        name, joined, value = word.partition("=")
        if name == option:
            return value if joined else following
    return ""
