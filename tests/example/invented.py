"""Ten invented tools with odd conventions, and histories of sessions that use them, without flags of success.

Each convention is about something else: a suffix, a scale, a prefix, a unit, a path's root, an order of parts, a word,
a list, a name, a type. `former` is how a call was written before the convention changed.
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
        "ferry_slot",
        lambda n: {"slot": f"{n:04}W"},
        lambda n: {"slot": f"W{n:04}"},
        "slot does not exist",
        "Reserve ferry slot {n}.",
    ),
    InventedTool(
        "oven_temp",
        lambda n: {"heat": n + 273.5},
        lambda n: {"heat": n},
        "heat out of range",
        "Set the oven to {n} degrees.",
    ),
    InventedTool(
        "parcel_trace",
        lambda n: {"parcel": f"urn:pcl:{n}"},
        lambda n: {"parcel": f"pcl/{n}"},
        "malformed parcel",
        "Where is parcel {n}?",
    ),
    InventedTool(
        "invoice_pay",
        lambda n: {"invoice": f"INV-{n}", "total": f"{n}.00 CHF"},
        lambda n: {"invoice": f"INV-{n}", "total": f"CHF {n}.00"},
        "total not understood",
        "Pay invoice {n}.",
    ),
    InventedTool(
        "room_heat",
        lambda n: {"room": f"level2/r{n}"},
        lambda n: {"room": f"floor2/r{n}"},
        "room unknown",
        "Warm up room {n}.",
    ),
    InventedTool(
        "shift_plan",
        lambda n: {"week": f"2026-W{n % 52 + 1:02}"},
        lambda n: {"week": f"W{n % 52 + 1:02}-2026"},
        "week is not valid",
        "Plan the shifts of week {n}.",
    ),
    InventedTool(
        "seed_order",
        lambda n: {"seed": n, "unit": "bag"},
        lambda n: {"seed": n, "unit": "kilo"},
        "unit refused",
        "Order {n} units of seed.",
    ),
    InventedTool(
        "mast_lower",
        lambda n: {"mast": n, "steps": [1, 2]},
        lambda n: {"mast": n, "steps": 2},
        "steps must differ",
        "Lower mast {n}.",
    ),
    InventedTool(
        "purse_transfer",
        lambda n: {"to": f"@{n}", "cents": n * 100},
        lambda n: {"to": f"@{n}", "crowns": n},
        "purse refuses",
        "Transfer money to purse {n}.",
    ),
    InventedTool(
        "well_probe",
        lambda n: {"well": f"w.{n}.north", "deep": "on"},
        lambda n: {"well": f"w.{n}.north", "deep": True},
        "probe cannot do this",
        "Probe well {n}.",
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
