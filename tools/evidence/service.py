"""Four services with five tools each, whose arguments are written in ways that no description tells.

For half of the tools the way that holds now is the plain one, which a model may guess without any experience; the
former way is never plain. So a history whose examples are stale costs something that a cold start has.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import msgspec

from seasoned.experiment.task.task_file import (
    Condition,
    Environment,
    EnvironmentTool,
    Expectation,
    Task,
)

STEPS = 2  # requests to the model in a run: the call, and once again after an error
ODD, PLAIN = "odd", "plain"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_STOPS = (
    *("River Park", "Main Station", "Old Market", "North Gate", "Town Hall", "Fish Market", "West Bridge"),
    *("Castle Hill", "Lake View", "Mill Road", "Garden Street", "South Harbour", "Copper Lane", "Rose Square"),
)
_TITLES = (
    *("The Quiet River", "Winter Stones", "A Long Road", "The Green Island", "Seven Lamps", "The Salt Path"),
    *("Night Trains", "The Blue Door", "Small Harbours", "The Last Orchard", "Paper Boats", "A House Of Glass"),
)
_COLOURS = (
    *("dark green", "light blue", "warm grey", "deep red", "pale yellow", "soft orange", "dark brown", "light pink"),
    *("deep violet", "warm white", "pale green", "soft blue"),
)


class Drawn(msgspec.Struct, frozen=True):
    """What one request is about; each tool uses what it needs."""

    n: int
    day: int
    month: int
    hour: int
    minute: int
    cents: int
    few: int
    stop: str
    title: str
    colour: str

    @property
    def words(self) -> dict[str, str]:
        """The same as a user would say it."""
        return {
            "n": str(self.n),
            "date": f"{self.day} {_MONTHS[self.month - 1]} 2026",
            "time": f"{self.hour}:{self.minute:02}",
            "euros": f"{self.cents // 100}.{self.cents % 100:02} euros",
            "few": str(self.few),
            "stop": self.stop,
            "title": self.title,
            "colour": self.colour,
        }


def draw(rng: random.Random) -> Drawn:
    """Values of one request. Hours have two digits, so that no way of writing them needs a zero in front."""
    return Drawn(
        n=rng.randint(101, 989),
        day=rng.randint(10, 28),
        month=rng.randint(1, 12),
        hour=rng.randint(10, 22),
        minute=rng.choice((5, 10, 15, 20, 35, 40, 45, 50, 55)),
        cents=rng.randint(105, 4995),
        few=rng.randint(2, 8),
        stop=rng.choice(_STOPS),
        title=rng.choice(_TITLES),
        colour=rng.choice(_COLOURS),
    )


Write = Callable[[Drawn], str]


class ServiceTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with one argument: how it is written now, how it was written formerly, and what users ask for."""

    name: str
    description: str
    argument: str
    way: str  # whether the way that holds now is odd or plain
    now: Write
    formerly: Write
    like: str  # an expression for the way that holds now
    error: str
    said: tuple[str, ...]  # requests of the histories
    asked: tuple[str, ...]  # requests of the experiment

    def offered(self) -> EnvironmentTool:
        """The tool in the world of a run."""
        return EnvironmentTool(
            name=self.name,
            description=self.description,
            arguments={self.argument: "string"},
            expects=(Expectation(error=self.error, argument=self.argument, like=self.like),),
            result=f"done: {{{self.argument}}}",
        )


class Service(msgspec.Struct, frozen=True):
    """Where an agent works, and its tools."""

    name: str
    about: str
    tools: tuple[ServiceTool, ...]

    def environment(self) -> Environment:
        return Environment(name=self.name, about=self.about, tools=tuple(tool.offered() for tool in self.tools))


SERVICES = (
    Service(
        "depot",
        "the desk of a parcel depot",
        (
            ServiceTool(
                name="parcel_find",
                description="Find a parcel.",
                argument="parcel",
                way=ODD,
                now=lambda d: f"GX-{d.n:06}",
                formerly=lambda d: f"{d.n}/GX",
                like=r"GX-\d{6}",
                error="E21",
                said=("Where is parcel {n} from GX?", "Look up number {n} of GX for me.", "Find GX parcel {n}."),
                asked=(
                    "A customer asks for {n}, sent from GX.",
                    "On which shelf is GX {n}?",
                    "Trace {n} of GX, please.",
                ),
            ),
            ServiceTool(
                name="parcel_weigh",
                description="Note a weight.",
                argument="weight",
                way=ODD,
                now=lambda d: f"W:{d.n}g",
                formerly=lambda d: f"{d.n} GR",
                like=r"W:\d+g",
                error="invalid weight",
                said=("Note a weight of {n} grams.", "The box has {n} grams.", "Put down {n} grams."),
                asked=(
                    "The scale shows {n} grams, record it.",
                    "It weighs {n} grams.",
                    "Enter {n} grams for this one.",
                ),
            ),
            ServiceTool(
                name="parcel_hold",
                description="Hold the next parcel back until a day.",
                argument="until",
                way=PLAIN,
                now=lambda d: f"2026-{d.month:02}-{d.day}",
                formerly=lambda d: f"{d.day}.{d.month:02}.26",
                like=r"2026-\d\d-\d\d",
                error="E07",
                said=(
                    "Hold the next parcel until {date}.",
                    "It should wait till {date}.",
                    "Keep it back until {date}.",
                ),
                asked=("Do not send it before {date}.", "It must stay here up to {date}.", "Delay delivery to {date}."),
            ),
            ServiceTool(
                name="shelf_assign",
                description="Assign a shelf to the parcel on the desk.",
                argument="shelf",
                way=ODD,
                now=lambda d: f"B:{d.few:02}",
                formerly=lambda d: f"B{d.few}",
                like=r"B:\d\d",
                error="no such shelf",
                said=("Put this one on shelf {few} in hall B.", "It goes to hall B, shelf {few}.", "Shelf B {few}."),
                asked=("Hall B has space on shelf {few}, use it.", "Store it in B at {few}.", "Take shelf {few} of B."),
            ),
            ServiceTool(
                name="courier_call",
                description="Order a courier for a time of today.",
                argument="time",
                way=PLAIN,
                now=lambda d: f"{d.hour}:{d.minute:02}",
                formerly=lambda d: f"{d.hour}{d.minute:02}h",
                like=r"\d\d:\d\d",
                error="bad time",
                said=("Send for a courier at {time}.", "A courier at {time} please.", "Pick-up today, {time}."),
                asked=(
                    "Somebody should collect this at {time}.",
                    "Order the van for {time}.",
                    "Have it picked up {time}.",
                ),
            ),
        ),
    ),
    Service(
        "bus",
        "the information desk of a bus company",
        (
            ServiceTool(
                name="departures",
                description="Show the departures from a stop.",
                argument="stop",
                way=ODD,
                now=lambda d: d.stop.upper().replace(" ", "_"),
                formerly=lambda d: d.stop.lower().replace(" ", "-"),
                like=r"[A-Z]+(_[A-Z]+)+",
                error="unknown stop",
                said=(
                    "What leaves from {stop}?",
                    "Departures at {stop} please.",
                    "I am at {stop}, what goes from here?",
                ),
                asked=(
                    "My stop is {stop}. What is leaving?",
                    "See what departs at {stop}.",
                    "Which buses go at {stop}?",
                ),
            ),
            ServiceTool(
                name="next_bus",
                description="The next bus after a time.",
                argument="time",
                way=ODD,
                now=lambda d: f"{d.hour}{d.minute:02}h",
                formerly=lambda d: f"{d.hour}.{d.minute:02}",
                like=r"\d{4}h",
                error="bad time",
                said=("Next bus after {time}?", "And the next one after {time}?", "When is a bus after {time}?"),
                asked=(
                    "Can I catch something after {time}?",
                    "I finish at {time}. Which bus?",
                    "It is {time}, what now?",
                ),
            ),
            ServiceTool(
                name="line_plan",
                description="The stops of a line.",
                argument="line",
                way=ODD,
                now=lambda d: f"L-{d.n}",
                formerly=lambda d: f"{d.n}/L",
                like=r"L-\d+",
                error="no line",
                said=("Where does line {n} stop?", "Show me the plan of the {n}.", "The stops of line {n}, please."),
                asked=("Give the route of the {n}.", "Does line {n} stop at the lake?", "I take line {n}: where to?"),
            ),
            ServiceTool(
                name="fare",
                description="The fare for a number of zones.",
                argument="zones",
                way=PLAIN,
                now=lambda d: str(d.few),
                formerly=lambda d: f"Z{d.few}",
                like=r"\d",
                error="zones?",
                said=("What do {few} zones cost?", "The fare for {few} zones.", "A ticket over {few} zones, how much?"),
                asked=(
                    "Price of a trip through {few} zones?",
                    "I cross {few} zones.",
                    "How much is it for {few} zones?",
                ),
            ),
            ServiceTool(
                name="service_day",
                description="Whether the summer timetable holds on a day.",
                argument="day",
                way=PLAIN,
                now=lambda d: f"2026-{d.month:02}-{d.day}",
                formerly=lambda d: f"2026{d.month:02}{d.day}",
                like=r"2026-\d\d-\d\d",
                error="day not understood",
                said=(
                    "Is it the summer timetable on {date}?",
                    "Which timetable holds {date}?",
                    "Summer or not, {date}?",
                ),
                asked=(
                    "I travel on {date}: summer times?",
                    "Check the timetable for {date}.",
                    "Is {date} summer service?",
                ),
            ),
        ),
    ),
    Service(
        "library",
        "the desk of a public library",
        (
            ServiceTool(
                name="member_card",
                description="Show the card of a member.",
                argument="member",
                way=ODD,
                now=lambda d: f"M/{d.n}",
                formerly=lambda d: f"m#{d.n}",
                like=r"M/\d+",
                error="unknown member",
                said=("Show the card of member {n}.", "Member {n}, please.", "Open the card of number {n}."),
                asked=(
                    "Who is member {n}?",
                    "I need the card with number {n}.",
                    "Member {n} stands here, check the card.",
                ),
            ),
            ServiceTool(
                name="loan_extend",
                description="Extend the loan by a term.",
                argument="term",
                way=ODD,
                now=lambda d: f"P{d.few}W",
                formerly=lambda d: f"{d.few}wk",
                like=r"P\dW",
                error="term",
                said=(
                    "Extend it by {few} weeks.",
                    "{few} more weeks for this loan.",
                    "Make the loan {few} weeks longer.",
                ),
                asked=("Can I keep it {few} weeks more?", "Prolong for {few} weeks.", "Add {few} weeks to the loan."),
            ),
            ServiceTool(
                name="book_find",
                description="Find a book by its title.",
                argument="title",
                way=PLAIN,
                now=lambda d: d.title,
                formerly=lambda d: d.title.upper().replace(" ", "+"),
                like=r"[A-Za-z]+( [A-Za-z]+)+",
                error="no title",
                said=("Do we have {title}?", "Find the book {title}.", "A reader wants {title}."),
                asked=("Is {title} on the shelf?", "Look for {title}.", "Someone asks for the novel {title}."),
            ),
            ServiceTool(
                name="fee_note",
                description="Note a fee in euros.",
                argument="amount",
                way=PLAIN,
                now=lambda d: f"{d.cents // 100}.{d.cents % 100:02}",
                formerly=lambda d: f"{d.cents}ct",
                like=r"\d+\.\d\d",
                error="amount",
                said=("A fee of {euros}.", "Note {euros} for the late return.", "Charge {euros}."),
                asked=("The reader owes {euros}.", "Write down a fee of {euros}.", "It is {euros} for the lost book."),
            ),
            ServiceTool(
                name="room_hold",
                description="Reserve a reading room.",
                argument="room",
                way=ODD,
                now=lambda d: f"RR-0{d.few}",
                formerly=lambda d: f"room{d.few}",
                like=r"RR-\d\d",
                error="no room",
                said=("Reserve reading room {few}.", "Room {few} for the class.", "Hold reading room {few} please."),
                asked=(
                    "Is reading room {few} free? Take it.",
                    "The group wants room {few}.",
                    "Book room {few} for us.",
                ),
            ),
        ),
    ),
    Service(
        "workshop",
        "the counter of a lamp workshop",
        (
            ServiceTool(
                name="price_set",
                description="Set the price of the lamp on the counter.",
                argument="price",
                way=ODD,
                now=lambda d: f"EUR {d.cents // 100}.{d.cents % 100:02}",
                formerly=lambda d: f"{d.cents}ct",
                like=r"EUR \d+\.\d\d",
                error="invalid price",
                said=("Set the price to {euros}.", "This lamp costs {euros} now.", "New price: {euros}."),
                asked=("From today it is {euros}.", "Make it {euros}.", "Reduce this one to {euros}."),
            ),
            ServiceTool(
                name="order_print",
                description="Print an order.",
                argument="order",
                way=ODD,
                now=lambda d: f"#{d.n}",
                formerly=lambda d: f"order_{d.n}",
                like=r"#\d+",
                error="E40",
                said=("Print order {n}.", "I need order number {n} on paper.", "Order {n}, print it."),
                asked=(
                    "Put order {n} on paper.",
                    "A copy of order {n} please.",
                    "The customer wants order {n} printed.",
                ),
            ),
            ServiceTool(
                name="shade_pick",
                description="Pick a shade by its colour.",
                argument="colour",
                way=PLAIN,
                now=lambda d: d.colour,
                formerly=lambda d: d.colour.upper().replace(" ", "_"),
                like=r"[a-z]+ [a-z]+",
                error="no such colour",
                said=("Take a {colour} shade.", "The shade should be {colour}.", "A shade in {colour}."),
                asked=("They want it {colour}.", "Choose the {colour} one.", "Find me a shade that is {colour}."),
            ),
            ServiceTool(
                name="lamp_dim",
                description="Dim the lamp to a percentage.",
                argument="level",
                way=PLAIN,
                now=lambda d: f"{d.few}0",
                formerly=lambda d: f"0.{d.few}",
                like=r"\d0",
                error="level",
                said=("Dim it to {few}0 percent.", "Set the lamp to {few}0 percent.", "Light at {few}0 percent."),
                asked=(
                    "Make it {few}0 percent bright.",
                    "Only {few}0 percent, please.",
                    "Bring the light to {few}0 percent.",
                ),
            ),
            ServiceTool(
                name="repair_due",
                description="Set the day by which a repair is done.",
                argument="day",
                way=PLAIN,
                now=lambda d: f"2026-{d.month:02}-{d.day}",
                formerly=lambda d: f"{d.day}/{d.month:02}",
                like=r"2026-\d\d-\d\d",
                error="bad day",
                said=("The repair is done by {date}.", "Promise it for {date}.", "Ready on {date}."),
                asked=("Tell the customer {date}.", "We finish it on {date}.", "The lamp can be fetched on {date}."),
            ),
        ),
    ),
)


def tasks(each: int, seed: int = 11) -> tuple[Task, ...]:
    """So many requests of every tool, tool by tool; the wording is that of no session of the histories."""
    return tuple(_tasks(each, random.Random(seed)))


def _tasks(each: int, rng: random.Random) -> Iterator[Task]:
    for service in SERVICES:
        environment = service.environment()
        for tool in service.tools:
            for number in range(each):
                drawn = draw(rng)
                wanted = {tool.argument: tool.now(drawn)}
                yield Task(
                    id=f"{tool.name}-{number + 1}",
                    part="confirmation",
                    prompt=tool.asked[number % len(tool.asked)].format(**drawn.words),
                    environment=environment,
                    check=(Condition(called=tool.name, with_=wanted),),
                    tags=(tool.way,),
                    steps=STEPS,
                )
