"""What the package offers as a library."""

from __future__ import annotations

from pathlib import Path

import seasoned
from seasoned.template.mine.selection import MiningOptions


def test_a_template_is_built_and_put_into_the_messages_of_a_new_session(samples: Path) -> None:
    saved = seasoned.build("code", [samples / "codex"], options=MiningOptions(min_messages=10), tags=["demo"])
    assert saved.template.name == "code" and saved.template.examples and saved.template.tags == ("demo",)
    messages = [{"role": "user", "content": "Run the tests of this project."}]
    made = seasoned.provision(messages, template="code")
    assert made.block is not None and len(made.messages) > 1
    assert made.messages[-1] == messages[0], made.reason
