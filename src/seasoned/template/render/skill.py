"""SKILL.md in the open format: a front matter with name and description, then the block."""

from __future__ import annotations

import re

from seasoned.template.block import Block, Form, canonical, clean_line
from seasoned.template.render.placebo import Placebo, passages
from seasoned.template.render.script import shown

_NAME_CHARS = 64
_TOOLS_CHARS = 700
_PREFIX = "seasoned-"


def skill_name(block: Block) -> str:
    """The skill's name, and the name that its folder must have."""
    name = block.template.rpartition("@")[0] or block.template
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return (_PREFIX + (slug or "template"))[:_NAME_CHARS].rstrip("-")


def write_file(block: Block, form: Form, text: str) -> str:
    """The whole file."""
    front = ["---", f"name: {skill_name(block)}", f"description: {canonical(_description(block, form))}", "---"]
    return "\n".join([*front, "", text, ""])


def _description(block: Block, form: Form) -> str:
    """What it holds and when to read it; JSON's string is YAML's too."""
    if isinstance(block, Placebo):
        real = _description(block.of, form) if block.of is not None else ""
        front = skill_name(block.of) if block.of is not None else ""
        (said,) = passages(block, [block.count(real)], block.count(front) - block.count(skill_name(block)))
        return said
    if form == "guidance":
        names = [clean_line(note.tool).replace("`", "'") for note in block.notes]
        what = "How tools were used with success in earlier sessions"
    else:
        names = [one.tool for one in shown(block)]
        what = "Calls that worked in earlier sessions"
    tools = ", ".join(sorted({name for name in names if name}))
    if len(tools) > _TOOLS_CHARS:
        tools = tools[:_TOOLS_CHARS].rpartition(", ")[0] or tools[:_TOOLS_CHARS]
    return f"{what}: {tools}. Read it before the first call of one of these tools."
