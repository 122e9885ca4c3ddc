"""Texts, values and links as people see them. Text from sessions can neither hide, nor act, nor lead away."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from difflib import unified_diff
from functools import cache, lru_cache
from urllib.parse import quote, urlencode

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from seasoned.project import name_of
from seasoned.report.page.rows import date
from seasoned.text import plural

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
# Characters that are drawn as nothing.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")
# Variation selectors; entire texts have been hidden in them.
_SELECTORS = re.compile("[\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# A quick test before the slow one: most text has no such character.
_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")
# Sequences that change the colour in a terminal.
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_MOST_LINE = 140
# Two weeks: what is older is known by its day.
_RECENT_SECONDS = 14 * 86_400
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))


def marked(text: str) -> Markup:
    """The text with every invisible character spelled out and marked."""
    # Escaping adds no unusual characters, so both can be done one after the other.
    return Markup(_UNUSUAL.sub(_seen, str(escape(text))))


def spoken(text: str) -> Markup:
    """Like `marked`, but keeps tabs and drops terminal colours, which hide nothing."""
    plain = _COLOUR.sub("", text.replace("\r\n", "\n"))
    return Markup("\t").join([marked(part) for part in plain.split("\t")])


def line(text: str) -> Markup:
    """The beginning of a text in one line, for lists."""
    # A text may have megabytes: only its first words are split off.
    short = " ".join(text.split(None, 60)[:60])
    return marked(short if len(short) <= _MOST_LINE else short[: _MOST_LINE - 1] + "…")


def ago(seconds: float, now: float) -> str:
    """`just now`, `5 minutes ago`, `3 days ago`; the day from two weeks on. The script of the page counts on."""
    past = now - seconds
    if not 0 <= past < _RECENT_SECONDS:
        return date(seconds)
    size, unit = next((pair for pair in _UNITS if past >= pair[0]), (0, ""))
    return f"{plural(int(past // size), unit)} ago" if size else "just now"


def span(seconds: float) -> str:
    """`42 s`, `4 min 05 s`, `3 h 20 min`, `2 d`; the script of the page counts on in the same words."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min" if whole < 172_800 else f"{whole // 86_400} d"


def _seen(match: re.Match[str]) -> str:
    char = match[0]
    return _mark(char) if _is_hidden(char) else char


def _is_hidden(char: str) -> bool:
    if char in " \n":
        return False
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or char in _BLANK or _SELECTORS.match(char) is not None


@lru_cache(4096)
def _mark(char: str) -> Markup:
    name = unicodedata.name(char, "a control character").lower()
    return Markup('<mark title="{}">U+{:04X}</mark>').format(name, ord(char))


def short(text: str) -> str:
    """A title in one line."""
    words = " ".join(text.split(None, 40)[:40])
    return words if len(words) <= 90 else words[:89] + "…"


def difference(before: str | None, after: str | None) -> list[tuple[str, str]]:
    """The lines of a diff, each with its kind: went, came, or stayed."""
    if before is None and after is None:
        return []
    lines = unified_diff((before or "").splitlines(), (after or "").splitlines(), lineterm="", n=3)
    kinds = {"-": "went", "+": "came", " ": "stayed"}
    # The first two lines name the files. Later lines may begin with `---` too: a removed fence of front matter does.
    shown = [line for line in list(lines)[2:] if not line.startswith("@@")]
    return [(kinds[line[0]], line[1:]) for line in shown]


def percent(part: int, whole: int) -> str:
    """`12.5 %`; a dash if the total is zero."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def session_link(session: str) -> str:
    """The page of a session, given as `agent:native id`."""
    return f"sessions/{quote(session, safe=':')}"


def sessions_link(**wanted: str | None) -> str:
    """The list of sessions with these filters; None filters nothing."""
    asked = urlencode({name: value for name, value in wanted.items() if value is not None})
    return f"sessions?{asked}" if asked else "sessions"


def distinct_names(keys: Sequence[str]) -> list[str]:
    """The names of projects; of two with one name, the keys too."""
    names = [name_of(key) for key in keys]
    return [name if names.count(name) == 1 else f"{name} ({key})" for key, name in zip(keys, names, strict=True)]


def project_link(key: str) -> str:
    """The page of a project."""
    return f"projects/{quote(key, safe='')}"


# Longer texts are shown as they were written.
_MOST_MARKDOWN = 20_000
# Without these a text has no structure, and need not be parsed.
_STRUCTURE = re.compile(r"[`*_~|\\]|^ {0,3}(?:#|>|[-+] |\d{1,9}[.)] |={2,}|-{2,})|^(?: {4}|\t)", re.MULTILINE)
_SIGNS = "`*_~[<\\"
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_TAG = re.compile("<[^>]*>")
# A table that is wider than the page scrolls on its own.
_TABLE = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="words">'


@lru_cache(1024)
def markdown(text: str) -> Markup:
    """The text as HTML: paragraphs, lists, tables, code. Links, pictures and HTML are shown as they are written."""
    text = _COLOUR.sub("", text)
    if not _STRUCTURE.search(text):
        return Markup("").join(
            [Markup("<p>{}</p>").format(_lines(part)) for part in text.split("\n\n") if part.strip()]
        )
    # Parsing is slow where nearly everything may be markup.
    if len(text) > _MOST_MARKDOWN or sum(map(text.count, _SIGNS)) > 100 + len(text) // 8:
        return _as_written(text)
    made = _render(text)
    # Markdown drops some words, such as cells beyond the last column. Nothing may hide that way.
    if _letters(html.unescape(_TAG.sub("", made))) != _letters(text):
        return _as_written(text)
    # No attribute comes from the text, so every unusual character stands between tags.
    return Markup("\t").join([Markup(_UNUSUAL.sub(_seen, part)) for part in made.split("\t")])


def _as_written(text: str) -> Markup:
    return Markup('<pre class="said">{}</pre>').format(spoken(text))


def _lines(text: str) -> Markup:
    return Markup("<br>").join([spoken(line) for line in text.strip("\n").split("\n")])


def _letters(text: str) -> int:
    return len(_NOT_LETTERS.sub("", text))


def _render(text: str) -> str:
    tokens = _parser().parse(text)
    for at, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            # A heading inside a message is not one of the page.
            token.tag, token.attrs = "p", {"class": "heading"} if token.nesting == 1 else {}
        elif token.tag in ("th", "td"):
            # Their alignment is a style, which the policy of the pages forbids.
            token.attrs = {}
            if not tokens[at + token.nesting].content.strip():
                token.tag = "td"  # an empty head of a column names nothing
    made: str = _parser().renderer.render(tokens, _parser().options, {})
    return made.replace("<table>", _TABLE).replace("</table>", "</table></div>")


def _code(renderer: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    """A block of code, with the words behind its fence."""
    token = tokens[idx]
    name = f'<p class="small lang">{escape(token.info)}</p>' if token.info else ""
    return f'{name}<pre tabindex="0" role="group" aria-label="Code">{escape(token.content)}</pre>'


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True})
    for kind in ("fence", "code_block"):
        made.add_render_rule(kind, _code)
    # Text of a session must not choose where a click leads, and pictures would be asked for.
    written = ["link", "autolink", "image", "html_block", "html_inline", "entity", "reference"]
    return made.enable(["table", "strikethrough"]).disable(written)
