"""The gate of a review: memory and skills may be used, every other tool is refused with a message."""

from __future__ import annotations

from seasoned.agent.learned_tool import MEMORY, SKILLS

ALLOWED: tuple[str, ...] = tuple(function.__name__ for function in (*MEMORY, *SKILLS))


class Gate:
    """Answers for one review whether a tool may be called, and remembers what was refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def __call__(self, tool: str) -> str | None:
        """None, or the sentence that the model is told instead of a result."""
        if tool in ALLOWED:
            return None
        self.refused.append(tool)
        return (
            f"{tool!r} was not run: this is a review, which may use only {', '.join(ALLOWED[:-1])} and {ALLOWED[-1]}. "
            "It keeps what the conversation has taught and does nothing else. Go on with these, or end."
        )
