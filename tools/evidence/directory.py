"""Five places whose things have codes that only an answer tells: what a call answered names the next argument.

Each has a tool that lists the codes, a tool that takes one, and a tool whose answer says nothing beyond its call. So
the same blocks show where the answers of earlier calls teach something, and where they only cost tokens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import msgspec

from seasoned.experiment.task.environment import (
    Action,
    Argument,
    Condition,
    Environment,
    EnvironmentTool,
    Expectation,
    ExpectedValue,
)
from seasoned.experiment.task.task_file import Task

STEPS = 2  # requests to the model in a run: to look a code up and use it, or to try twice
TEACHES, REPEATS = "teaches", "repeats"  # what the answers of earlier calls do for a request
_TIMES = ("9:05", "10:20", "11:40", "13:15", "14:50", "16:35", "17:10", "18:25")


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """A place: its things with their codes, and the requests that are made there."""

    name: str
    about: str
    lists: str  # the tool that answers with the codes
    where: str  # the argument of that tool
    uses: str  # the tool that takes a code
    calls: str  # the tool that takes a time
    codes: Mapping[str, str]
    said_list: str
    said_use: str  # never names the thing, so that only the answer before it does
    said_call: str
    asked_use: str
    asked_call: str

    @property
    def folder(self) -> str:
        return f"/home/sam/{self.name}"

    @property
    def listed(self) -> str:
        """What the tool that lists the codes answers."""
        return ", ".join(f"{thing} = {code}" for thing, code in self.codes.items())

    def environment(self) -> Environment:
        """The tools in the world of a run. Descriptions do not say what a code or a time looks like."""
        known = tuple(self.codes.values())
        return Environment(
            name=self.name,
            about=self.about,
            tools=(
                _tool(self.lists, "The codes.", self.where, self.listed, one_of=(self.name,)),
                _tool(self.uses, "Takes a code.", "code", "done: {code}", one_of=known),
                _tool(self.calls, "Takes a time.", "time", "done: {time}", like=r"T\d{4}"),
            ),
        )


def _tool(
    name: str, description: str, argument: str, result: str, *, one_of: tuple[str, ...] | None = None, like: str = ""
) -> EnvironmentTool:
    expected = Expectation(error=f"bad {argument}", argument=argument, one_of=one_of, like=like or None)
    arguments = (Argument(argument),)
    return EnvironmentTool(
        name=name, description=description, arguments=arguments, expects=(expected,), action=Action(result=result)
    )


def written_time(said: str) -> str:
    """A time as the tools want it: `9:05` is `T0905`."""
    return f"T{said.replace(':', ''):0>4}"


DIRECTORIES = (
    Directory(
        name="villa",
        about="the reception of a conference villa",
        lists="room_codes",
        where="house",
        uses="room_book",
        calls="door_open",
        codes={
            "garden room": "Q7",
            "blue room": "K2",
            "loft": "T4",
            "cellar": "M9",
            "great hall": "Z3",
            "studio": "B8",
        },
        said_list="Which rooms do we have?",
        said_use="Book that one.",
        said_call="Let them in at {time}.",
        asked_use="Please book the {thing} for us.",
        asked_call="The door must open at {time}.",
    ),
    Directory(
        name="ferry",
        about="the office of a ferry harbour",
        lists="quay_codes",
        where="port",
        uses="quay_light",
        calls="horn_blow",
        codes={"north quay": "H61", "fish quay": "M20", "long pier": "F35", "old pier": "R48", "slipway": "W17"},
        said_list="Which quays are lit tonight?",
        said_use="Switch the light on there.",
        said_call="Blow the horn at {time}.",
        asked_use="Light the {thing}, please.",
        asked_call="The horn sounds at {time} today.",
    ),
    Directory(
        name="quarry",
        about="the weighbridge of a quarry",
        lists="stone_codes",
        where="pit",
        uses="stone_load",
        calls="truck_send",
        codes={"gravel": "41-G", "slate": "07-S", "granite": "88-R", "chalk": "23-C", "sandstone": "56-N"},
        said_list="What can we load today?",
        said_use="Load what they ordered.",
        said_call="Send the truck at {time}.",
        asked_use="Load {thing} on the next truck.",
        asked_call="A truck has to leave at {time}.",
    ),
    Directory(
        name="theatre",
        about="the ticket office of a theatre",
        lists="play_codes",
        where="stage",
        uses="play_sell",
        calls="bell_ring",
        codes={"The Storm": "p3x", "Old Friends": "p9k", "Night Ferry": "p1d", "Two Chairs": "p6w", "The Inn": "p8a"},
        said_list="What is on this week?",
        said_use="Sell a ticket for it.",
        said_call="Ring at {time}.",
        asked_use="One ticket for {thing}.",
        asked_call="Ring the bell at {time}.",
    ),
    Directory(
        name="nursery",
        about="the office of a tree nursery",
        lists="bed_codes",
        where="field",
        uses="bed_water",
        calls="gate_shut",
        codes={"roses": "E/5", "birches": "A/1", "hazels": "D/9", "cherries": "C/4", "ferns": "G/2", "oaks": "F/6"},
        said_list="Which beds are there?",
        said_use="Water the dry one.",
        said_call="Shut the gate at {time}.",
        asked_use="The {thing} need water.",
        asked_call="The gate is to be shut at {time}.",
    ),
)


def tasks(each: int, kind: str, seed: int = 17) -> tuple[Task, ...]:
    """So many requests of every place, those of one kind: where answers teach, or where they repeat the call."""
    return tuple(_tasks(each, kind, random.Random(f"{seed} {kind}")))


def _tasks(each: int, kind: str, rng: random.Random) -> Iterator[Task]:
    for one in DIRECTORIES:
        environment = one.environment()
        things = rng.sample(sorted(one.codes), k=min(each, len(one.codes)))
        times = rng.sample(_TIMES, k=each)
        wanted = [
            (one.asked_use.format(thing=thing), one.uses, "code", one.codes[thing])
            if kind == TEACHES
            else (one.asked_call.format(time=time), one.calls, "time", written_time(time))
            for thing, time in zip(things, times, strict=False)
        ]
        for number, (prompt, tool, argument, value) in enumerate(wanted, start=1):
            yield Task(
                id=f"{tool}-{number}",
                part="confirmation",
                prompt=prompt,
                environment=environment,
                check=(Condition(place=tool, called=tool, arguments=((argument, ExpectedValue(is_=value)),)),),
                tags=(kind,),
                steps=STEPS,
            )


def folder_of(task: Task) -> str:
    """The folder of the sessions that worked in the place of a task."""
    return next(one.folder for one in DIRECTORIES if one.name == task.environment.name)
