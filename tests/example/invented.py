"""Ten invented tools with odd conventions, and histories of sessions that use them, without flags of success.

Each convention is about something else: a prefix, a path's root, a unit, a scale, a switch, capitals, an order of
parts, an added argument, a nested name, a word. `former` is how a call was written before the convention changed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

BEGAN, HOUR = 1_790_000_000, 3600


class InventedTool(msgspec.Struct, frozen=True):
    """A tool: how a call for a number is written now and was written formerly, what it answers, and what it is for."""

    name: str
    now: Callable[[int], dict[str, Any]]
    former: Callable[[int], dict[str, Any]]
    error: str
    task: str  # with {n}

    def answer(self, arguments: dict[str, Any], number: int, *, is_former: bool) -> str:
        right = self.former(number) if is_former else self.now(number)
        done = {"state": "done", "number": number} if arguments == right else {"error": self.error}
        return json.dumps(done)


TOOLS = (
    InventedTool(
        "berth_book",
        lambda n: {"berth": f"QX-{n}"},
        lambda n: {"berth": f"B-{n}"},
        "no such berth",
        "Book berth {n} for tonight.",
    ),
    InventedTool(
        "kiln_fire",
        lambda n: {"program": f"/kilns/east/p{n}.fire"},
        lambda n: {"program": f"/kilns/p{n}.fire"},
        "program not found",
        "Fire the kiln with program {n}.",
    ),
    InventedTool(
        "grain_weigh",
        lambda n: {"load": f"{n * 1000} g"},
        lambda n: {"load": f"{n} kg"},
        "cannot read the load",
        "Weigh a grain load of {n} kilograms.",
    ),
    InventedTool(
        "toll_charge",
        lambda n: {"amount": n * 100},
        lambda n: {"amount": n + 0.5},
        "amount is not accepted",
        "Note a toll of {n} crowns.",
    ),
    InventedTool(
        "sluice_set",
        lambda n: {"gate": f"G{n}", "slow": True},
        lambda n: {"gate": f"G{n}", "slow": False},
        "the gate refuses this",
        "Open sluice gate {n}.",
    ),
    InventedTool(
        "loom_card",
        lambda n: {"card": f"WEFT{n}"},
        lambda n: {"card": f"weft{n}"},
        "unknown card",
        "Load loom card weft {n}.",
    ),
    InventedTool(
        "tide_look",
        lambda n: {"day": f"2026.{n % 12 + 1:02}.{n % 28 + 1:02}"},
        lambda n: {"day": f"{n % 28 + 1:02}.{n % 12 + 1:02}.2026"},
        "invalid day",
        "Look up the tide for day {n}.",
    ),
    InventedTool(
        "hive_count",
        lambda n: {"hive": f"H#{n}", "season": "S26"},
        lambda n: {"hive": f"H#{n}"},
        "missing argument",
        "Count the bees of hive {n}.",
    ),
    InventedTool(
        "crate_move",
        lambda n: {"crate": {"code": f"C_{n}"}},
        lambda n: {"crate": {"id": f"C_{n}"}},
        "crate has no such field",
        "Move crate {n} to the ramp.",
    ),
    InventedTool(
        "lamp_wick",
        lambda n: {"lamp": f"pier:{n}"},
        lambda n: {"lamp": f"dock:{n}"},
        "no such lamp",
        "Trim the wick of lamp {n}.",
    ),
)


def schema(tool: InventedTool) -> dict[str, Any]:
    """What a session is told of a tool: its name and arguments, and nothing of how they are written."""
    named = {name: {} for name in {**tool.now(1), **tool.former(1)}}
    parameters = {"type": "object", "properties": named}
    return {"type": "function", "function": {"name": tool.name, "parameters": parameters}}


def write_histories(folder: Path, *, old: int, new: int, seed: int, tools: int = len(TOOLS)) -> None:
    """Sessions as logs of an application: `old` ones in the former way, then `new` ones that have to find the new way.

    A session uses so many of the tools. In the new ones, three of four first calls are made in the former way.
    """
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for session in range(old + new):
        is_former = session < old
        messages: list[dict[str, Any]] = []
        for step, tool in enumerate(chance.sample(TOOLS, tools)):
            number = chance.randint(2, 90)
            right = (tool.former if is_former else tool.now)(number)
            wrong = (tool.now if is_former else tool.former)(number)
            messages.append({"role": "user", "content": tool.task.format(n=number)})
            tries = [wrong, right] if chance.random() < (0.2 if is_former else 0.75) else [right]
            for at, arguments in enumerate(tries):
                call_id = f"call_{session}_{step}_{at}"
                function = {"name": tool.name, "arguments": json.dumps(arguments)}
                call = {"id": call_id, "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                content = tool.answer(arguments, number, is_former=is_former)
                messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
            messages.append({"role": "assistant", "content": "Done."})
        log = {"id": f"s{session:03}", "application": "harbour", "created": BEGAN + HOUR * session}
        (folder / f"{session:03}.jsonl").write_text(json.dumps({**log, "messages": messages}) + "\n", "utf-8")
