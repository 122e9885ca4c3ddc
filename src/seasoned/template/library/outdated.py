"""Which examples calls have stopped working for: their form failed in two lineages after it last worked.

It does not matter whether those sessions were shown the example. The store is asked for few calls: failures of a tool
in its newest sessions, and only for a form that failed in enough lineages whether it has worked since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from sqlite3 import Row
from typing import Any

import msgspec

from seasoned.store import Store
from seasoned.template.example import Example
from seasoned.template.library.guard import CallForm, call_form_of
from seasoned.template.mine.fresh import NEVER, FormEvidence, Moment, is_against_form
from seasoned.text import plural

# So many of the newest sessions in which a tool failed are asked, and so many in which it worked since.
_SESSIONS = 200
# Behind every position in a session.
LAST = 1 << 62


class OutdatedExample(msgspec.Struct, frozen=True):
    """An example whose form no longer works, with what shows it."""

    example: Example
    lineages: int
    first_failure: float
    newest_failure: float

    @property
    def reason(self) -> str:
        return (
            f"Later sessions contradict it: calls made as it shows failed in {plural(self.lineages, 'session')} "
            "since one last worked."
        )

    @property
    def evidence(self) -> dict[str, Any]:
        """What is stored with the state; what works after `newest_failure` restores it."""
        return {
            "lineages": self.lineages,
            "first_failure": self.first_failure,
            "newest_failure": self.newest_failure,
        }


def outdated(store: Store, examples: Iterable[Example], vouched: Mapping[str, float]) -> Iterator[OutdatedExample]:
    """Those of the examples whose form failed in enough lineages since it last worked, or a person vouched for it."""
    for tool, some in _by_tool(examples).items():
        failed = [(form, row) for row in _rows(store, "guard.failed", tool) if (form := _failed_form(row)) is not None]
        for example, form in some if failed else ():
            evidence = FormEvidence()
            evidence.worked = _known_to_work(example, vouched)
            for other, row in failed:
                if other.follows(form):
                    evidence.add_failure(row["root"], _moment(row))
            if evidence.is_outdated() and not has_worked(store, form, after=evidence.doubtful_before()):
                since = [moment for moment in evidence.failed.values() if moment > evidence.worked]
                yield OutdatedExample(example, len(since), min(since)[0], max(since)[0])


def has_worked(store: Store, form: CallForm, *, after: Moment) -> bool:
    """Whether a call of this form worked after a moment."""
    for row in _rows(store, "guard.worked", form.tool, after=after[0]):
        if _moment(row) > after:
            made = call_form_of(form.tool, row["arguments"])
            if made is not None and made.follows(form):
                return True
    return False


def _by_tool(examples: Iterable[Example]) -> dict[str, list[tuple[Example, CallForm]]]:
    found: dict[str, list[tuple[Example, CallForm]]] = {}
    for example in examples:
        form = call_form_of(example.tool, example.arguments)
        if form is not None:
            found.setdefault(example.tool, []).append((example, form))
    return found


def _rows(store: Store, query: str, tool: str, after: float | None = None) -> list[Row]:
    return store.rows(query, {"tool": tool, "after": after, "limit": _SESSIONS})


def _failed_form(row: Row) -> CallForm | None:
    """The form of a failed call, if the failure speaks against it."""
    form = call_form_of(row["tool"], row["arguments"])
    if form is None:
        return None
    said = f"{row['reason']}\n{row['result'] or ''}"
    return form if is_against_form(row["tool"], row["fault"], said, is_shell=form.pattern is not None) else None


def _known_to_work(example: Example, vouched: Mapping[str, float]) -> Moment:
    times = [time for time in (example.last_seen, vouched.get(example.id)) if time is not None]
    return (max(times), LAST) if times else NEVER


def _moment(row: Row) -> Moment:
    return row["moment"], row["position"]
