"""One run from claim to outcome: script, model, context window, skills, prompt, agent. Delivery comes later."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.config import Config, Route, command_environment
from seasoned.errors import SeasonedError
from seasoned.schedule.job import HeartbeatCall, Job, JobRun, Slot, is_delivered
from seasoned.schedule.outcome import RunResult, judge_answer, judge_output
from seasoned.schedule.script import FOLDER, RunProgram, ScriptRun, run_script
from seasoned.schedule.times import local

_FOLDER = Path(__file__).parent / "instruction"
_END = re.compile(r"</(?=\s*script_output)", re.IGNORECASE)
_DESTINATIONS = {
    "stdout": "to the terminal",
    "file": "to a file",
    "webhook": "to a web server",
    "telegram": "to Telegram",
    "discord": "to Discord",
}


def build_prompt(
    job: Job,
    slot: Slot,
    *,
    model: str,
    provider: str,
    script: ScriptRun | None = None,
    skills: Sequence[str] = (),
) -> str:
    """The whole prompt. It names the model, so it is built when that is known."""
    time = local(slot.scheduled_at, job.zone)
    lines = [
        _delivery(job),
        instruction("silence"),
        instruction("failure"),
        _filled("runtime", time=f"{time:%A, %Y-%m-%d %H:%M} ({job.zone})", model=model, provider=provider),
    ]
    parts = [_filled("job", name=job.name), "\n".join(f"- {line}" for line in lines)]
    parts += skills
    if script is not None:
        parts.append(_script(job, script))
    parts.append(_filled("task", prompt=job.prompt.strip()))
    return "\n\n".join(parts)


@cache
def instruction(name: str) -> str:
    """A text of the folder `instruction`."""
    return (_FOLDER / f"{name}.md").read_text("utf-8").strip()


def _filled(text: str, /, **values: str) -> str:
    return instruction(text).format_map(values)


def _delivery(job: Job) -> str:
    kinds = dict.fromkeys(one.partition(":")[0] for one in job.delivery)
    to = [_DESTINATIONS[kind] for kind in kinds if kind in _DESTINATIONS]
    return _filled("delivery", to=", ".join(to)) if to else instruction("kept")


def _script(job: Job, script: ScriptRun) -> str:
    name = job.script or ""
    # What was printed must not be able to close the block that marks it as data.
    if script.problem is None:
        return _filled("script_output", name=name, output=_END.sub("<\\\\/", script.output.strip()))
    output = _END.sub("<\\\\/", script.whole.strip()) or "(nothing)"
    return _filled("script_error", name=name, problem=script.problem, output=output)


def window_objection(model: str, *, configured: int | None, detect: Callable[[], int | None], least: int) -> str | None:
    """Why a job must not run on this model, and what to change; None if it may, or if the window is unknown."""
    tokens = configured
    if tokens is None:
        # The job runs even if the window cannot be found out.
        with suppress(SeasonedError, OSError, ValueError, LookupError, RuntimeError, ImportError):
            tokens = detect()
    if tokens is None or tokens >= least:
        return None
    return (
        f"The model {model!r} has a window of {tokens:,} tokens; a job needs {least:,}: choose a larger model "
        "(--model), correct the figure (the setting context_length), or let jobs run with less (schedule_min_context)."
    )


def find_route(routes: Sequence[Route], words: str) -> Route | None:
    """The first route whose conditions are all met. It sees the job's own words, never the prompt around them."""
    return next((route for route in routes if _route_fits(route, words)), None)


def _route_fits(route: Route, words: str) -> bool:
    if route.words and not any(_has_word(words, word) for word in route.words):
        return False
    if route.longer_than is not None and len(words) <= route.longer_than:
        return False
    return route.shorter_than is None or len(words) < route.shorter_than


def _has_word(text: str, word: str) -> bool:
    # Not \b, which fails beside a word that begins or ends with punctuation, such as C++.
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


# A run that prints without end must not fill the history.
_KEPT_CHARACTERS = 200_000
_KEPT_OF_SCRIPT = 20_000


class ChosenModel(msgspec.Struct, frozen=True, kw_only=True):
    """The model that a run talks to. Nothing was sent to it yet."""

    # As it can be asked for again.
    model: str
    provider: str
    base_url: str | None = None


class AgentTask(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is to do in one run."""

    job: Job
    prompt: str
    chosen: ChosenModel
    session_id: str
    timeout_seconds: float


class AgentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent returned, and how it ended."""

    text: str
    # The last one, if the context was compressed.
    session: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    stopped: Literal["time", "interrupted", "other"] | None = None
    # Why it did not come to its own end, in a sentence.
    error: str | None = None
    notes: tuple[str, ...] = ()


# Runs an agent to its end. The second argument is called now and then: False means stop.
RunAgent = Callable[[AgentTask, Callable[[], bool]], AgentAnswer]
# The model of a job, of a route, or the usual one; SeasonedError says what is missing.
ChooseModel = Callable[[Job, Route | None], ChosenModel]


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """Everything a run needs from other packages."""

    config: Config
    run_agent: RunAgent
    choose_model: ChooseModel
    detect_window: Callable[[Job, ChosenModel], int | None]
    load_skill: Callable[[str], str]
    redact: Callable[[str], str]
    run_program: RunProgram


def run_slot(parts: RunParts, job: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
    """Do the work of a slot; a scheduler calls it, in a thread for each run."""
    return _SlotRun(parts, job, slot, heartbeat).record()


class _SlotRun:
    """One run, and what is known of it so far."""

    def __init__(self, parts: RunParts, job: Job, slot: Slot, heartbeat: HeartbeatCall) -> None:
        self.parts, self.job, self.slot, self.heartbeat = parts, job, slot, heartbeat
        self.started_at = time.time()
        self.until = time.monotonic() + job.timeout_seconds
        self.notes: list[str] = []
        self.script: ScriptRun | None = None
        self.chosen: ChosenModel | None = None
        self.answer = AgentAnswer(text="")

    def record(self) -> JobRun:
        """Do the work, and return its line of the history."""
        result = self._do()
        answer, redact = self.answer, self.parts.redact
        is_due = result.outcome != "silent" and is_delivered(self.job)
        return JobRun(
            job_id=self.job.id,
            scheduled_at=self.slot.scheduled_at,
            started_at=self.started_at,
            ended_at=time.time(),
            outcome=result.outcome,
            fault=result.fault,
            reason=_kept(redact(result.reason)),
            output=_kept(redact(result.text)),
            script_output=_kept(redact(self.script.whole), _KEPT_OF_SCRIPT) if self.script is not None else "",
            model=self.chosen.model if self.chosen is not None else None,
            provider=self.chosen.provider if self.chosen is not None else None,
            session=answer.session,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost_usd=answer.cost_usd,
            delivery="pending" if is_due else "none",
            note=_kept(redact(" ".join(self.notes))),
        )

    def _do(self) -> RunResult:
        if self.job.script is not None:
            ended = self._run_script(self.job.script)
            if ended is not None:
                return ended
        try:
            task = self._prepare()
        except SeasonedError as error:
            return self._failed("agent", f"The agent could not be started: {error}")
        if isinstance(task, RunResult):
            return task
        # Checked last, so that nothing is sent for a run that was cancelled.
        if not self.heartbeat():
            return self._called_off()
        return self._judge(self._ask(task))

    def _run_script(self, name: str) -> RunResult | None:
        """The outcome if the run ends with its script; None if an agent continues."""
        parts, job = self.parts, self.job
        self.script = ran = run_script(
            name,
            scripts=parts.config.home / FOLDER,
            folder=Path(job.folder) if job.folder else None,
            time_seconds=min(float(parts.config.script_seconds), job.timeout_seconds),
            environment=command_environment(),
            stop=lambda: not self.heartbeat(),
            run_program=parts.run_program,
        )
        if ran.limit == "stopped":
            return self._called_off()
        # A failed script still reaches the agent, which can say what that means; one that timed out or never ran
        # does not, since there is nothing to explain.
        if ran.problem is not None and (ran.limit in ("time", "start") or not job.prompt.strip()):
            return RunResult(
                outcome="failed",
                fault="timeout" if ran.limit == "time" else "script",
                reason=ran.problem,
                text=ran.output.strip() if not job.prompt.strip() else "",
            )
        if ran.is_nothing_to_do:
            self.notes.append("The script found nothing to do.")
            return RunResult(outcome="silent")
        return None if job.prompt.strip() else judge_output(ran.output)

    def _prepare(self) -> AgentTask | RunResult:
        """The task for the agent, or the outcome if it cannot be started."""
        parts, job = self.parts, self.job
        route = None
        if job.model is None:
            route = find_route(parts.config.routes, job.prompt)
        self.chosen = chosen = parts.choose_model(job, route)
        if route is not None:
            self.notes.append(f"Routed to {route.model!r}.")
        refused = window_objection(
            chosen.model,
            configured=parts.config.context_length,
            detect=lambda: parts.detect_window(job, chosen),
            least=parts.config.schedule_min_context,
        )
        if refused is not None:
            return self._failed("context", refused)
        return AgentTask(
            job=job,
            prompt=build_prompt(
                job,
                self.slot,
                model=chosen.model,
                provider=chosen.provider,
                script=self.script,
                skills=[self._load_skill(name) for name in job.skills],
            ),
            chosen=chosen,
            session_id=self.slot.session_id,
            timeout_seconds=max(1.0, self.until - time.monotonic()),
        )

    def _load_skill(self, name: str) -> str:
        """A skill that the job names, for its prompt; or why there is none."""
        try:
            return _filled("skill", name=name, text=self.parts.load_skill(name).strip())
        except SeasonedError as error:
            self.notes.append(f"The skill {name!r} was missing: {error}")
            return _filled("missing_skill", name=name, reason=str(error).strip().rstrip("."))

    def _ask(self, task: AgentTask) -> AgentAnswer:
        try:
            self.answer = self.parts.run_agent(task, self.heartbeat)
        except SeasonedError as error:
            self.answer = AgentAnswer(text="", error=str(error), stopped="other")
        self.notes.extend(self.answer.notes)
        return self.answer

    def _judge(self, answer: AgentAnswer) -> RunResult:
        problem = self.script.problem if self.script is not None else None
        # Interrupted by this scheduler, not by the model or its tools.
        if answer.stopped == "interrupted" and not self.heartbeat():
            return self._called_off(answer.text)
        if answer.stopped is not None:
            is_late = answer.stopped == "time"
            error = answer.error or "The agent did not finish."
            reason = f"The agent did not end within {self.job.timeout_seconds:,.0f} s." if is_late else error
            return self._failed("timeout" if is_late else "agent", reason, answer.text)
        return judge_answer(answer.text, script_problem=problem)

    def _failed(self, fault: Literal["agent", "context", "timeout"], reason: str, text: str = "") -> RunResult:
        """A failed script stays the fault, even if something else went wrong after it."""
        problem = self.script.problem if self.script is not None else None
        if problem is not None:
            return RunResult(outcome="failed", fault="script", reason=f"{problem} {reason}", text=text.strip())
        return RunResult(outcome="failed", fault=fault, reason=reason, text=text.strip())

    def _called_off(self, text: str = "") -> RunResult:
        reason = "The scheduler was stopped or lost the run, so it was interrupted. Check how far it got."
        return RunResult(outcome="unknown", reason=reason, text=text.strip())


def _kept(text: str, most: int = _KEPT_CHARACTERS) -> str:
    """A text that every database can store, with its middle left out if it is too long."""
    clean = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    if len(clean) <= most:
        return clean
    half = most // 2
    return f"{clean[:half]}\n… {len(clean) - 2 * half:,} characters left out …\n{clean[-half:]}"
