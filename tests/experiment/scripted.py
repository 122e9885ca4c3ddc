"""A model that plays by a rule of its own, and tasks for it: real worlds, real recordings, no network."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from seasoned.experiment.run.runner import AgentRun, AgentRunResult, ModelUnreachable
from seasoned.history.builder import SessionBuilder
from seasoned.session import Marks, SessionRef, Usage

Policy = Callable[[AgentRun], Sequence[tuple[str, dict[str, Any]]]]

TASKS = """\
environment: depot
about: the desk of a depot
files: {ws/list.txt: old}
tables:
  parcels: [{id: GX-1, shelf: A}, {id: GX-2, shelf: B}]
tools:
  - name: parcel_find
    description: Find a parcel.
    arguments: {parcel: string}
    rule: Write a parcel like GX-1.
    expects:
      - {argument: parcel, like: '[A-Z]{2}-[0-9]+', error: E21}
    finds: parcels
    by: {parcel: id}
  - name: weigh
    description: Note a weight.
    arguments: {weight: string, is_wet: {type: boolean, optional: true}}
    expects:
      - {argument: weight, like: '[0-9]+g', error: E40}
    result: noted {weight}
tasks:
  - {id: t1, part: train, prompt: "Find the parcel one of GX, GX-1, for me.", check: {called: parcel_find}}
  - {id: t2, part: train, prompt: "The weight of it is 20g in total.", check: {called: weigh}}
  - {id: d1, part: development, prompt: "Where is the parcel two of GX?", check: {called: parcel_find}}
  - {id: c1, part: confirmation, prompt: "I look for parcel two.", check: {called: parcel_find, with: {parcel: GX-2}}}
  - {id: c2, part: confirmation, prompt: "Note a weight of thirty.", check: {called: weigh, with: {weight: 30g}}}
"""


def write_tasks(folder: Path, text: str = TASKS, name: str = "depot.yaml") -> Path:
    """A task file in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def many_tasks(number: int) -> str:
    """A file with so many tasks, all of one kind."""
    head, _, _ = TASKS.partition("tasks:\n")
    # A rule that is of no use, so that every arm has all tasks.
    head = head.replace("description: Note a weight.", "description: Note a weight.\n    rule: Weigh with care.")
    lines = [
        f'  - {{id: "n{at}", part: confirmation, prompt: "Note weight number {at}.", '
        f"check: {{called: weigh, with: {{weight: {at + 1}g}}}}}}"
        for at in range(number)
    ]
    return f"{head}tasks:\n" + "\n".join(lines) + "\n"


def knows_by_example(play: AgentRun) -> list[tuple[str, dict[str, Any]]]:
    """Writes things rightly when it was shown or told how, and wrongly else."""
    shown = play.warm.decode() + play.instructions + play.prompt
    number = next((word.strip(".,") for word in play.prompt.split() if word.strip(".,").isdigit()), "2")
    if "parcel" in play.prompt:
        parcel = "GX-2" if "GX-" in shown else "2"
        return [("parcel_find", {"parcel": parcel})]
    weight = {"thirty": "30"}.get(play.prompt.split()[-1].strip("."), str(int(number) + 1))
    return [("weigh", {"weight": f"{weight}g" if "g" in shown.split("weigh")[-1] else weight})]


class Scripted:
    """Has conversations by a policy and counts them; the n-th may find the model gone."""

    def __init__(self, policy: Policy = knows_by_example, *, gone_after: int | None = None) -> None:
        self.policy = policy
        self.plays: list[AgentRun] = []
        self._gone_after = gone_after
        self._lock = threading.Lock()

    def __call__(self, play: AgentRun, /) -> AgentRunResult:
        with self._lock:
            if self._gone_after is not None and len(self.plays) >= self._gone_after:
                raise ModelUnreachable("'scripted' cannot be reached.")
            self.plays.append(play)
            number = len(self.plays)
        ref = SessionRef("seasoned", f"{play.title} #{number}")
        play.begin(ref)
        builder = SessionBuilder(ref, format="seasoned", path="")
        builder.message("user", play.prompt)
        for at, (tool, arguments) in enumerate(self.policy(play)[: play.steps]):
            answer = play.call(tool, arguments)
            builder.message("assistant", "")
            builder.call(f"call_{at}", tool, arguments)
            builder.result(f"call_{at}", json.dumps(answer), Marks())
        builder.message("assistant", "Done.")
        return AgentRunResult(session=builder.take(), answer="Done.", usage=Usage(10, 5), cost_usd=0.001, seconds=0.5)
