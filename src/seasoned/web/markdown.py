"""Markdown of sessions as HTML. The text is untrusted: no HTML, no links, no pictures, nothing hidden."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from seasoned.web.display import marked, spoken

_Env = MutableMapping[str, Any]
# Longer texts are shown as they were written.
_MOST_CHARS = 20_000
# Without these a text has no structure, and need not be parsed.
_STRUCTURE = re.compile(r"[`*_~\[<|\\]|^ {0,3}(?:#|>|[-+] |\d{1,9}[.)] |={2,}|-{2,})|^(?: {4}|\t)", re.MULTILINE)
_SIGNS = "`*_~[<\\"
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_TAGS = {
    **{name: name for name in ("p", "strong", "em", "s", "ul", "ol", "li", "blockquote", "hr", "br")},
    **{name: name for name in ("thead", "tbody", "tr", "th", "td")},
    # A heading inside a message is not one of the page.
    **{f"h{level}": "p" for level in range(1, 7)},
}


@lru_cache(1024)
def markdown(text: str) -> Markup:
    """The text as HTML: paragraphs, lists, tables, code. What looks like markup is shown as it is written."""
    if not _STRUCTURE.search(text):
        return Markup("").join(
            [Markup("<p>{}</p>").format(_lines(part)) for part in text.split("\n\n") if part.strip()]
        )
    # Parsing takes long where nearly everything may be a sign.
    if len(text) > _MOST_CHARS or sum(map(text.count, _SIGNS)) > 100 + len(text) // 8:
        return _as_written(text)
    seen: _Env = {"letters": 0}
    made = _parser().render(text, seen)
    # Markdown drops some words: cells beyond the last column, what is nested too deeply. Nothing may hide like that.
    return Markup(made) if seen["letters"] == _letters(text) else _as_written(text)


def _as_written(text: str) -> Markup:
    return Markup('<pre class="said">{}</pre>').format(spoken(text))


def _lines(text: str) -> Markup:
    return Markup("<br>").join([spoken(line) for line in text.strip("\n").split("\n")])


def _letters(text: str) -> int:
    return len(_NOT_LETTERS.sub("", text))


class _SafeRenderer(RendererHTML):
    """Writes only the tags of a list, and no attribute from the text. It counts the letters that it writes."""

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """A tag of the list; of anything else only the content is written."""
        token = tokens[idx]
        if token.tag == "table":
            # It scrolls by itself where it is wider than the page.
            opened = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="words">'
            return opened if token.nesting == 1 else "</table></div>"
        tag = _TAGS.get(token.tag)
        if tag == "th" and not tokens[idx + token.nesting].content.strip():
            tag = "td"  # an empty head of a column names nothing
        if token.hidden or tag is None:
            return ""
        if token.nesting == -1:
            return f"</{tag}>"
        start = token.attrGet("start") if tag == "ol" else None
        more = f' start="{start}"' if isinstance(start, int) else ""
        return f'<{tag} class="heading">' if tag == "p" != token.tag else f"<{tag}{more}>"

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """Words."""
        return self._words(tokens[idx].content, env)

    # Neither is parsed; if one is found nevertheless, it is words.
    html_inline = html_block = text

    def softbreak(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """People who write in a terminal mean their lines."""
        return "<br>"

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """Code in a line."""
        return f"<code>{self._words(tokens[idx].content, env)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """A block of code, with the words behind its fence."""
        token = tokens[idx]
        name = f'<p class="small lang">{self._words(token.info, env)}</p>' if token.info else ""
        env["letters"] += _letters(token.content)
        return f'{name}<pre tabindex="0" role="group" aria-label="Code">{spoken(token.content)}</pre>'

    code_block = fence

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """Nothing: a click must not lead where the text of a stranger wants it."""
        return ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: _Env) -> str:
        """The address behind the words, to be read and copied."""
        # Links are never inside of links.
        at = next(at for at in range(idx, -1, -1) if tokens[at].type == "link_open")
        address, title = str(tokens[at].attrGet("href") or ""), str(tokens[at].attrGet("title") or "")
        if tokens[at].info == "auto":
            return ""
        return f" (<code>{self._words(f'{address} {title}'.strip(), env)}</code>)"

    def _words(self, text: str, env: _Env) -> str:
        env["letters"] += _letters(text)
        return str(marked(text))


class _PlainAddresses(MarkdownIt):
    """Leaves addresses as they were written."""

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link


@cache
def _parser() -> MarkdownIt:
    made = _PlainAddresses("commonmark", {"html": False, "breaks": True}, renderer_cls=_SafeRenderer)
    # Pictures would be asked for, and definitions of links are not shown. Characters are not spelled as entities.
    hidden = ["image", "html_block", "html_inline", "entity", "reference"]
    return made.enable(["table", "strikethrough"]).disable(hidden)
