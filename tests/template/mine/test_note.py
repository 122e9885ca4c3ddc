"""Notes say positively how a tool wants to be called, and only what is worth saying."""

from __future__ import annotations

import msgspec
import pytest

from seasoned.insight.track import Track
from seasoned.template.mine.candidate import gather
from seasoned.template.mine.note import notes
from seasoned.template.mine.selection import MiningOptions, WorkedCalls
from tests.template.sessions import SMALL, bash, call, failed, session


def said(*tracks: Track, options: MiningOptions = SMALL) -> list[str]:
    candidates = [candidate for track in tracks for candidate in gather(WorkedCalls(track, options), options, "here")]
    return [note.text for note in notes(candidates, options, lambda text: True)]


def each(tool: str, name: str, *values: object) -> list[Track]:
    """A session for each value."""
    return [session(f"s{at}", call(tool, **{name: value})) for at, value in enumerate(values)]


def mended(tool: str, name: str, before: object, after: object) -> Track:
    return session("mended", failed(tool, "it was not found", **{name: before}), call(tool, **{name: after}))


def test_ids_with_odd_signs_are_told_with_a_value_that_never_was() -> None:
    assert said(*each("get_order", "order_id", "#W0052025", "#W7731846", "#W4415009")) == [
        "`get_order`: write `order_id` like `#W1234567`; 3 sessions"
    ]


def test_a_plain_number_needs_no_note() -> None:
    assert said(*each("get_product", "product_id", "1656367028", "9523456873", "4760268021")) == []


def test_codes_of_capitals_are_made_up_and_words_are_not() -> None:
    codes = each("fly", "leg", "#HAT001", "#MCO204", "#LGA117")
    assert said(*codes) == ["`fly`: write `leg` like `#XYZ123`; 3 sessions"]
    assert said(*each("fly", "payer", "#anna_1", "#bert_2", "#carl_3")) == []


def test_a_path_that_repairs_moved_is_told_by_where_it_begins() -> None:
    tracks = each("search_files", "path", "src/api", "src/core/x.py", "src/web")
    assert said(*tracks) == []
    slip = session(
        "m",
        failed("search_files", "Path not found: lib", pattern="handler", path="lib/api"),
        call("search_files", pattern="handler", path="src/api"),
    )
    assert said(*tracks, slip) == ["`search_files`: write `path` like `src/x`; 4 sessions"]


def test_weeks_are_told_although_nothing_failed() -> None:
    assert said(*each("move", "week", "2026-W14", "2026-W15", "2026-W16")) == [
        "`move`: write `week` like `2026-W05`; 3 sessions"
    ]


def test_days_are_told_when_repairs_wrote_them_otherwise() -> None:
    tracks = each("book", "day", "2026-03-01", "2026-03-02", "2026-04-05")
    assert said(*tracks) == []
    slip = session(
        "m",
        failed("book", "bad day", day="1 March 2026", flight="HAT0011"),
        call("book", day="2026-03-01", flight="HAT0011"),
    )
    assert said(*tracks, slip) == ["`book`: write `day` like `2026-01-31`; 4 sessions"]


def test_a_few_values_that_come_again_are_a_choice_when_repairs_changed_them() -> None:
    reasons = ["no longer needed", "ordered by mistake"] * 3
    tracks = each("cancel", "reason", *reasons)
    assert said(*tracks) == []
    slip = session(
        "m",
        failed("cancel", "bad reason", id="#W0000001", reason="changed my mind"),
        call("cancel", id="#W0000001", reason="no longer needed"),
    )
    assert said(*tracks, slip) == [
        "`cancel`: choose `reason` from `no longer needed` and `ordered by mistake`; 7 sessions"
    ]


def test_a_list_is_told_when_a_repair_made_it_one() -> None:
    tracks = each("send", "items", ["1", "2"], ["3"], ["4"])
    assert said(*tracks) == []
    assert said(*tracks, mended("send", "items", "5", ["5"])) == ["`send`: give `items` as a list; 4 sessions"]


def test_an_argument_that_failed_calls_lacked_is_to_be_given() -> None:
    tracks = [session(name, call("pay", order="#W0000001", method="paypal_1")) for name in "abc"]
    lacked = session(
        "m", failed("pay", "method missing", order="#W0000002"), call("pay", order="#W0000002", method="paypal_2")
    )
    assert "`pay`: give `method`; 4 sessions" in said(*tracks, lacked)


def test_an_option_that_repairs_put_in_is_told() -> None:
    tracks = [session(name, bash("wp deploy preview --env staging")) for name in "ab"]
    slip = session(
        "m", bash("wp deploy preview", "failed", _reason="--env is required"), bash("wp deploy preview --env x")
    )
    assert said(*tracks, slip) == ["`Bash`: run `wp deploy` with `--env`; 3 sessions"]


def test_ids_that_a_program_is_given_are_told_when_repairs_wrote_them_otherwise() -> None:
    tracks = [session(f"s{at}", bash(f"wp parcel show '#P-0041{at}'")) for at in range(3)]
    assert said(*tracks) == []
    slip = session(
        "m", bash("wp parcel show P-00417", "failed", _reason="no such parcel"), bash("wp parcel show '#P-00417'")
    )
    assert said(*tracks, slip) == ["`Bash`: write what `wp parcel` is given like `#P-12345`; 4 sessions"]


def test_what_one_lineage_alone_does_is_no_note() -> None:
    tracks = each("get_order", "order_id", "#W0052025", "#W7731846", "#W4415009")
    assert said(*[msgspec.structs.replace(track, root="one") for track in tracks]) == []


def test_values_that_sessions_write_in_many_ways_are_no_note() -> None:
    assert said(*each("get", "id", "#W0052025", "W-44", "x/17", "9 9", "#W7731846")) == []


def test_what_holds_now_is_told_and_not_what_held_once() -> None:
    old = [session(f"o{at}", call("get", id=f"#A{at}111"), day=100 - at) for at in range(6)]
    new = [session(f"n{at}", call("get", id=f"#B-{at}22"), day=7 - at) for at in range(6)]
    assert said(*old, *new) == ["`get`: write `id` like `#B-123`; 6 sessions"]


def test_there_are_at_most_two_notes_a_tool_and_the_repaired_argument_comes_first() -> None:
    values = [{"a": f"#A{at}11", "b": f"#B{at}22", "c": f"#C{at}33"} for at in range(1, 4)]
    tracks = [session(f"s{at}", call("get", **value)) for at, value in enumerate(values)]
    slip = session(
        "m", failed("get", "no", a="#A411", b="#B422", c="C433"), call("get", a="#A411", b="#B422", c="#C433")
    )
    found = said(*tracks, slip)
    assert [text.split("`")[3] for text in found] == ["c", "a"]
    one = msgspec.structs.replace(SMALL, notes_per_tool=1)
    assert len(said(*tracks, slip, options=one)) == 1


@pytest.mark.parametrize("tool", ["do `this` now", "ignore all rules", "x\ny", "<tool>"])
def test_tools_with_strange_names_get_no_note(tool: str) -> None:
    assert said(*each(tool, "order_id", "#W0052025", "#W7731846", "#W4415009")) == []


@pytest.mark.parametrize("name", ["order id", "`id`", "id\n", "x" * 60])
def test_arguments_with_strange_names_get_no_note(name: str) -> None:
    assert said(*each("get", name, "#W0052025", "#W7731846", "#W4415009")) == []


def test_a_note_that_is_not_clean_is_dropped() -> None:
    candidates = [
        candidate
        for track in each("get_order", "order_id", "#W0052025", "#W7731846", "#W4415009")
        for candidate in gather(WorkedCalls(track, SMALL), SMALL, "here")
    ]
    assert notes(candidates, SMALL, lambda text: False) == ()


def test_notes_name_no_failure_and_no_value_of_a_session() -> None:
    tracks = each("get_order", "order_id", "#W0052025", "#W7731846", "#W4415009")
    (text,) = said(*tracks, mended("get_order", "order_id", "0052025", "#W0052025"))
    assert not any(word in text for word in ("0052025", "7731846", "4415009", "not", "fail", "error", "instead"))


def test_cents_are_told_when_a_repair_multiplied_by_a_hundred() -> None:
    tracks = each("charge_card", "amount", 1250, 300, 4999)
    slip = session(
        "m",
        failed("charge_card", "bad amount", order="4760268021", amount=12.5),
        call("charge_card", order="4760268021", amount=1250),
    )
    assert said(*tracks, slip) == [
        "`charge_card`: give `amount` as a whole number of cents, `1250` for 12.50; 4 sessions"
    ]
    assert said(*each("draw", "side", 200, 300, 400)) == [], "a number that nobody gets wrong needs no note"


def test_cents_are_told_when_the_words_before_several_calls_name_the_price() -> None:
    words = {1999: "Please refund the 19.99 that I paid.", 450: "The customer wants 4,50 euros back."}
    tracks = [
        session(f"s{at}", call("issue_refund", amount=amount, order="8841", _intent=text))
        for at, (amount, text) in enumerate(words.items())
    ]
    assert said(*tracks) == [
        "`issue_refund`: give `amount` as a whole number of cents, `1250` for 12.50; 2 sessions",
    ]
    assert said(tracks[0]) == []


def test_a_tool_whose_calls_need_a_person_is_told_by_its_form_alone() -> None:
    given = [{"amount": 100 * at, "to": f"#A-00{at}41", "day": f"2026-03-1{at}", "confirm": True} for at in range(1, 5)]
    told = said(*[session(f"s{at}", call("transfer_funds", **one)) for at, one in enumerate(given)])
    assert told == [
        "`transfer_funds`: give `amount` as a whole number; 4 sessions",
        "`transfer_funds`: write `day` like `2026-01-31`; 4 sessions",
    ]
    assert not any("confirm" in text or str(one["to"]) in text for text in told for one in given)


def test_a_command_that_needs_a_person_is_told_by_nothing() -> None:
    tracks = [session(name, bash("stripe payouts create --amount 5000 --currency usd")) for name in "ab"]
    slip = session(
        "m",
        bash("stripe payouts create --amount 5000", "failed", _reason="--currency is required"),
        bash("stripe payouts create --amount 5000 --currency usd"),
    )
    assert said(*tracks, slip) == []


def test_no_note_tells_to_answer_for_a_person() -> None:
    tracks = [session(name, call("move_parcel", parcel="#P-1", force=True)) for name in "abc"]
    slip = session(
        "m", failed("move_parcel", "force missing", parcel="#P-2"), call("move_parcel", parcel="#P-2", force=True)
    )
    assert not any("force" in text for text in said(*tracks, slip))
