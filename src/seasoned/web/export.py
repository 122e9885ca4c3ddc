"""One session as one HTML file: redacted, without scripts, links or anything that is loaded from elsewhere."""

from __future__ import annotations

from markupsafe import Markup

from seasoned.command.commit import Commit
from seasoned.insight.page.frame import policy
from seasoned.redact.redactor import Redactor
from seasoned.scan.intent import opening_words
from seasoned.session import Session, ToolCall
from seasoned.store import DatabaseRow, Store
from seasoned.web.response import STATIC, template_of
from seasoned.web.view.conversation import children_of, redacted_commits, stored_calls, turns

# More than a page shows, as there is no second page to go to.
_CHARS = (100_000, 20_000)
_MOST_MESSAGES = 20_000
_MOST_CHILDREN = 200


def session_file(store: Store, row: DatabaseRow, found: Session | str, redactor: Redactor) -> str:
    """The page of a session; where its source is gone (`found` says why), with what the store knows of its calls."""
    calls = store.rows("page.calls", {"session_id": row["id"]})
    children = children_of(store, row, _MOST_CHILDREN)
    said, commits, title = [], list[tuple[ToolCall, Commit]](), row["title"] or row["native_id"]
    if isinstance(found, Session):
        said = turns(found, calls, redactor, first=0, children=children, most=_MOST_MESSAGES, chars=_CHARS)
        commits = [(call, one) for call in found.calls() for one in redacted_commits(call, redactor)]
        title = row["title"] or opening_words(found, redactor) or row["native_id"]
    style = "\n".join(STATIC[name][0].read_text("utf-8") for name in ("page.css", "web.css"))
    return template_of("session_file.html").render(
        policy=policy((), style),
        # Safe: the files of this project.
        style=Markup(style),
        row=row,
        title=title,
        turns=said,
        gone="" if isinstance(found, Session) else found,
        calls=[] if isinstance(found, Session) else stored_calls(calls),
        commits=commits,
        children=children,
    )
