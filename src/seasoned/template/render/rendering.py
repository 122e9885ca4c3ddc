"""A block written down: one format, one form, and the bytes that stay as they are."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from seasoned.errors import UsageError
from seasoned.template.block import FORMATS, FORMS, Block, Form, Format, canonical
from seasoned.template.render.formats import WRITERS, hermes_prefill
from seasoned.template.render.plain import plain_text, skill_file
from seasoned.template.render.script import script
from seasoned.template.render.tokens import MESSAGE_TOKENS, count_tokens


class Rendered(msgspec.Struct, frozen=True):
    """What a session is shown. `content` is a JSON list of messages or items, or the text itself; empty: nothing."""

    format: Format
    form: Form
    content: bytes
    tokens: int  # an estimate of what the model reads, with what a chat format puts around it
    example_ids: tuple[str, ...]  # of the examples that are shown; guidance shows none
    digest: str

    @property
    def is_empty(self) -> bool:
        return self.content in (b"", b"[]")


def render(block: Block, format: Format = "openai", form: Form = "messages") -> Rendered:
    """A block in one format and one form. Nothing to show gives an empty rendering, never an error."""
    if format not in FORMATS:
        raise UsageError(f"{format!r} is not a block format. Use one of: {', '.join(FORMATS)}.")
    if form not in FORMS:
        raise UsageError(f"{form!r} is not a block form. Use one of: {', '.join(FORMS)}.")
    writer = WRITERS.get(format)
    if writer is None:
        return _render_file(block, format, form)
    if form == "messages":
        found = script(block)
        return _rendered(format, form, canonical(writer.turns(found)), found.tokens, found.example_ids)
    said, example_ids = plain_text(block, form)
    messages = writer.text(said) if said else []
    tokens = MESSAGE_TOKENS * len(messages) + count_tokens(said + writer.answer) if said else 0
    return _rendered(format, form, canonical(messages), tokens, example_ids)


def prefill_file(rendered: Rendered) -> bytes:
    """The file that Hermes reads at its start, from a rendering for Hermes."""
    if rendered.format != "hermes":
        raise UsageError(f"A prefill file needs a rendering for 'hermes', not for {rendered.format!r}.")
    return hermes_prefill(msgspec.json.decode(rendered.content))


def _render_file(block: Block, format: Format, form: Form) -> Rendered:
    said, example_ids = plain_text(block, form)
    if not said:
        return _rendered(format, form, "", 0, ())
    content = f"{said}\n" if format == "text" else skill_file(block, form, said)
    return _rendered(format, form, content, count_tokens(content), example_ids)


def _rendered(format: Format, form: Form, content: str, tokens: int, example_ids: tuple[str, ...]) -> Rendered:
    data = content.encode()
    return Rendered(format, form, data, tokens, example_ids, blake2b(data, digest_size=8).hexdigest())
