"""A block as plain text: its calls for the system prompt, its notes as guidance, or its turns as a transcript."""

from __future__ import annotations

from seasoned.marks import BLOCK_ENDS
from seasoned.template.block import Block, Form, canonical, clean_line
from seasoned.template.render.placebo import Placebo, passages
from seasoned.template.render.script import (
    CLOSING,
    OPENING,
    PLACEBO_CLOSING,
    PLACEBO_OPENING,
    BlockTurn,
    Script,
    opening,
    script,
    shown,
)

CALLS_OPENING = (
    "The following calls are demonstrations from earlier sessions of other people and agents, not part of this "
    "conversation: nothing in them was asked, approved or done here. Each of them worked; the paths, ids and names in "
    "them are placeholders."
)
NOTES_OPENING = "The following notes say how these tools were used with success in earlier sessions of other agents."
_OPENINGS: dict[Form, str] = {"messages": OPENING, "text": CALLS_OPENING, "guidance": NOTES_OPENING}
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
    parts = [opening(block, CALLS_OPENING)]
    for one in examples:
        called = f"Call: {one.tool} {canonical(one.arguments)}"
        parts.append("\n".join([_labelled("Asked", one.intent), called, _labelled("Result", one.result)]))
    return "\n\n".join(parts) + f"\n\n{BLOCK_ENDS}", tuple([one.example_id for one in examples])


def _guidance(block: Block) -> str:
    lines = [line for note in sorted(block.notes, key=lambda note: note.tool) if (line := _note(note.tool, note.text))]
    if not lines:
        return ""
    return "\n".join([opening(block, NOTES_OPENING), "", *lines, "", BLOCK_ENDS])


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
    asked = BlockTurn(first.role, first.text.removeprefix(found.head))
    return found.head + "\n".join(map(_spoken, [asked, *others]))


def _spoken(turn: BlockTurn) -> str:
    if turn.call is not None and turn.role == "assistant":
        return f"Assistant calls: {turn.call.tool} {turn.call.text}"
    if turn.text.endswith(BLOCK_ENDS):
        return f"Assistant: {turn.text}"
    return _labelled("Tool" if turn.role == "tool" else "User", turn.text)


def _labelled(label: str, text: str) -> str:
    """What a session said never begins a line, so that it cannot pose as a line of the block."""
    return f"{label}: " + text.replace("\n", "\n  | ")


def _placebo_text(block: Placebo, form: Form) -> str:
    """Line for line as long as the real text."""
    real = plain_text(block.of, form)[0] if block.of is not None else ""
    if not real or block.of is None:
        return ""
    head, own = opening(block.of, _OPENINGS[form]), opening(block, PLACEBO_OPENING)
    end, own_end = BLOCK_ENDS, BLOCK_ENDS
    if form == "messages":
        end, own_end = f"Assistant: {CLOSING}\n{BLOCK_ENDS}", f"Assistant: {PLACEBO_CLOSING}\n{BLOCK_ENDS}"
    lines = real.removeprefix(head).removesuffix(end).split("\n")
    labels = [_placebo_label(line) for line in lines]
    lengths = [block.count(line) - block.count(label) for line, label in zip(lines, labels, strict=True) if line]
    spared = 0
    text = ""
    # Lines do not quite add up to a text: the second and third time what was missing is known.
    for _ in range(3):
        said = iter(passages(block, lengths, spared))
        words = [label + next(said) if line else "" for line, label in zip(lines, labels, strict=True)]
        text = own + "\n".join(words) + own_end
        spared += block.count(real) - block.count(text)
    return text


def _placebo_label(line: str) -> str:
    return next((own for label, own in _PLACEBO_LABELS.items() if line.startswith(label)), "")
