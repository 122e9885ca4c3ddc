"""Each rule finds its example, leaves the near miss, and has both."""

from __future__ import annotations

import json
import re
import string
from random import Random

from seasoned.redact import Redactor
from seasoned.redact.rules import RULES, WORD_RULES, Rule
from tests.each_case import each_case
from tests.redact.everyday import FOLDER

ALPHABETS = {
    "x": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "d": "123456789",
    "z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
# By kind and first anchor: what the rule must find, and what is near it and must stay. `{x36}` stands for 36 letters.
LINES = (FOLDER / "formats.jsonl").read_text(encoding="utf-8").splitlines()
EXAMPLES = {name: (positive, negative) for name, positive, negative in map(json.loads, LINES)}
R = Redactor(b"k" * 32)


def _fill(example: str) -> str:
    r = Random(example)
    return re.sub(
        r"\{([xhudz])(\d+)\}", lambda m: "".join(r.choice(ALPHABETS[m[1]]) for _ in range(int(m[2]))), example
    )


def _name(kind: str, anchor: str) -> str:
    return f"{kind} {anchor}"


def test_every_rule_has_a_positive_and_a_negative_example() -> None:
    assert {_name(rule.kind, rule.anchors[0]) for rule in (*RULES, *WORD_RULES)} == set(EXAMPLES)
    assert len(RULES) + len(WORD_RULES) == len(EXAMPLES)


@each_case("rule", (*RULES, *WORD_RULES))
def test_the_rule_finds_its_example_and_leaves_the_near_miss(rule: Rule) -> None:
    positive, negative = (_fill(example) for example in EXAMPLES[_name(rule.kind, rule.anchors[0])])
    match = rule.pattern.compiled.search(positive)
    assert match is not None
    for text in (positive, f"see {positive} there", f'{{"a": "x\\n{positive}\\n"}}'):
        done = R.text(text)
        assert match[rule.group] not in done, text
    assert R.text(negative) == negative
