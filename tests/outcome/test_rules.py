"""Every wording rule has examples, and here they are all tried."""

from __future__ import annotations

from seasoned.outcome.wording import programs, tools
from seasoned.outcome.wording.rule import OutputText, WordingRule, WordingRules, find
from tests.outcome.rule_examples import EXAMPLES

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
