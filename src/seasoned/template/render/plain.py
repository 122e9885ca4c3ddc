"""A block as plain text: calls for the system prompt, notes as guidance, turns as a transcript; and SKILL.md."""

from __future__ import annotations

import re

from seasoned.marks import BLOCK_ENDS
from seasoned.template.block import Block, Form, canonical, clean_line
from seasoned.template.render.placebo import Placebo, passages
from seasoned.template.render.script import BlockTurn, Script, opening, script, shown
from seasoned.template.render.wording import (
    CLOSING,
    PLACEBO_CLOSING,
    SKILL_CALLS,
    SKILL_NOTES,
    SKILL_WHEN,
)

# The limits of the open format for skills: 64 characters of name, 1024 of description.
_SKILL_NAME_CHARS = 64
_SKILL_TOOLS_CHARS = 700
_SKILL_PREFIX = "seasoned-"
_PLACEBO_LABELS = {"User: ": "User: ", "Assistant calls: ": "Assistant: ", "Tool: ": "User: "}


def plain_text(block: Block, form: Form) -> tuple[str, tuple[str, ...]]:
    """The text of a form and the examples it shows; an empty text when there is nothing to show."""
    if isinstance(block, Placebo):
        return _placebo_text(block, form), ()
    if form == "messages":
        found = script(block)
        return _transcript(found), found.example_ids
    return _calls(block) if form == "text" else (_guidance(block), ())


def _calls(block: Block) -> tuple[str, tuple[str, ...]]:
    examples = shown(block)
    if not examples:
        return "", ()
    parts = [opening(block, "text")]
    for one in examples:
        called = f"Call: {one.tool} {one.arguments_json}"
        parts.append("\n".join([_labelled("Asked", one.intent), called, _labelled("Result", one.result)]))
    return "\n\n".join(parts) + f"\n\n{BLOCK_ENDS}", tuple([one.example_id for one in examples])


def _guidance(block: Block) -> str:
    # Sorted, so that the same notes always give the same bytes, which a provider can cache.
    lines = [line for note in sorted(block.notes, key=lambda note: note.tool) if (line := _note(note.tool, note.text))]
    if not lines:
        return ""
    return "\n".join([opening(block, "guidance"), "", *lines, "", BLOCK_ENDS])


def _note(tool: str, text: str) -> str:
    """One line; a note may name its tool itself."""
    name, said = clean_line(tool).replace("`", "'"), clean_line(text)
    for named in (f"`{name}`:", f"{name}:"):
        said = said.removeprefix(named).strip()
    return f"- `{name}`: {said}" if name and said else ""


def _transcript(found: Script) -> str:
    if not found.turns:
        return ""
    first, *others = found.turns
    # The opening line must begin the text, so it is taken out of the first turn and written before its label.
    asked = BlockTurn(first.role, first.text.removeprefix(found.head))
    return found.head + "\n".join(map(_spoken, [asked, *others]))


def _spoken(turn: BlockTurn) -> str:
    if turn.example is not None and turn.role == "assistant":
        return f"Assistant calls: {turn.example.tool} {turn.example.arguments_json}"
    if turn.text.endswith(BLOCK_ENDS):
        return f"Assistant: {turn.text}"
    return _labelled("Tool" if turn.role == "tool" else "User", turn.text)


def _labelled(label: str, text: str) -> str:
    """Text of a session never begins a line, so that it cannot imitate a line of the block."""
    return f"{label}: " + text.replace("\n", "\n  | ")


def _placebo_text(block: Placebo, form: Form) -> str:
    """A text without content that has as many tokens as the real one, line by line."""
    real = plain_text(block.of, form)[0] if block.of is not None else ""
    if not real or block.of is None:
        return ""
    head, own = opening(block.of, form), opening(block, form)
    end, own_end = BLOCK_ENDS, BLOCK_ENDS
    if form == "messages":
        end, own_end = f"Assistant: {CLOSING}\n{BLOCK_ENDS}", f"Assistant: {PLACEBO_CLOSING}\n{BLOCK_ENDS}"
    lines = real.removeprefix(head).removesuffix(end).split("\n")
    labels = [_placebo_label(line) for line in lines]
    lengths = [block.count(line) - block.count(label) for line, label in zip(lines, labels, strict=True) if line]
    spared = 0
    text = ""
    # Tokens of lines do not quite add up to those of the text, so the difference is corrected twice.
    for _ in range(3):
        said = iter(passages(block, lengths, spared))
        words = [label + next(said) if line else "" for line, label in zip(lines, labels, strict=True)]
        text = own + "\n".join(words) + own_end
        spared += block.count(real) - block.count(text)
    return text


def _placebo_label(line: str) -> str:
    return next((own for label, own in _PLACEBO_LABELS.items() if line.startswith(label)), "")


def skill_name(block: Block) -> str:
    """The skill's name, and the name that its folder must have."""
    name = block.template.rpartition("@")[0] or block.template
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return (_SKILL_PREFIX + (slug or "template"))[:_SKILL_NAME_CHARS].rstrip("-")


def skill_file(block: Block, form: Form, text: str) -> str:
    """SKILL.md in the open format: a front matter with name and description, then the text."""
    front = ["---", f"name: {skill_name(block)}", f"description: {canonical(_skill_description(block, form))}", "---"]
    return "\n".join([*front, "", text, ""])


def _skill_description(block: Block, form: Form) -> str:
    """What the skill holds and when to read it. It is written as a JSON string, which YAML reads, too."""
    if isinstance(block, Placebo):
        real = _skill_description(block.of, form) if block.of is not None else ""
        front = skill_name(block.of) if block.of is not None else ""
        (said,) = passages(block, [block.count(real)], block.count(front) - block.count(skill_name(block)))
        return said
    if form == "guidance":
        names = [clean_line(note.tool).replace("`", "'") for note in block.notes]
        what = SKILL_NOTES
    else:
        names = [one.tool for one in shown(block)]
        what = SKILL_CALLS
    tools = ", ".join(sorted({name for name in names if name}))
    if len(tools) > _SKILL_TOOLS_CHARS:
        tools = tools[:_SKILL_TOOLS_CHARS].rpartition(", ")[0] or tools[:_SKILL_TOOLS_CHARS]
    return f"{what}: {tools}. {SKILL_WHEN}"
