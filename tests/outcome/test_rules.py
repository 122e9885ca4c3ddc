"""Every wording rule has examples, and the tools of many agents and ecosystems are judged by their words alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from seasoned.outcome.judge import judge
from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, WordingRule, WordingRules, find
from seasoned.session import Result, ToolCall
from tests.outcome.calls import shell
from tests.outcome.rule_examples import EXAMPLES

HERE = Path(__file__).parent

GROUPS = {
    name.lower(): found
    for module in (programs, tools)
    for name, found in vars(module).items()
    if isinstance(found, WordingRules)
}
RULES: dict[str, WordingRule] = {f"{group}: {rule.name}": rule for group, found in GROUPS.items() for rule in found}


def test_every_rule_finds_its_matches_and_none_of_its_misses() -> None:
    tried = {RULES[name] for name in EXAMPLES}
    assert [name for name, rule in RULES.items() if rule not in tried] == [], "a rule without an example is not tested"
    for name, (matches, misses) in EXAMPLES.items():
        assert matches, name
        assert [text for text in matches if find(RULES[name], OutputText(text)) is None] == [], name
        assert [text for text in misses if find(RULES[name], OutputText(text)) is not None] == [], name


def test_every_rule_gives_its_reason_in_a_sentence() -> None:
    assert [name for name, rule in RULES.items() if " " not in rule.reason or not rule.reason.endswith(".")] == []
    assert {rule.verdict for rule in RULES.values()} <= {"ok", "failed"}


def test_names_of_rules_are_unique_in_a_group() -> None:
    for found in GROUPS.values():
        assert len({rule.name for rule in found}) == len(found.rules)


def test_a_rule_about_the_end_does_not_look_at_the_middle() -> None:
    words = "make: *** [all] Error 2"
    rule = next(rule for rule in programs.BUILD_FAILURES if rule.name == "make and ninja")
    assert find(rule, OutputText(words)) is not None
    assert find(rule, OutputText(f"{words}\n" + "fine\n" * 40)) is None


def test_colours_of_a_terminal_do_not_hide_words() -> None:
    rule = next(rule for rule in programs.TEST_FAILURES if rule.name == "pytest and unittest stopped")
    assert find(rule, OutputText("\x1b[31mFAILED (failures=2)\x1b[0m")) is not None


class Spoken(msgspec.Struct):
    """A call of which nothing is recorded beside its result, and the verdict it must get."""

    agent: str
    tool: str
    arguments: dict[str, Any]
    text: str
    verdict: str


def test_what_the_tools_of_many_agents_say_gets_its_verdict() -> None:
    wrong = []
    for line in (HERE / "spoken.jsonl").read_bytes().splitlines():
        case = msgspec.json.decode(line, type=Spoken)
        verdict = judge(ToolCall("c", case.tool, case.arguments, Result(case.text)), agent=case.agent)
        if verdict.verdict != case.verdict:
            wrong.append((case.agent, case.tool, case.text[:60], verdict))
    assert wrong == []


def _judged(name: str) -> list[tuple[str, str]]:
    """Commands, each on a line behind a dollar sign, and the verdict on what they printed."""
    blocks = f"\n{(HERE / name).read_text('utf-8')}".split("\n$ ")[1:]
    parts = [block.partition("\n") for block in blocks]
    made = [(command, shell(command.replace("\\n", "\n"), text)) for command, _, text in parts]
    return [(command, judge(call, agent="inspect").verdict) for command, call in made]


def test_what_programs_of_many_ecosystems_say_is_judged_failed_only_where_they_failed() -> None:
    failed, fine = _judged("failed_commands.txt"), _judged("fine_commands.txt")
    assert len(failed) > 20 and len(fine) > 20
    assert [command for command, verdict in failed if verdict != "failed"] == []
    assert [command for command, verdict in fine if verdict == "failed"] == []
