"""The page behind a one-time link: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import json

from seasoned.confirm.notify.wording import moment, visible
from seasoned.confirm.request import Request

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:42rem;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;padding:.75rem}"
    "dt{font-weight:600}dd{margin:0 0 .75rem;overflow-wrap:anywhere}button{font:inherit;padding:.6rem 1.4rem;"
    "margin-right:1rem}input{font:inherit;width:100%;box-sizing:border-box;margin:.25rem 0 1rem;padding:.4rem}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; frame-ancestors 'none';"
        " base-uri 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""
_FORM = """<form method="post" action="">
<input type="hidden" name="token" value="{token}">
<input type="hidden" name="check" value="{check}">
<label for="reason">Reason (kept, and shown to whoever asked)</label>
<input id="reason" name="reason" maxlength="1000" autocomplete="off">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>
"""


def page_of_request(request: Request, *, token: str, check: str, is_spent: bool) -> str:
    """The exact request for the person it is for, with a form as long as it can still be decided by this link."""
    rows = [
        ("Action", request.action),
        ("Description", request.description),
        ("Asked by", request.requester + (f" (calls itself {request.label!r})" if request.label else "")),
        ("Session", request.session_key),
        ("Asked at", moment(request.created_at)),
        ("Expires at", moment(request.expires_at)),
        ("Status", request.status),
        ("Decided by", request.resolved_by or ""),
        ("Reason", request.reason),
        ("Digest", request.digest),
        ("Request", request.id),
    ]
    shown = "".join(f"<dt>{label}</dt><dd>{_text(text)}</dd>\n" for label, text in rows if text)
    details = json.dumps(request.details, ensure_ascii=False, indent=2, sort_keys=True, default=str)
    parts = [f"<dl>\n{shown}</dl>", f"<h2>Details</h2>\n<pre>{_text(details)}</pre>"]
    if request.status != "pending":
        parts.append("<p>It is decided already. There is nothing left to do.</p>")
    elif is_spent:
        parts.append("<p>This link was used already. Use another way to decide.</p>")
    else:
        parts.append(_FORM.format(token=html.escape(token), check=html.escape(check)))
    return page("Confirmation needed" if request.status == "pending" else "Confirmation", "\n".join(parts))


def page_of_sentence(title: str, sentence: str) -> str:
    return page(title, f"<p>{_text(sentence)}</p>")


def page(title: str, body: str) -> str:
    return _PAGE.format(title=html.escape(title), style=_STYLE, body=body)


def _text(text: str) -> str:
    return html.escape(visible(text))
