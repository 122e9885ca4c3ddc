"""Which part of a library a session of a project may be shown, with real names where the calls are the project's own.

Templates keep examples with placeholders, so that they may leave the project. The calls themselves are in the store,
redacted: a session of the same project is shown them from there, and forgetting a session removes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from weakref import WeakKeyDictionary

import msgspec

from seasoned.command import call_text
from seasoned.command.tool import kind_of, output_form
from seasoned.insight.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.session import ToolCall
from seasoned.store import DatabaseRow, Store
from seasoned.template.admission.admit import admit
from seasoned.template.admission.clean import neutral_result, neutral_text, unclean
from seasoned.template.anonymize.call import names_people
from seasoned.template.example import INTENT_CHARS, RESULT_CHARS, Example, NamedExample, Source, Template
from seasoned.template.library.storage import Library, cached_library
from seasoned.template.mine.candidate import words_before
from seasoned.template.mine.selection import is_escalated, is_whole

# By session (`agent:native id`): the key of its project. A session that is missing has none.
Projects = Mapping[str, str]
# Calls of other projects are shown only if this many projects make them: one alone may have peculiar habits.
FEWEST_PROJECTS = 2
_MOST_SCOPES = 64
# How many calls of the project are tried before the example keeps its placeholders.
_TRIED = 3
_encode = msgspec.json.Encoder(order="sorted").encode
# Only used to find: nothing is replaced, so the key does not matter. The store is redacted with the user's own key.
_REDACTOR = Redactor(b"find")


def named(
    store: Store,
    example: Example,
    project: str,
    projects: Projects,
    *,
    short_results: bool = False,
) -> Example | None:
    """An example with the real names of this project; None if it cannot be shown.

    If its calls hold personal data or may not be shown, the placeholders stay where the example shows how a named tool
    is called. A command with invented names teaches nothing, so it is not shown. An example whose calls are no longer
    in the store stays as it is.
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
    return example if not found or _is_convention(example) else None


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


def short_result(call: JudgedCall, redactor: Redactor) -> str:
    """What a named tool answered, in at most 500 characters; a neutral summary if that may not be shown.

    Off by default: the words of a result come from anywhere. The arm `results` of an experiment tells whether small
    models do better when they see them.
    """
    # What was read, found or printed teaches nothing about the tool, and may hold anyone's words.
    if output_form(ToolCall("", call.tool, call.arguments)) != "api":
        return neutral_result(call)
    shown = "".join(c if c.isprintable() or c == "\n" else " " for c in call.result or "").strip()
    if len(shown) > RESULT_CHARS:
        shown = shown[: RESULT_CHARS - 1].rstrip() + "…"
    is_fit = bool(shown) and "[redacted:" not in shown and admit(redactor, shown, commands=True)
    return shown if is_fit and not names_people(call.arguments, shown, "") else neutral_result(call)


def template_of(template: Template, sessions: frozenset[str]) -> Template | None:
    """A template with only the examples that sessions of a project showed; None if none is left."""
    examples = tuple(one for one in template.examples if any(source.session in sessions for source in one.sources))
    return _with_examples(template, examples, is_whole=sessions.issuperset(template.sources)) if examples else None


def library_of(library: Library, sessions: frozenset[str]) -> Library:
    """A library with only what sessions of a project showed."""
    kept = (template_of(template, sessions) for template in library.templates)
    return msgspec.structs.replace(library, templates=tuple(one for one in kept if one is not None))


def scoped(library: Library, project: str | None, projects: Projects) -> Library:
    """A library with only what a session of this project may be shown; None for a session without a project.

    That is what sessions of the same project showed, and how other projects call named tools. A template with nothing
    left stays, without examples, so that its name is still known.
    """
    kept = tuple(_scoped_template(template, project, projects) for template in library.templates)
    if all(one is other for one, other in zip(kept, library.templates, strict=True)):
        return library  # and with it its index
    return msgspec.structs.replace(library, templates=kept)


def _scoped_template(template: Template, project: str | None, projects: Projects) -> Template:
    examples = tuple(one for one in template.examples if _may_be_shown(template, one, project, projects))
    is_whole = all(projects.get(session) == project for session in template.sources)
    return _with_examples(template, examples, is_whole=is_whole)


def _with_examples(template: Template, examples: tuple[Example, ...], *, is_whole: bool) -> Template:
    # Notes and workflows do not name their sessions, so they stay only if all sessions are the project's.
    notes, workflows = (template.notes, template.workflows) if is_whole else ((), ())
    if (len(examples), notes, workflows) == (len(template.examples), template.notes, template.workflows):
        return template
    return msgspec.structs.replace(template, examples=examples, notes=notes, workflows=workflows)


def _may_be_shown(template: Template, example: Example, project: str | None, projects: Projects) -> bool:
    # A file can name any session as its source, so its sources do not count.
    if example.tier == "imported":
        return example.support >= FEWEST_PROJECTS and _is_convention(example)
    # An example that does not say where it comes from comes from the sessions of its template.
    sessions = {source.session for source in example.sources} or set(template.sources)
    homes = {projects.get(session) for session in sessions}
    if project in homes:
        return True
    # A session and its copies count once, even in several projects.
    witnesses = {source.root: projects.get(source.session) for source in example.sources}
    known = set(witnesses.values() if witnesses else homes) - {None}
    return len(known) >= FEWEST_PROJECTS and _is_convention(example)


def _is_convention(example: Example) -> bool:
    """Whether it shows how a named tool is called: not a command, code, a file, a search or a page."""
    arguments = msgspec.json.decode(example.arguments, type=dict)
    if output_form(ToolCall("", example.tool, arguments)) != "api":
        return False
    # Tools under any name can run commands and code.
    return next(call_text.texts(example.tool, call_text.packed(example.tool, arguments)[0]), None) is None


def with_real_names(
    store: Store, library: Library, project: str, projects: Projects, *, short_results: bool = False
) -> Library:
    """What a session of this project may be shown, with the real names of the project where its own calls are known."""
    templates = []
    for template in library.templates:
        made = [named(store, one, project, projects, short_results=short_results) for one in template.examples]
        examples = tuple(one for one in made if one is not None)
        is_same = all(one is other for one, other in zip(made, template.examples, strict=True))
        templates.append(template if is_same else msgspec.structs.replace(template, examples=examples))
    return msgspec.structs.replace(library, templates=tuple(templates))


class _Scopes:
    """What was made of one library: the projects of its sessions, and the library of each project that asked."""

    def __init__(self, projects: Projects) -> None:
        self.projects = projects
        # None if it is the library itself: a reference here would keep it alive forever.
        self.made: dict[tuple[str | None, bool], Library | None] = {}


_known: WeakKeyDictionary[Library, _Scopes] = WeakKeyDictionary()
_lock = Lock()


def library_for(store: Store, project: str | None, *, now: float, short_results: bool = False) -> Library:
    """The library of a store as a session of this project may be shown it, held as long as nothing changes.

    `short_results`: examples of the project also show what named tools answered.
    """
    library = cached_library(store, now=now)
    with _lock:
        scopes = _known.get(library)
        if scopes is None:
            # A change of a project raises the revision, so a library never has the projects of another time.
            rows = store.rows("template.projects")
            scopes = _known[library] = _Scopes({row["session"]: row["project"] for row in rows})
        key = (project, short_results)
        if key not in scopes.made:
            found = scoped(library, project, scopes.projects)
            if project is not None:
                found = with_real_names(store, found, project, scopes.projects, short_results=short_results)
            scopes.made[key] = None if found is library else found
            for oldest in list(scopes.made)[:-_MOST_SCOPES]:
                del scopes.made[oldest]
        return scopes.made[key] or library
