"""Every wording rule has examples, and here they are all tried; the compiled rules are current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from tools.compile_wording import compile_rules, read_toml, write_compiled

from seasoned.outcome.wording.rule import COMPILED, OutputText, WordingRule, find, rules

GROUPS = read_toml()
RULES: list[tuple[str, dict[str, Any], WordingRule]] = [
    (f"{group}: {name}", raw, next(rule for rule in rules(group) if rule.name == name))
    for group, found in GROUPS.items()
    for name, raw in found.items()
    if "include" not in raw
]


def _problems(raw: dict[str, Any], rule: WordingRule) -> list[str]:
    missed = [f"misses {text!r}" for text in raw["matches"] if find(rule, OutputText(text)) is None]
    found = [f"matches {text!r}" for text in raw.get("misses", ()) if find(rule, OutputText(text)) is not None]
    return missed + found


def test_every_rule_finds_its_matches_and_none_of_its_misses() -> None:
    assert len(RULES) > 90
    assert [name for name, raw, _ in RULES if not raw.get("matches")] == [], "a rule without an example is not tested"
    assert [(name, problems) for name, raw, rule in RULES if (problems := _problems(raw, rule))] == []


def test_every_rule_gives_its_reason_in_a_sentence() -> None:
    assert [name for name, _, rule in RULES if len(rule.reason.split()) < 2 or not rule.reason.endswith(".")] == []
    assert {rule.verdict for _, _, rule in RULES} <= {"ok", "failed"}


def test_names_of_rules_are_unique_in_a_group() -> None:
    assert [group for group in GROUPS if len({rule.name for rule in rules(group)}) != len(list(rules(group)))] == []


def test_a_rule_has_no_key_that_is_not_known() -> None:
    known = {*WordingRule.__struct_fields__, "matches", "misses"}
    assert [(name, raw.keys() - known) for name, raw, _ in RULES if raw.keys() - known] == []


def test_the_compiled_rules_are_current() -> None:
    compiled = write_compiled(compile_rules(GROUPS))
    if Path(COMPILED).read_bytes() != compiled:
        Path(COMPILED).write_bytes(compiled)
        raise AssertionError(f"{COMPILED} was out of date and has been rewritten. Run the tests again and commit it.")
    assert msgspec.json.decode(compiled).keys() == GROUPS.keys()


def test_a_rule_about_the_end_does_not_look_at_the_middle() -> None:
    words = "make: *** [all] Error 2"
    rule = next(rule for rule in rules("build_failures") if rule.name == "make")
    assert find(rule, OutputText(words)) is not None
    assert find(rule, OutputText(f"{words}\n" + "fine\n" * 40)) is None


def test_colours_of_a_terminal_do_not_hide_words() -> None:
    rule = next(rule for rule in rules("test_failures") if rule.name == "unittest summary")
    assert find(rule, OutputText("\x1b[31mFAILED (failures=2)\x1b[0m")) is not None
