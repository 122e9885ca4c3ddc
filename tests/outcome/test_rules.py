"""Every rule of wording carries its own examples; here they are all tried."""

from __future__ import annotations

from seasoned.outcome.wording import compiler, file_tool, harness, program, python, refusal, service, test_runner
from seasoned.outcome.wording import shell as shell_wording
from seasoned.outcome.wording.rule import OutputText, WordingRule, WordingRules, find

MODULES = (compiler, file_tool, harness, program, python, refusal, service, shell_wording, test_runner)
BOOKS = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", rules)
    for module in MODULES
    for name, rules in vars(module).items()
    if isinstance(rules, WordingRules)
]
RULES = [(f"{name}: {rule.name}", rule) for name, rules in BOOKS for rule in rules]


def _problems(rule: WordingRule) -> list[str]:
    missed = [f"misses {text!r}" for text in rule.matches if find(rule, OutputText(text)) is None]
    return [*missed, *[f"matches {text!r}" for text in rule.misses if find(rule, OutputText(text)) is not None]]


def test_every_rule_finds_what_it_must_and_nothing_of_what_it_must_not() -> None:
    assert [(name, problems) for name, rule in RULES if (problems := _problems(rule))] == []
    assert [name for name, rule in RULES if not rule.matches] == [], "a rule without an example cannot be tested"


def test_every_rule_says_why_in_a_sentence() -> None:
    assert [name for name, rule in RULES if len(rule.reason.split()) < 2 or not rule.reason.endswith(".")] == []
    assert {rule.verdict for _, rule in RULES} <= {"ok", "failed"}


def test_names_of_rules_are_unique_in_a_book() -> None:
    assert [name for name, rules in BOOKS if len({rule.name for rule in rules}) != len(list(rules))] == []


def test_a_rule_about_the_end_does_not_look_at_the_middle() -> None:
    words = "make: *** [all] Error 2"
    rule = next(rule for rule in compiler.BUILD_FAILURES if rule.name == "make")
    assert find(rule, OutputText(words)) is not None
    assert find(rule, OutputText(f"{words}\n" + "fine\n" * 40)) is None


def test_colours_of_a_terminal_do_not_hide_words() -> None:
    rule = next(rule for rule in test_runner.TEST_FAILURES if rule.name == "unittest summary")
    assert find(rule, OutputText("\x1b[31mFAILED (failures=2)\x1b[0m")) is not None
