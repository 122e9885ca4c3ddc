"""An invented office with ten tools whose arguments are written in ways that no description tells, and that change.

Sessions are written as files in the OpenAI form. Before the change calls in the old form work; after it they fail, and
the sessions then find the new form. Of three tools both forms look alike to everything that compares shapes.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

START = 1_780_000_000.0
DAY = 86_400.0


class OfficeTool(msgspec.Struct, frozen=True):
    """A tool, what is asked of it, and how its argument was and is written."""

    name: str
    argument: str
    request: str  # with {n} for a number
    old: Callable[[int], str]
    new: Callable[[int], str]
    error: str

    def is_old(self, value: str) -> bool:
        return bool(re.fullmatch(_masked(self.old), value))

    def is_new(self, value: str) -> bool:
        return bool(re.fullmatch(_masked(self.new), value))


def _masked(write: Callable[[int], str]) -> str:
    """An expression for everything that is written in this way, whatever the number."""
    made = {re.sub(r"\d+", lambda run: "0" * len(run.group()), write(number)) for number in range(1, 1000)}
    return "|".join(re.escape(one).replace("0", r"\d") for one in sorted(made))


TOOLS = (
    OfficeTool(
        "parcel_find",
        "parcel",
        "Where is parcel {n} of the depot?",
        lambda n: f"GX-{n:06}",
        lambda n: f"GX-{n}",
        '{"error": "E21"}',
    ),
    OfficeTool(
        "parcel_weigh",
        "weight",
        "The box on the scale has {n} grams, note its weight.",
        lambda n: f"{n}g",
        lambda n: f"0.{n:03}kg",
        "Error: invalid weight",
    ),
    OfficeTool(
        "delivery_hold",
        "until",
        "Hold the next delivery back for {n} days.",
        lambda n: f"{n % 28 + 1:02}.{n % 12 + 1:02}.2026",
        lambda n: f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}",
        "Error: day not understood",
    ),
    OfficeTool(
        "member_card",
        "member",
        "Show the library card of member {n}.",
        lambda n: f"M/{n}",
        lambda n: f"m#{n}",
        '{"error": "unknown member"}',
    ),
    OfficeTool(
        "loan_extend",
        "term",
        "Extend the loan of the novel by {n} weeks.",
        lambda n: f"{n % 9 + 1}w",
        lambda n: f"P{n % 9 + 1}W",
        '{"error": "term"}',
    ),
    OfficeTool(
        "room_book",
        "slot",
        "Book the meeting room for slot {n} of today.",
        lambda n: f"{n % 24:02}:30",
        lambda n: f"{n % 24:02}30h",
        "Error: slot must exist",
    ),
    OfficeTool(
        "price_set",
        "price",
        "Set the price of the lamp to {n} cents.",
        lambda n: f"{n} ct",
        lambda n: f"EUR {n}",
        "Error: invalid price",
    ),
    OfficeTool(
        "ticket_rank",
        "priority",
        "Rank ticket {n} as pressing in the tracker.",
        lambda n: "high",
        lambda n: "urgent",
        '{"error": "unknown priority"}',
    ),
    OfficeTool(
        "shelf_move",
        "shelf",
        "Move the crate to shelf {n} in the hall.",
        lambda n: f"B{n}",
        lambda n: f"B-{n}",
        "Error: no shelf of that name",
    ),
    OfficeTool(
        "print_order",
        "sheet",
        "Print order number {n} in the copy shop.",
        lambda n: f"order_{n}",
        lambda n: f"#{n}",
        '{"error": "E40"}',
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.name.replace("_", " ").capitalize() + ".",
            "parameters": {"type": "object", "properties": {tool.argument: {"type": "string"}}},
        },
    }
    for tool in TOOLS
]


class Office:
    """A folder of histories that grows by a session a day."""

    def __init__(
        self, folder: Path, *, seed: int = 1, has_times: bool = True, slips: int = 1, start: float = START
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._rng = random.Random(seed)
        self._has_times = has_times
        self._start = start
        self._slips = slips  # how often a call in the old form is tried before the new one is found
        self.day = 0

    def now(self) -> float:
        return self._start + (self.day + 2) * DAY

    def session(self, *, is_changed: bool, share: float = 0.8) -> None:
        """One session that uses most of the tools."""
        messages: list[dict[str, Any]] = [{"role": "system", "content": "You help in the office."}]
        used = [tool for tool in TOOLS if self._rng.random() < share] or [TOOLS[0]]
        self._rng.shuffle(used)
        for at, tool in enumerate(used):
            number = self._rng.randint(2, 999)
            messages.append({"role": "user", "content": tool.request.format(n=number)})
            if is_changed:
                for attempt in range(self._slips):
                    messages += self._call(f"{at}_{attempt}", tool, tool.old(number), tool.error)
            done = tool.new(number) if is_changed else tool.old(number)
            messages += self._call(f"{at}_done", tool, done, json.dumps({"state": "done", tool.argument: done}))
            messages.append({"role": "assistant", "content": "That is done now."})
        record: dict[str, Any] = {"id": f"office-{self.day:03}", "messages": messages}
        time = self._start + self.day * DAY
        if self._has_times:
            record["created"] = time
        path = self.folder / f"office-{self.day:03}.jsonl"
        path.write_text(json.dumps(record) + "\n")
        os.utime(path, (time, time))
        self.day += 1

    def _call(self, key: str, tool: OfficeTool, value: str, result: str) -> list[dict[str, Any]]:
        call_id = f"call_{self.day:03}_{key}"
        function = {"name": tool.name, "arguments": json.dumps({tool.argument: value})}
        call = {"id": call_id, "type": "function", "function": function}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": result},
        ]


def tasks(count: int, seed: int = 7) -> list[tuple[OfficeTool, str]]:
    """So many requests, for every tool in turn."""
    rng = random.Random(seed)
    made = [(TOOLS[at % len(TOOLS)], rng.randint(2, 999)) for at in range(count)]
    return [(tool, tool.request.format(n=number)) for tool, number in made]
