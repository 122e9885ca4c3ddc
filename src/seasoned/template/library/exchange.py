"""Templates as files: our format and three formats of Hermes. Everything in a file is checked before it is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, get_args

import msgspec

from seasoned.command.risk import may_be_example
from seasoned.command.tool import TaskType, is_trivial, kind_of
from seasoned.errors import CannotDo
from seasoned.insight.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.session import ToolCall
from seasoned.template.admission.clean import approves, neutral_result, neutral_text, unclean
from seasoned.template.admission.injection import is_injection
from seasoned.template.anonymize.call import anonymize
from seasoned.template.anonymize.words import Vocabulary
from seasoned.template.call_form import pattern_of
from seasoned.template.example import (
    INTENT_CHARS,
    RESULT_CHARS,
    Example,
    Note,
    Source,
    Template,
    TemplateMetrics,
    Workflow,
    check_name,
    digest,
)
from seasoned.template.library.hermes_file import (
    HermesExample,
    HermesShape,
    TemplateOutline,
    drafts_of,
    judge_result,
    outline_of,
    shape_of,
    to_hermes,
)

Shape = Literal["seasoned", "warm-v1", "warm-v2", "session-template"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
SCHEMA = "seasoned/template/1"
# Limits for files from elsewhere: templates built here stay far below them.
MOST_BYTES = 8_000_000
MOST_EXAMPLES = 200
MOST_ARGUMENT_CHARS = 2_000
_MOST_TEXT_CHARS = 500
_MOST_ITEMS = 50
_MOST_SESSIONS = 500
# A file can claim any support, and any use.
_MOST_SUPPORT = 1_000
_MOST_USES = 1_000_000
# Shown instead of a result that says nothing, once such a call has worked.
_WORKED = "(ok)"
_TOOL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/\-]{0,127}\Z")
# Steps are shown to a model, so they have no quotes, brackets or line ends in which a text could hide.
_STEP = re.compile(r"[\w .:/@+\-]{1,160}\Z")
_HASH = re.compile(r"[0-9a-f]{8,64}\Z")
_NAME = re.compile(r"[!-~]{1,200}\Z")
_encode = msgspec.json.Encoder(order="sorted").encode
_NO_TEMPLATE = (
    "it is neither a template of Seasoned nor one of Hermes (`warm_sessions`, `session-templates`). "
    "`seasoned template export` writes one"
)


class ImportedTemplate(msgspec.Struct, frozen=True):
    """A template from a file, and how much was left out, by reason."""

    template: Template
    shape: Shape
    left_out: dict[str, int]
    # Examples whose results do not show that the call worked: held back until such a call works here.
    unproven: tuple[str, ...] = ()
    usage_count: int = 0  # how often the file says that it was used


def read_template(
    data: bytes, *, redactor: Redactor, now: float, name: str | None = None, place: str = ""
) -> ImportedTemplate:
    """The template in a file, with only what is safe to show. Its examples always have the tier `imported`."""
    shown = repr(place or "the file")
    if len(data) > MOST_BYTES:
        raise CannotDo(f"{shown} cannot be imported: it has more than {MOST_BYTES // 1_000_000} MB.")
    try:
        content = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        raise CannotDo(f"{shown} cannot be imported: it is not valid JSON.") from None
    if not isinstance(content, dict):
        raise CannotDo(f"{shown} cannot be imported: {_NO_TEMPLATE}.")
    schema = content.get("schema")
    if schema == SCHEMA:
        try:
            template = msgspec.convert(content, Template)
        except (msgspec.ValidationError, RecursionError) as error:
            raise CannotDo(f"{shown} cannot be imported: it is not a complete template ({error}).") from None
        return _ImportCheck(redactor, now).own(template, _named(name or template.name, redactor))
    if isinstance(schema, str) and schema.startswith("seasoned/template/"):
        raise CannotDo(f"{shown} cannot be imported: it was written by a newer Seasoned ({schema!r}). Upgrade it.")
    shape = None if schema is not None else shape_of(content)
    if shape is None:
        raise CannotDo(f"{shown} cannot be imported: {_NO_TEMPLATE}.")
    outline = outline_of(content)
    return _ImportCheck(redactor, now).hermes(
        outline, drafts_of(content, shape), shape, _named(name or outline.name, redactor)
    )


def write_template(template: Template, shape: Shape = "seasoned", *, usage_count: int = 0) -> bytes:
    """The template as a file; our format is complete, the others keep what they can."""
    if shape == "seasoned":
        content = {"schema": SCHEMA, **msgspec.to_builtins(template)}
    else:
        content = to_hermes(template, shape, usage_count=usage_count)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def file_name(template: Template) -> str:
    """The name of its file, which cannot leave its folder."""
    return f"{check_name(template.name)}.json"


class _ImportCheck:
    """Checks everything in an import, and counts what is left out."""

    def __init__(self, redactor: Redactor, now: float) -> None:
        self._redactor = redactor
        self._now = now
        self._left_out: Counter[str] = Counter()
        self._unproven: set[str] = set()

    def own(self, template: Template, name: str) -> ImportedTemplate:
        made = [self._own_example(one) for one in template.examples]
        notes = [
            one for one in template.notes[:_MOST_ITEMS] if _TOOL_NAME.match(one.tool) and self._is_harmless(one.text)
        ]
        steps = [one for one in template.workflows[:_MOST_ITEMS] if all(map(_STEP.match, one.steps))]
        self._left_out["unclean"] += len(template.notes) - len(notes) + len(template.workflows) - len(steps)
        outline = TemplateOutline(
            name,
            template.description,
            template.addendum,
            template.tags,
            template.task_type,
            template.sources,
            template.created_at,
            {},
        )
        kept = self._template(name, outline, made)
        return self._import(
            msgspec.structs.replace(
                kept,
                notes=tuple([Note(one.tool, one.text, _bounded(one.support)) for one in notes]),
                workflows=tuple([Workflow(one.steps, _bounded(one.support)) for one in steps]),
                metrics=template.metrics,
            ),
            "seasoned",
        )

    def hermes(
        self, outline: TemplateOutline, drafts: Iterable[HermesExample | str], shape: HermesShape, name: str
    ) -> ImportedTemplate:
        found = list(drafts)
        # Hermes keeps real values, so its examples are redacted and anonymized like mined calls.
        vocabulary = Vocabulary()
        for draft in found:
            if isinstance(draft, HermesExample):
                vocabulary.add(draft.session or outline.name, _text_of(draft.arguments))
        made = [self._hermes_example(draft, vocabulary) for draft in found]
        return self._import(
            self._template(name, outline, made), shape, usage_count=min(outline.usage_count, _MOST_USES)
        )

    def _import(self, template: Template, shape: Shape, *, usage_count: int = 0) -> ImportedTemplate:
        return ImportedTemplate(
            template,
            shape,
            {reason: number for reason, number in sorted(self._left_out.items()) if number},
            tuple(one.id for one in template.examples if one.id in self._unproven),
            usage_count,
        )

    def _template(self, name: str, outline: TemplateOutline, made: Iterable[Example | str]) -> Template:
        examples: dict[str, Example] = {}
        for one in made:
            reason = one if isinstance(one, str) else self._refusal(one)
            if reason is None and not isinstance(one, str) and len(examples) >= MOST_EXAMPLES:
                reason = "too many"
            if isinstance(one, Example) and reason is None and one.id not in examples:
                examples[one.id] = one
            else:
                self._left_out[reason or "repeated"] += 1
        # A time in the future would keep the template young forever.
        created = outline.created_at
        return Template(
            name=name,
            description=self._redactor.text(outline.description)[:_MOST_TEXT_CHARS],
            task_type=_task_type(outline.task_type),
            tags=tuple(dict.fromkeys(self._redactor.text(tag)[:64] for tag in outline.tags[:_MOST_ITEMS] if tag)),
            examples=tuple(examples.values()),
            addendum=self._addendum(outline.addendum),
            sources=tuple([one for one in outline.sessions[:_MOST_SESSIONS] if self._is_name(one)]),
            created_at=self._now if created is None or not 0 <= created <= self._now else created,
            metrics=_metrics(outline),
        )

    def _addendum(self, text: str) -> str:
        """The addendum if it is harmless, else nothing: it opens the block, addressed to the model."""
        if not text.strip():
            return ""
        if not self._is_harmless(text):
            self._left_out["addendum"] += 1
            return ""
        return text

    def _refusal(self, example: Example) -> str | None:
        """Why an example is left out, in one word."""
        if len(example.arguments) > MOST_ARGUMENT_CHARS or len(example.result) > RESULT_CHARS:
            return "too long"
        if len(example.intent) > INTENT_CHARS:
            return "too long"
        if not may_be_example(example.tool, _call(example.tool, example.arguments, None).arguments):
            return "risky"
        return "unclean" if unclean(example, self._redactor) is not None else None

    def _own_example(self, example: Example) -> Example | str:
        try:
            arguments = msgspec.json.decode(example.arguments, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return "unreadable"
        if judge_result(example.tool, arguments, example.result, agent="") == "failed":
            return "failed"
        sources = [
            one
            for one in example.sources[:_MOST_ITEMS]
            if all(map(self._is_name, (one.session, one.root, one.call or "none")))
        ]
        repaired, schema_hash = example.repaired, example.schema_hash
        # The repair is only evidence: without it the example is still useful.
        if repaired is not None and self._redactor.find("\n".join(map(str, msgspec.structs.astuple(repaired)))):
            repaired = None
        rate = example.error_rate
        return msgspec.structs.replace(
            example,
            # Written with sorted keys, so that equal examples have equal ids.
            arguments=_encode(arguments).decode(),
            pattern=self._redactor.text(example.pattern)[:_MOST_TEXT_CHARS],
            support=_bounded(example.support),
            sources=tuple(sources),
            first_seen=self._time(example.first_seen),
            last_seen=self._time(example.last_seen),
            schema_hash=schema_hash if schema_hash is not None and _HASH.match(schema_hash) else None,
            # A file can claim a higher tier; it does not get one.
            tier="imported",
            error_rate=rate if rate is not None and 0 <= rate <= 1 else None,
            repaired=repaired,
            circle="",
        )

    def _hermes_example(self, draft: HermesExample | str, vocabulary: Vocabulary) -> Example | str:
        if isinstance(draft, str):
            return draft
        if is_trivial(draft.tool):
            return "trivial"
        arguments = self._redactor.value(draft.arguments)
        text = _text_of(arguments)
        if len(text) > MOST_ARGUMENT_CHARS:
            return "too long"
        # Checked before anything is shortened or replaced: both could hide what the text says.
        if any(map(is_injection, (draft.intent, draft.result))):
            return "unclean"
        shown = judge_result(draft.tool, draft.arguments, draft.result)
        if shown == "failed":
            return "failed"
        call = _call(draft.tool, text, self._redactor.text(draft.result))
        intent = neutral_text(self._redactor.text(draft.intent), INTENT_CHARS)
        seed = digest(draft.tool, text, draft.call)
        result = neutral_result(call) if shown == "worked" else _WORKED
        bound = anonymize(arguments, result, intent, vocabulary=vocabulary, seed=seed)
        session = draft.session if draft.session and self._is_name(draft.session) else None
        made = Example(
            tool=draft.tool,
            arguments=_text_of(bound.arguments),
            result=bound.result[:RESULT_CHARS],
            intent=bound.intent[:INTENT_CHARS],
            kind=draft.kind,
            pattern=self._redactor.text(pattern_of(draft.tool, bound.arguments)),
            support=_bounded(draft.support),
            sources=() if session is None else (Source(session, draft.call, session),),
            tier="imported",
        )
        if shown == "unproven":
            self._unproven.add(made.id)
        return made

    def _is_name(self, text: str) -> bool:
        """Whether it can be the id of a session or a call."""
        return _NAME.match(text) is not None and not self._redactor.find(text)

    def _is_harmless(self, text: str) -> bool:
        """Whether a text other than a call or its result may be shown to a session."""
        if len(text) > _MOST_TEXT_CHARS or self._redactor.find(text):
            return False
        return not is_injection(text) and not approves(text)

    def _time(self, time: float | None) -> float | None:
        """A time in the past; an example from the future would never become too old."""
        return time if time is not None and 0 <= time <= self._now else None


def _named(name: str, redactor: Redactor) -> str:
    if redactor.find(name):
        raise CannotDo("The template cannot be imported: its name looks like a secret. Give another one with --name.")
    return check_name(name)


def _call(tool: str, arguments: str, result: str | None) -> JudgedCall:
    kind = kind_of(ToolCall("", tool, msgspec.json.decode(arguments)))
    return JudgedCall(0, 0, tool, kind, "ok", "ok", "none", raw_arguments=arguments, result=result)


def _text_of(arguments: dict[str, Any]) -> str:
    return _encode(arguments).decode()


def _bounded(support: int) -> int:
    return min(max(1, support), _MOST_SUPPORT)


def _task_type(text: str | None) -> TaskType | None:
    found: TaskType
    for found in get_args(TaskType):
        if text == found:
            return found
    return None


def _metrics(outline: TemplateOutline) -> TemplateMetrics:
    """The metrics that both formats have."""
    known = {
        name: outline.metrics[name]
        for name in TemplateMetrics.__struct_fields__
        if isinstance(outline.metrics.get(name), int | float)
    }
    try:
        return msgspec.convert(known, TemplateMetrics)
    except msgspec.ValidationError:
        return TemplateMetrics()
