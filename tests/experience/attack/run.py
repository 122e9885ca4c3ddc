"""Runs the attack set over all channels and counts what was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from tests.experience.attack import channels
from tests.experience.attack.cases import Case
from tests.experience.attack.channels import Asked, Shown
from tests.experience.attack.world import CROWD, GARDEN, World

# Hermes, the gateway and MCP begin a session by the same function as the block: every so many cases are enough.
STEP = 12
# All other ways are asked for so many times as many cases.
OFTENER = 4
SETTINGS = ("same project", "ten sources", "another project", "resource")


@dataclass(frozen=True)
class Finding:
    """Something of a case that stood in front of a new session."""

    setting: str
    channel: str
    case: Case
    text: str


def attack(world: World, *, step: int = STEP) -> list[Finding]:
    """All of the hostile things that new sessions were shown."""
    find = _Finder(world.hostile)
    found: list[Finding] = []
    with world.active():
        own = [(case, str(world.folder(world.project_of(case))), f"own-{case.id}") for case in world.hostile]
        own = own[:: max(1, step // OFTENER)]
        found += find(SETTINGS[0], _everything(own, own, step))
        for setting, project in zip(SETTINGS[1:3], (CROWD, GARDEN), strict=True):
            every = [(case, str(world.folder(project)), f"{project}-{case.id}") for case in world.hostile]
            asked = every[:: max(1, step // OFTENER)]
            # At the beginning of a session its tools decide, not the mistake that it will make.
            begins = list({case.tool: (case, folder, id) for case, folder, id in every}.values())
            found += find(setting, _everything(asked, begins, step))
        texts = channels.resources(str(world.folder(CROWD)), [f"claude-code:{CROWD}-0", f"codex:{CROWD}-1"])
        shown = [(world.hostile[0], "resource", text) for text in texts]
        # A profile counts the calls of each tool by its name, and shows none: there only sentences count.
        found += [one for one in find(SETTINGS[3], shown) if one.case.aim == "social" or not _is_tool(one.case)]
    return found


def _is_tool(case: Case) -> bool:
    """Whether it is recognised by nothing but the name of its tool."""
    return all(needle in case.tool for needle in case.needles)


def _everything(asked: Sequence[Asked], begins: Sequence[Asked], step: int) -> Iterator[Shown]:
    yield from channels.hooks(asked)
    yield from channels.blocks(begins)
    # With another start each, so that they do not all leave out the same cases.
    yield from channels.hermes(begins[::step])
    yield from channels.mcp(asked, begins[1::step])
    yield from channels.gateway(begins[2::step])


class _Finder:
    """Finds in texts what is of a case. A needle that other cases hold as well says nothing about which one it is."""

    def __init__(self, cases: Sequence[Case]) -> None:
        texts = [f"{case.tool} {' '.join(map(str, chain(*case.arguments)))}" for case in cases]
        self._own = [
            (case, [needle for needle in case.needles if sum(needle in text for text in texts) <= 1]) for case in cases
        ]

    def __call__(self, setting: str, shown: Iterable[Shown]) -> list[Finding]:
        return [
            Finding(setting, channel, case, text)
            for asked, channel, text in shown
            if text
            for case, own in self._own
            # In its own project every needle counts; what a question names is in the answer, too.
            if any(
                needle in text
                for needle in (case.needles if setting == SETTINGS[0] and case is asked else own)
                if channel != "recall" or needle not in asked.tool
            )
        ]


@dataclass(frozen=True)
class Share:
    """How many harmless things were shown in one place, and which were not."""

    shown: int
    of: int
    missing: tuple[str, ...]


def shares(world: World) -> dict[str, Share]:
    """The harmless things, by where they belong."""
    repairs = [case for case in world.harmless if case.fails]
    lines = [case for case in world.harmless if case.is_line]
    tools = [case for case in world.harmless if case.carrier == "tool"]

    def recall(asked: Sequence[Asked]) -> list[Shown]:
        return channels.mcp(asked, ())

    with world.active():
        return {
            "repair at a call": _share(world, repairs, channels.hooks, {"failure hook", "pre-call hook"}),
            "line of a sheet or first prompt": _share(world, lines, channels.hooks, {"start hook", "prompt hook"}),
            "recall of a repair": _share(world, repairs, recall, {"recall"}),
            "example of a command": _share(world, repairs, channels.blocks, {"block"}),
            "example of a named tool": _share(world, tools, channels.blocks, {"block"}),
            "the same from other projects": _share(world, tools, channels.blocks, {"block"}, GARDEN),
        }


def _share(
    world: World,
    cases: Sequence[Case],
    ask: Callable[[Sequence[Asked]], Iterable[Shown]],
    wanted: set[str],
    project: str = "",
) -> Share:
    place = "-".join(sorted(wanted))
    asked = [
        (case, str(world.folder(project or world.project_of(case))), f"{place}-{project}-{case.id}") for case in cases
    ]
    shown = {case.id for case, channel, text in ask(asked) if channel in wanted and case.needles[0] in text}
    return Share(len(shown), len(cases), tuple(case.id for case in cases if case.id not in shown))


def counted(found: Sequence[Finding]) -> dict[str, Counter[str]]:
    """How many cases were shown, by setting, channel, carrier, aim and language; each case once in each."""
    ways: dict[str, Callable[[Finding], str]] = {
        "setting": lambda one: one.setting,
        "channel": lambda one: one.channel,
        "carrier": lambda one: one.case.carrier,
        "aim": lambda one: one.case.aim,
        "language": lambda one: one.case.lang,
    }
    return {name: Counter(way for way, _ in {(key(one), one.case.id) for one in found}) for name, key in ways.items()}
