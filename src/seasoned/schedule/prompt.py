"""The prompt of a scheduled run: what a run must know, then skills, the script's output, and the job's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from seasoned.schedule.job import Job, Slot
from seasoned.schedule.script import ScriptRun
from seasoned.schedule.times import local

_FOLDER = Path(__file__).parent / "instruction"
_END = re.compile(r"</(?=\s*script_output)", re.IGNORECASE)
_DESTINATIONS = {
    "stdout": "to the terminal",
    "file": "to a file",
    "webhook": "to a web server",
    "telegram": "to Telegram",
    "discord": "to Discord",
    "email": "by e-mail",
}


class LoadedSkill(msgspec.Struct, frozen=True):
    """A skill that the job names: its text, or why there is none."""

    name: str
    text: str = ""
    problem: str | None = None


def build_prompt(
    job: Job,
    slot: Slot,
    *,
    model: str,
    provider: str,
    script: ScriptRun | None = None,
    skills: Sequence[LoadedSkill] = (),
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
    for skill in skills:
        if skill.problem is None:
            parts.append(_filled("skill", name=skill.name, text=skill.text.strip()))
        else:
            parts.append(_filled("missing_skill", name=skill.name, reason=skill.problem.strip().rstrip(".")))
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
