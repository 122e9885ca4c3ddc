"""A running experiment whenever one looks: nothing is found where nothing is, and each example has its own credit."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy.special import chdtrc

from seasoned.errors import NotFound, UsageError
from seasoned.example.library.storage import save, set_state
from seasoned.experiment.live import live_session
from seasoned.experiment.live.assignment import (
    ArmShare,
    Split,
    assign,
    assign_logged,
    keep_split,
    log_exposure,
    log_foregone,
    new_split,
    sample_ratio,
)
from seasoned.experiment.live.live_report import (
    MEASURES,
    LiveReport,
    example_effects,
    list_live,
    live_report,
    report_of,
    settled_of,
)
from seasoned.experiment.live.live_session import LiveSession, load_live
from seasoned.report.profile import SessionMeasures
from seasoned.store import open_store
from tests.each_case import each_case
from tests.example.examples import example, template
from tests.experiment.simulated import print_figures
from tests.experiment.stored import add_call, add_session
from tests.torture import TORTURE

SPLIT = new_split("e", [ArmShare("cold"), ArmShare("warm")], salt="s1")
SEEDS = 500 if TORTURE else 20
TOOLS = {"good": "search", "bad": "fetch", "plain": "write"}


def simulated(seed: int, count: int, *, cold: float, warm: float, bad: float | None = None) -> list[LiveSession]:
    """Sessions as they come. Each calls three tools; its own rate is drawn around that of its arm.

    Where `bad` is given, calls of `fetch` fail at that rate in sessions that are shown the example `bad`.
    """
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        assigned = assign(SPLIT, f"gateway:{seed}-{number}")
        assert assigned is not None
        rate = {"cold": cold, "warm": warm}[assigned.arm]
        own = generator.beta(4 * rate, 4 * (1 - rate))
        ids = tuple(one for one in TOOLS if generator.random() < 0.7)
        is_warm = assigned.arm == "warm"
        tools = {}
        for tool in TOOLS.values():
            total = int(generator.integers(1, 5))
            chance = bad if bad is not None and tool == "fetch" and is_warm and "bad" in ids else own
            failed = int(generator.binomial(total, chance))
            tools[tool] = (total - failed, failed)
        found.append(
            LiveSession(
                session=assigned.session,
                arm=assigned.arm,
                at=float(number),
                is_settled=True,
                exposed_arm="warm" if is_warm else None,
                shown=ids if is_warm else (),
                foregone={} if is_warm else {"warm": ids},
                tools=tools,
                measures=_measures(list(tools.values()), generator, own),
                seconds_to_success=float(generator.exponential(60)),
            )
        )
    return found


def _measures(tools: list[tuple[int, int]], generator: np.random.Generator, own: float) -> SessionMeasures:
    ok, failed = (sum(one[at] for one in tools) for at in (0, 1))
    first = int(generator.geometric(max(0.01, 1 - own))) if ok else None
    return SessionMeasures(ok + failed, failed, failed, first, len(tools))


def _report(sessions: list[LiveSession], split: Split = SPLIT) -> LiveReport:
    return report_of(split, sessions, began_at=0.0, now=1e6)


def test_two_thousand_sessions_of_two_equal_arms_show_nothing() -> None:
    """Over many experiments of 2,000 sessions; what any look finds, the last one still finds."""
    count, seeds = (2000, SEEDS) if TORTURE else (400, SEEDS)
    verdicts = [_report(simulated(seed, count, cold=0.2, warm=0.2)).verdict for seed in range(seeds)]
    false = sum(one in ("fewer errors", "more errors") for one in verdicts)
    alarms = verdicts.count("not comparable")
    print_figures(f"A/A: {false} of {seeds} experiments of {count} sessions find something; {alarms} alarms")
    assert false <= 0.05 * seeds + 3 * (0.05 * 0.95 * seeds) ** 0.5
    assert verdicts.count("nothing shown") >= 0.9 * seeds


def test_a_planted_effect_is_found_with_its_sign_and_its_size() -> None:
    count, seeds = (2000, 200) if TORTURE else (600, 5)
    found = held = 0
    for seed in range(seeds):
        report = _report(simulated(seed, count, cold=0.35, warm=0.2))
        interval = report.effects[0].estimate.interval
        assert interval is not None
        found += report.verdict == "fewer errors"
        held += interval.low <= -0.15 <= interval.high
        assert report.verdict != "more errors"
    print_figures(
        f"a planted effect of −15 points in {count} sessions: found in {found} of {seeds}, inside {held} intervals"
    )
    assert found >= 0.9 * seeds and held >= 0.95 * seeds


def test_the_verdict_is_said_in_words_that_claim_no_more() -> None:
    none = _report(simulated(1, 300, cold=0.2, warm=0.2))
    assert none.verdict == "nothing shown" and "no effect is shown so far" in none.sentences[0]
    assert any("no effect" in one for one in none.may_not), "a null is no proof of nothing"
    worse = _report(simulated(1, 400, cold=0.1, warm=0.5))
    assert worse.verdict == "more errors" and "more errors" in worse.sentences[0]


def test_only_the_first_measure_decides_and_the_others_stand_beside_it() -> None:
    report = _report(simulated(3, 600, cold=0.5, warm=0.15))
    assert [(one.measure, one.is_found) for one in report.effects] == [(one, one == "error") for one in MEASURES]
    found = {one.measure: one.estimate for one in report.effects}
    for measure in ("early_errors", "errors", "calls_to_success", "seconds_to_success"):
        interval = found[measure].interval
        assert interval is not None and interval.high < 0, measure
    diverse = found["diversity"].interval
    assert diverse is not None and diverse.low <= 0 <= diverse.high
    cold = report.arms[0]
    assert cold.is_control and cold.calls > cold.measured


def _is_found(found: LiveReport) -> bool:
    return any(one.is_found for one in found.effects)


@pytest.mark.parametrize(("cold", "warm"), [(0.3, 0.3), (0.5, 0.2)])
def test_a_finding_stays_found_at_every_later_look(cold: float, warm: float) -> None:
    for seed in range(20 if TORTURE else 2):
        sessions = simulated(seed, 160, cold=cold, warm=warm)
        looks = [_is_found(_report(sessions[:count])) for count in range(2, 161, 1 if TORTURE else 6)]
        assert looks == sorted(looks)


@pytest.mark.parametrize("arms", [2, 3])
def test_a_wrong_sample_ratio_is_seen_and_a_right_one_is_no_alarm(arms: int) -> None:
    names = [f"a{number}" for number in range(arms)]
    shares = dict.fromkeys(names, 1 / arms)
    wrong = np.array([0.45, 0.55] if arms == 2 else [0.28, 0.36, 0.36])
    generator = np.random.default_rng(2)
    draws = 4000 if TORTURE else 120

    def alarms(truth: np.ndarray) -> float:
        drawn = generator.multinomial(2000, truth, draws)
        return sum(sample_ratio(dict(zip(names, row.tolist(), strict=True)), shares).is_alarm for row in drawn) / draws

    seen, false = alarms(wrong), alarms(np.full(arms, 1 / arms))
    print_figures(f"{arms} arms, 2,000 sessions: mismatch seen in {seen:.1%}, false alarms {false:.2%}")
    assert seen > 0.8
    assert false <= 0.001 + 3 * (0.001 / draws) ** 0.5


@each_case("counts", [[10, 20, 30], [10, 20, 30, 40], [25] * 5, [5, 9, 4, 7, 5], [1, 0, 900], [7] * 3])
def test_the_tail_of_chi_square_is_that_of_scipy(counts: list[int]) -> None:
    named = {f"a{number}": count for number, count in enumerate(counts)}
    found = sample_ratio(named, dict.fromkeys(named, 1 / len(counts)))
    expected = sum(counts) / len(counts)
    assert found.p_value == pytest.approx(chdtrc(len(counts) - 1, sum((n - expected) ** 2 / expected for n in counts)))


def test_an_alarm_forbids_every_finding() -> None:
    sessions = simulated(0, 600, cold=0.6, warm=0.1)
    lost = [one for number, one in enumerate(sessions) if one.arm == "cold" or number % 3]
    found = _report(lost)
    assert found.assigned_ratio.is_alarm and not _is_found(found)
    assert found.sentences[0].startswith("The arms did not get the sessions they should")


def test_an_arm_that_loses_its_outcomes_is_an_alarm_too() -> None:
    sessions = [
        msgspec.structs.replace(one, tools={}) if one.arm == "warm" and number % 3 == 0 else one
        for number, one in enumerate(simulated(0, 900, cold=0.3, warm=0.3))
    ]
    found = _report(sessions)
    assert not found.assigned_ratio.is_alarm and found.measured_ratio.is_alarm
    assert found.sentences[0].startswith("The arms lost sessions unequally")


def test_sessions_count_for_the_arm_they_were_assigned_to_whatever_they_were_shown() -> None:
    sessions = simulated(3, 300, cold=0.6, warm=0.1)
    shown = [
        msgspec.structs.replace(one, exposed_arm="warm" if number % 2 else None) for number, one in enumerate(sessions)
    ]
    found, plain = _report(shown), _report(sessions)
    assert found.effects == plain.effects
    warm = found.arms[1]
    assert 0 < warm.exposed < warm.assigned and found.arms[0].contaminated > 0
    assert any("offer's effect" in one for one in found.may_not)
    assert any("the block of another arm" in one for one in found.may_not)


def test_sessions_after_one_that_is_not_settled_wait() -> None:
    sessions = simulated(1, 100, cold=0.3, warm=0.3)
    sessions[60] = msgspec.structs.replace(sessions[60], is_settled=False)
    found = _report(sessions[::-1])
    assert (found.sessions, found.waiting) == (100, 40)
    assert sum(one.settled for one in found.arms) == 60
    assert found.effects == _report(sessions[:60]).effects


def test_nothing_yet_says_so_and_an_unknown_arm_is_refused() -> None:
    found = _report([])
    assert found.verdict == "no outcomes yet" and found.arms[0].measures["error"].value is None
    assert found.effects[0].estimate.value is None and found.effects[0].estimate.reason
    assert not _is_found(found) and not found.assigned_ratio.is_alarm
    with pytest.raises(UsageError, match="text"):
        _report([LiveSession(session="x", arm="text", at=0.0)])


def test_three_arms_share_the_error() -> None:
    split = new_split("e", [ArmShare("cold"), ArmShare("warm"), ArmShare("text")], salt="s1")
    sessions = [
        msgspec.structs.replace(one, arm=("cold", "warm", "text")[n % 3])
        for n, one in enumerate(simulated(1, 240, cold=0.3, warm=0.3))
    ]
    found = _report(sessions, split)
    assert [one.arm for one in found.effects if one.measure == "error"] == ["warm", "text"]
    assert {one.estimate.interval.level for one in found.effects if one.estimate.interval} == {0.975}


def test_a_harmful_example_is_told_from_those_that_were_shown_beside_it() -> None:
    seeds = 50 if TORTURE else 3
    answers: dict[str, list[str]] = {one: [] for one in TOOLS}
    for seed in range(seeds):
        for one in example_effects(SPLIT, simulated(seed, 500, cold=0.2, warm=0.2, bad=0.6), TOOLS):
            answers[one.example_id].append(one.answer)
    counts = {name: several.count("hurts") for name, several in answers.items()}
    print_figures(
        f"one of three examples triples its tool's errors, 500 sessions: called harmful in {counts} of {seeds}"
    )
    assert answers["bad"].count("hurts") >= 0.9 * seeds
    assert answers["good"].count("hurts") + answers["plain"].count("hurts") <= max(0, 0.05 * seeds)


def test_examples_that_do_nothing_are_almost_never_called_harmful() -> None:
    seeds = SEEDS if TORTURE else 20
    found = [
        one.answer
        for seed in range(seeds)
        for one in example_effects(SPLIT, simulated(seed, 300, cold=0.3, warm=0.3), TOOLS)
    ]
    print_figures(
        f"{found.count('hurts')} of {len(found)} examples that do nothing are called harmful at any of 300 looks"
    )
    assert found.count("hurts") <= 0.005 * len(found) + 3 * (0.005 * len(found)) ** 0.5


def test_a_restored_example_is_judged_by_what_comes_after() -> None:
    sessions = simulated(1, 600, cold=0.2, warm=0.2, bad=0.7)
    (before,) = [one for one in example_effects(SPLIT, sessions, TOOLS) if one.example_id == "bad"]
    (after,) = [one for one in example_effects(SPLIT, sessions, TOOLS, since={"bad": 595.0}) if one.example_id == "bad"]
    assert before.answer == "hurts" and after.answer == "cannot tell" and after.shown + after.foregone <= 5


def test_an_example_that_changes_who_calls_its_tool_is_not_compared() -> None:
    sessions = [
        msgspec.structs.replace(one, tools={**one.tools, "fetch": (0, 2)})
        if one.arm == "warm"
        else msgspec.structs.replace(one, tools={tool: one.tools[tool] for tool in ("search", "write")})
        for one in simulated(1, 400, cold=0.2, warm=0.2)
    ]
    (one,) = [one for one in example_effects(SPLIT, sessions, TOOLS) if one.example_id == "bad"]
    assert one.answer == "cannot tell" and "not comparable" in one.reason


def test_sessions_come_out_of_the_store_with_the_calls_of_their_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_session, "WINDOW_SECONDS", 500.0)
    with open_store(tmp_path / "s.db") as store:
        for native_id, now in (("1", 100.0), ("2", 900.0)):
            assign_logged(store, SPLIT, f"a:{native_id}", now=now)
        other = new_split("e", [ArmShare("cold"), ArmShare("warm", 2)], salt="s1")
        assign_logged(store, other, "a:3", now=100.0)
        log_exposure(store, "e", "a:1", arm="warm", example_ids=["x"], now=101.0)
        first = add_session(store, "a:1")
        child = add_session(store, "a:child", root=first, relation="compression")
        add_call(store, first, 1, "ok", 110.0)
        add_call(store, first, 2, "failed", 120.0)
        add_call(store, first, 3, "trivial", 120.0)
        add_call(store, child, 4, "ok", 150.0)
        add_call(store, child, 5, "ok", 150.0, copy_of=1)
        add_call(store, child, 6, "failed", 650.0)
        add_call(store, add_session(store, "a:fork", root=first, relation="review"), 7, "failed", 120.0)
        add_call(store, add_session(store, "a:sub", root=first, relation="subagent"), 8, "failed", 120.0)
        found = load_live(store, SPLIT, now=1000.0)
    assert [(one.session, one.ok, one.failed, one.is_settled, one.exposed_arm) for one in found] == [
        ("a:1", 2, 1, True, "warm"),
        ("a:2", 0, 0, False, None),
    ]
    assert found[0].measures == SessionMeasures(3, 1, 1, 1, 1) and found[0].seconds_to_success == 10.0
    assert found[0].shown == ("x",)


def test_what_counts_ends_with_the_first_hour_without_a_call(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        for number in (1, 2):
            assign_logged(store, SPLIT, f"a:{number}", now=100.0)
        first = add_session(store, "a:1")
        for number, (counts_as, time) in enumerate((("failed", 200.0), ("ok", 3000.0), ("failed", 9000.0))):
            add_call(store, first, number, counts_as, time)
        looks = [load_live(store, SPLIT, now=now)[0] for now in (3500.0, 6700.0, 9500.0)]
        (_, silent) = load_live(store, SPLIT, now=9500.0)
    assert [one.is_settled for one in looks] == [False, True, True]
    assert {(one.ok, one.failed, one.seconds_to_success) for one in looks} == {(1, 1, 2900.0)}
    assert not silent.is_settled, "who was never heard of may still be read from a file"


def test_the_report_knows_the_state_of_each_example_and_names_what_there_is(tmp_path: Path) -> None:
    shown = example()
    with open_store(tmp_path / "s.db") as store:
        with pytest.raises(NotFound, match="autumn"):
            live_report(store, "autumn", now=1.0)
        save(store, template("files", shown))
        keep_split(store, SPLIT, now=50.0)
        for number in range(60):
            name = f"gateway:{number}"
            found = assign_logged(store, SPLIT, name, now=100.0 + number)
            assert found is not None
            log = log_exposure if found.arm == "warm" else log_foregone
            log(store, "e", name, arm="warm", example_ids=[shown.id], now=101.0)
            add_call(
                store,
                add_session(store, name),
                0,
                "failed" if found.arm == "warm" else "ok",
                120.0 + number,
                tool=shown.tool,
            )
        before = live_report(store, "e", now=130.0)
        report = live_report(store, "e", now=9000.0)
        set_state(store, shown.id, "retired", report.examples[0].effect.reason, now=9000.0)
        after = live_report(store, "e", now=9001.0)
        (line,) = list_live(store)
    assert before.waiting == 60 and before.examples[0].effect.shown == 0 and "not counted yet" in before.sentences[-1]
    assert report.verdict == "more errors" and report.examples[0].effect.answer == "hurts"
    assert "sessions with it" in report.examples[0].effect.reason
    assert (after.examples[0].state, after.examples[0].changed_at) == ("retired", 9000.0)
    assert (line.name, line.arms, line.sessions, line.last_at) == ("e", ("cold", "warm"), 60, 159.0)
    assert msgspec.json.decode(msgspec.json.encode(report), type=LiveReport) == report
    assert len(settled_of([])) == 0
