"""Texts and Markdown of sessions as people see them: nothing hides, acts or leads away."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.web.display import ago, markdown, marked, span
from tests.each_case import each_case
from tests.web import hostile

_MARK = re.compile(r'<mark title="[^"<>]*">U\+([0-9A-F]{4,6})</mark>')


@given(st.text())
def test_a_marked_text_is_the_text(text: str) -> None:
    back = _MARK.sub(lambda found: f"&#x{found[1]};", str(marked(text)))
    pieces = [chr(int(found[3:-1], 16)) if found.startswith("&#x") else html.unescape(found) for found in _split(back)]
    assert "".join(pieces) == text


def _split(text: str) -> list[str]:
    return re.findall(r"&#x[0-9A-F]{4,6};|&(?:amp|lt|gt|#34|#39);|.", text, re.DOTALL)


@given(st.text())
def test_nothing_of_it_is_markup_but_the_marks(text: str) -> None:
    assert not set(_MARK.sub("", str(marked(text)))) & set("<>\"'")


@each_case("char", list("\u200b\u200d\u202e\u2066\ufeff\u00a0\u3164\u2800\ufe0f\x00\x1b\t\r\u2028"))
def test_what_cannot_be_seen_is_written_out(char: str) -> None:
    assert f"U+{ord(char):04X}</mark>" in marked(f"a{char}b")


@pytest.mark.parametrize(
    ("seconds", "words"), [(-1, "0 s"), (59.9, "59 s"), (245, "4 min 05 s"), (12_000, "3 h 20 min"), (200_000, "2 d")]
)
def test_a_span_has_the_units_that_matter(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (-5, "2027-01-15"),
        (0, "just now"),
        (61, "1 minute ago"),
        (7200, "2 hours ago"),
        (1_209_599, "13 days ago"),
        (1_209_600, "2027-01-01"),
        (1e300, "–"),
    ],
)
def test_a_time_is_so_long_ago_and_what_is_older_is_its_day(past: float, words: str) -> None:
    assert ago(1_800_000_000.0 - past, 1_800_000_000.0) == words


_ALLOWED = {"p", "strong", "em", "s", "ul", "ol", "li", "blockquote", "hr", "br", "code", "pre", "mark", "div"} | {
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
_ATTRIBUTES = {"class", "tabindex", "role", "aria-label", "title", "start"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.foreign: list[str] = []
        self._marks = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._marks += tag == "mark"
        self.foreign += [tag] if tag not in _ALLOWED else []
        self.foreign += [f"{tag} {name}" for name, _ in attrs if name not in _ATTRIBUTES]

    def handle_endtag(self, tag: str) -> None:
        self._marks -= tag == "mark"

    def handle_data(self, data: str) -> None:
        if not self._marks:
            self.words.append(data)


def _read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(str(markdown(text)))
    reader.close()
    return reader


def _letters(text: str) -> str:
    # The last one is a letter that is drawn as nothing, so it is marked.
    return re.sub(r"[\W\d_\u3164]+", "", text)


def test_what_people_and_models_write_is_drawn() -> None:
    for text, drawn in {
        "Just words.\nTwo lines.\n\nThird.": "<p>Just words.<br>Two lines.</p><p>Third.</p>",
        "# Plan\n- **one**": '<p class="heading">Plan</p>\n<ul>\n<li><strong>one</strong></li>\n</ul>',
        "Run `two`, ~~not~~ *three*": "<p>Run <code>two</code>, <s>not</s> <em>three</em></p>",
        "4. four": '<ol start="4">\n<li>four</li>\n</ol>',
        "| a | |\n|---|---|\n| 1 | 2 |": "<th>a</th>\n<td></td>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>",
        "```sh\nls <b>\n```": 'sh</p><pre tabindex="0" role="group" aria-label="Code">ls &lt;b&gt;\n</pre>',
        "*a* [here](https://x.example/a)": "<p><em>a</em> [here](https://x.example/a)</p>",
        "*a* <https://x.example>": "<p><em>a</em> &lt;https://x.example&gt;</p>",
        "*a* ![p](https://x.example/p.png)": "<p><em>a</em> ![p](https://x.example/p.png)</p>",
    }.items():
        assert drawn in markdown(text), text


def test_nothing_acts_and_nothing_hides() -> None:
    hiding = ("[a]: https://x.example 'secret words'", "| a |\n|---|\n| b | hidden |", "> " * 200 + "deep", "```\n" * 3)
    signs = ("[" * 5000, "*a" * 2500, "**_" * 2000, "[a](" * 1500, "`" * 4001, "|" * 3000, "\\" * 3000, "<!-- x -->")
    for text in (hostile.ALL, f"- {hostile.ALL}", f"| {hostile.LINK} |\n|-|\n| {hostile.SCRIPT} |", *hiding, *signs):
        found = _read(text)
        assert found.foreign == [], text
        assert _letters("".join(found.words)) == _letters(hostile_plain(text)), text[:80]


def hostile_plain(text: str) -> str:
    """Without terminal colours, which hide nothing and are dropped."""
    return re.sub(r"\x1b\[[0-9;:]*m", "", text)


@given(st.text(st.sampled_from("ab \n*_`[]()<>#-|~\\!&;=1.\t\u202e"), max_size=60))
def test_any_signs_are_shown_completely(text: str) -> None:
    found = _read(text)
    assert found.foreign == []
    assert _letters("".join(found.words)) == _letters(text)
