"""Examples as the sessions of a project wrote them: inside their own project names and paths are real.

A template keeps examples with placeholders, which may leave the project. The calls themselves are in the store,
redacted, so what a session of the same project is shown is read from there and is gone when the session is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from seasoned.command.tool import kind_of
from seasoned.insight.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.session import ToolCall
from seasoned.store import DatabaseRow, Store
from seasoned.template.admission.clean import unclean
from seasoned.template.admission.neutral import neutral_result, neutral_text
from seasoned.template.admission.short_result import short_result
from seasoned.template.anonymize.call import names_people
from seasoned.template.example import INTENT_CHARS, Example, NamedExample, Source
from seasoned.template.mine.intent import words_before
from seasoned.template.mine.selection import is_escalated, is_whole

# Calls of the project that are tried before an example is left as it is kept.
_TRIED = 3
_encode = msgspec.json.Encoder(order="sorted").encode
# Only finds: nothing is replaced by a tag, so the key does not matter. The store is redacted with the user's own key.
_REDACTOR = Redactor(b"find")


def named(
    store: Store,
    example: Example,
    project: str,
    projects: Mapping[str, str],
    may_cross: Callable[[Example], bool],
    *,
    short_results: bool = False,
) -> Example | None:
    """An example with the real names of this project.

    Where its calls hold personal data or cannot be shown as they are, the placeholders stay if it `may_cross` borders;
    otherwise it is not shown: a command with invented names teaches nothing. What the store does not hold stays.
    """
    if example.tier == "imported":
        return example
    own = [source for source in example.sources if projects.get(source.session) == project]
    found = False
    for source in own[:_TRIED]:
        row = store.row("template.shown_call", {"session": source.session, "call_id": source.call})
        if row is None:
            continue
        found = True
        shown = _shown(example, source, row, project, short_results=short_results)
        if shown is not None:
            return shown
    return example if not found or may_cross(example) else None


def _shown(
    example: Example, source: Source, row: DatabaseRow, project: str, *, short_results: bool
) -> NamedExample | None:
    call = _call(row)
    if not is_whole(call) or is_escalated(call.arguments):
        return None
    others = tuple(one for one in example.sources if one != source)
    kept = {name: getattr(example, name) for name in Example.__struct_fields__}
    made = NamedExample(
        **{
            **kept,
            "arguments": _encode(call.arguments).decode(),
            "result": short_result(call, _REDACTOR) if short_results else neutral_result(call),
            "intent": neutral_text(words_before(call), INTENT_CHARS),
            # The first is the one that is shown.
            "sources": (source, *others),
            "repaired": None,
        },
        kept_as=example.id,
    )
    if names_people(call.arguments, made.result, made.intent) or unclean(made, _REDACTOR, project=project) is not None:
        return None
    return made


def _call(row: DatabaseRow) -> JudgedCall:
    arguments = row["arguments"]
    kind = kind_of(ToolCall("", row["tool"], msgspec.json.decode(arguments)))
    return JudgedCall(0, 0, row["tool"], kind, "ok", "ok", "none", None, arguments, row["result"], intent=row["intent"])
