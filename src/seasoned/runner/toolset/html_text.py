"""Converts HTML to text, in a separate process: some pages keep a parser busy forever.

Run as a script without the package around it, in a folder with the page: its file name and address as arguments, the
title and the text as JSON on standard output.
"""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

_DROPPED = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas", "select"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figure", "footer", "form"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table"}
    | {"tr", "ul", "summary", "details"}
)
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)


class _TextExtractor(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.address = address
        self.title = ""
        self.parts: list[str] = []
        self._dropped: list[str] = []
        self._in_title = False
        self._pre = 0
        self._link: tuple[str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            # Many pages never close `head`, and all of their text would be dropped.
            self._dropped.clear()
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag in _DROPPED and tag not in _VOID:
            self._dropped.append(tag)
        elif not self._dropped:
            self._open(tag, dict(attrs))

    def _open(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.parts.append(f"\n{'#' * int(tag[1])} ")
        self._pre += tag == "pre"
        if tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            self._link = (urljoin(self.address, attributes.get("href") or ""), len(self.parts))
        elif tag == "img" and attributes.get("alt"):
            self.parts.append(f"[{attributes['alt']}]")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._dropped:
            if tag in self._dropped:
                # This also closes what was opened inside and never closed.
                del self._dropped[self._dropped.index(tag) :]
        elif tag == "a" and self._link is not None:
            target, start = self._link
            if target.startswith(("http://", "https://")) and "".join(self.parts[start:]).strip():
                self.parts.append(f" ({target})")
            self._link = None
        elif tag in _BLOCKS:
            self.parts.append("\n")
            self._pre -= tag == "pre" and self._pre > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._pre and not self._dropped:
            self.parts.append(data)
        elif not self._dropped:
            text = re.sub(r"\s+", " ", data)
            begins = not self.parts or self.parts[-1].endswith(("\n", " "))
            self.parts.append(text.lstrip() if begins else text)


def reduce(html: str, address: str) -> tuple[str, str]:
    """The title and the text of a page; links keep their addresses."""
    reader = _TextExtractor(address)
    reader.feed(_without_comments(html))
    reader.close()
    lines = [line.rstrip() for line in "".join(reader.parts).split("\n")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return " ".join(reader.title.split())[:300], text


def _without_comments(html: str) -> str:
    """The parser searches for the end of each comment again; a page of nothing but openings would take hours."""
    kept: list[str] = []
    at = 0
    while (begin := html.find("<!--", at)) >= 0:
        kept.append(html[at:begin])
        end = html.find("-->", begin + 4)
        if end < 0:
            return "".join(kept)
        at = end + 3
    return "".join([*kept, html[at:]])


if __name__ == "__main__":
    title, text = reduce(Path(sys.argv[1]).read_text("utf-8", "replace"), sys.argv[2])
    sys.stdout.write(json.dumps({"title": title, "text": text}))
