"""A log of a customer-service agent: one record with OpenAI messages a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from samples.dice import Clock, Dice
from samples.story import Other
from samples.truth import Ledger

FILE = "openai/customer_service.jsonl"
_SYSTEM = "You help customers of Waypost. Look parcels up with the tools, change only what the customer agreed to."


@dataclass(frozen=True)
class Use:
    """One call of an API tool with its answer; `wrong` says that it failed, and whose fault it was."""

    tool: str
    arguments: dict[str, Any]
    answer: Any
    wrong: str = ""
    pattern: str | None = None


@dataclass(frozen=True)
class Talk:
    """What the customer says, what the agent does, and how it answers; any number of rounds."""

    start: str
    rounds: tuple[tuple[str, tuple[tuple[Use, ...], ...], str], ...]


def find_customer(name: str, number: int, *, by_phone: bool = False) -> Use:
    """Customers are found by e-mail address; a phone number is not accepted."""
    email = f"{name.lower().replace(' ', '.')}@mail.example"
    if by_phone:
        answer = {"status": "error", "message": "email required"}
        return Use("find_customer", {"phone": f"+1 555 01{number % 100:02d}"}, answer, "call", "email")
    answer = {"customer_id": f"C-{number:06d}", "name": name, "email": email}
    return Use("find_customer", {"email": email}, answer, pattern="email")


def get_parcel(number: int, written: str | None = None) -> Use:
    """Parcels have ids such as #P-00417."""
    if written is not None:
        return Use("get_parcel", {"parcel_id": written}, f"Error: parcel {written} not found", "call", "parcel-id")
    states = ("in transit", "at depot Kessel", "delivered", "label error corrected, in transit")
    answer = {"parcel_id": f"#P-{number:05d}", "state": states[number % 4], "week": f"2026-W{10 + number % 9}"}
    return Use("get_parcel", {"parcel_id": f"#P-{number:05d}"}, answer, pattern="parcel-id")


def move_delivery(number: int, week: str) -> Use:
    """Deliveries are moved to a week such as 2026-W14."""
    arguments = {"parcel_id": f"#P-{number:05d}", "week": week}
    if "-W" not in week:
        answer = {"error": {"code": "bad_week", "message": week}}
        return Use("move_delivery", arguments, answer, "call", "week")
    return Use("move_delivery", arguments, {"ok": True, "week": week, "error": None}, pattern="week")


def refund(number: int, cents: int, *, limit: bool = False) -> Use:
    """Postage is given back, up to a limit."""
    arguments = {"parcel_id": f"#P-{number:05d}", "amount_cents": cents}
    if limit:
        return Use("refund_postage", arguments, {"ok": False, "reason": "over limit of 1500"}, "call", "refund")
    return Use("refund_postage", arguments, {"ok": True, "refund_id": f"R-{number}{cents % 97}"}, pattern="refund")


def claim(number: int, *, down: bool = False) -> Use:
    """Open a claim for damage or loss."""
    arguments = {"parcel_id": f"#P-{number:05d}", "reason": "damaged"}
    if down:
        return Use("open_claim", arguments, "Error: claims service timed out after 10 s", "environment", "claim")
    text = "Claim opened. Note: claims filed after an earlier error are merged."
    return Use("open_claim", arguments, text, pattern="claim")


THINK = Use("think", {"thought": "The parcel is late but not lost; moving the delivery is enough."}, "")

TALKS = (
    Talk(
        "2026-03-03T10:00:00",
        (
            (
                "Where is my parcel 417? Ada Fenwick.",
                ((get_parcel(417, "417"),), (get_parcel(417),)),
                "It is at the depot in Kessel.",
            ),
        ),
    ),
    Talk(
        "2026-03-04T11:20:00",
        (
            (
                "I am away next week, can #P-00389 come later? Call me at +1 555 0123.",
                ((find_customer("Bela Ruiz", 123, by_phone=True),),),
                "May I have your e-mail address?",
            ),
            (
                "bela.ruiz@mail.example",
                (
                    (find_customer("Bela Ruiz", 123), get_parcel(389)),
                    (move_delivery(389, "2026-03-16"),),
                    (move_delivery(389, "2026-W12"),),
                ),
                "It comes in week 12.",
            ),
        ),
    ),
    Talk(
        "2026-03-06T09:05:00",
        (
            (
                "My vase arrived broken, #P-00402.",
                ((get_parcel(402),), (claim(402, down=True),), (claim(402),)),
                "I opened a claim.",
            ),
        ),
    ),
    Talk(
        "2026-03-10T16:45:00",
        (
            (
                "I want my postage back for P-431, it was 24 dollars!",
                (
                    (get_parcel(431, "P-431"),),
                    (get_parcel(431),),
                    (refund(431, 2400, limit=True),),
                    (refund(431, 1500),),
                ),
                "I could give back 15 dollars.",
            ),
        ),
    ),
    Talk("2026-03-12T08:30:00", (("Do you deliver on Sundays?", (), "No, on all other days."),)),
    Talk(
        "2026-03-17T13:10:00",
        (
            (
                "#P-00440, please in the week of the 30th.",
                ((get_parcel(440),), (move_delivery(440, "30 March"),), (move_delivery(440, "2026-W14"),)),
                "Moved to week 14.",
            ),
        ),
    ),
    Talk(
        "2026-03-25T15:00:00",
        (
            (
                "Is #P-00443 lost?",
                ((get_parcel(443),), (THINK,)),
                "No: its label had an error, which is corrected. It is on its way.",
            ),
        ),
    ),
    Talk(
        "2026-03-31T10:12:00",
        (
            (
                "Parcel 450 to week 15, please. Noor Haddad, noor.haddad@mail.example",
                ((find_customer("Noor Haddad", 877), get_parcel(450)), (move_delivery(450, "2026-W15"),)),
                "Done.",
            ),
        ),
    ),
    Talk("2026-04-03T12:00:00", (("Broken again: #P-00455.", ((get_parcel(455), claim(455)),), "A claim is open."),)),
    Talk(
        "2026-04-09T09:40:00",
        (("Where is 460?", ((get_parcel(460, "00460"),), (get_parcel(460),)), "At Arden, in transit."),),
    ),
    Talk(
        "2026-04-15T17:25:00",
        (
            (
                "Refund #P-00461, 9 dollars postage.",
                ((get_parcel(461),), (refund(461, 900),)),
                "9 dollars are on their way back.",
            ),
        ),
    ),
    Talk(
        "2026-04-21T11:11:00",
        (
            (
                "Move #P-00466 to week 18 and open a claim, the box is wet.",
                ((get_parcel(466),), (move_delivery(466, "2026-W18"), claim(466))),
                "Both done.",
            ),
        ),
    ),
    Talk(
        "2026-04-29T08:08:00",
        (("Two parcels: #P-00470 and #P-00471. When?", ((get_parcel(470), get_parcel(471)),), "Both this week."),),
    ),
    Talk(
        "2026-05-05T14:50:00",
        (
            (
                "I am Ada Fenwick again, 480 please to week 20.",
                ((find_customer("Ada Fenwick", 417), get_parcel(480)), (move_delivery(480, "2026-W20"),)),
                "Moved.",
            ),
        ),
    ),
    Talk(
        "2026-05-11T10:30:00",
        (("Claim for #P-00481, crushed.", ((get_parcel(481),), (claim(481),)), "The claim is open."),),
    ),
)


def write_log() -> tuple[str, list[Ledger]]:
    """The log, and what was planted in each of its records."""
    lines, ledgers = [], []
    for number, talk in enumerate(TALKS, 1):
        session = f"cs-{talk.start[:10].replace('-', '')}-{number:04d}"
        ledger = Ledger("openai", FILE, session)
        lines.append(json.dumps(_record(talk, session, ledger), ensure_ascii=False))
        ledgers.append(ledger)
    return "\n".join(lines) + "\n", ledgers


def _record(talk: Talk, session: str, ledger: Ledger) -> dict[str, Any]:
    dice, clock = Dice(f"chat {session}"), Clock(talk.start)
    messages: list[dict[str, Any]] = [{"role": "system", "content": _SYSTEM}]
    for question, steps, answer in talk.rounds:
        messages.append({"role": "user", "content": question})
        for uses in steps:
            messages += _step(uses, dice, ledger)
        messages.append({"role": "assistant", "content": answer})
    size = len(json.dumps(messages)) // 4
    usage = {
        "prompt_tokens": size * 3,
        "completion_tokens": size // 3,
        "prompt_tokens_details": {"cached_tokens": size * 2},
    }
    head = {"session_id": session, "created_at": clock.stamp, "model": "gpt-4.1-mini"}
    return head | {"messages": messages, "usage": usage}


def _step(uses: tuple[Use, ...], dice: Dice, ledger: Ledger) -> list[dict[str, Any]]:
    calls, answers = [], []
    for use in uses:
        call_id = "call_" + dice.letters(24)
        function = {"name": use.tool, "arguments": json.dumps(use.arguments, ensure_ascii=False)}
        calls.append({"id": call_id, "type": "function", "function": function})
        text = use.answer if isinstance(use.answer, str) else json.dumps(use.answer, ensure_ascii=False)
        answers.append({"role": "tool", "tool_call_id": call_id, "name": use.tool, "content": text})
        planted = Other(use.tool, use.arguments, text, pattern=use.pattern, fault=use.wrong or None)
        ledger.plant(planted, call_id, use.tool, failed=bool(use.wrong))
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]
