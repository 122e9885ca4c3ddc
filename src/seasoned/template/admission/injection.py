"""Recognises prompt injections: orders to a model, fake calls, fake roles, fake approvals.

No list of phrases is complete. Results of tools are replaced by counts, and commands are judged by the table of
commands, so this is the last of several checks: it keeps intents and arguments that plainly address a model out of
templates, memories and skills. The phrases are in `injection.toml`.
"""

from __future__ import annotations

import re
import unicodedata
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from seasoned.lazy_regex import LazyRegex

_READ = 20_000
_SHORT = 600
_DEEPEST = 2
_READABLE = 12
# Of an encoded text at least so much is left when it is decoded: half in hexadecimal, three quarters in base64.
_KEPT = 0.49
# A shorter argument is too short for an order; all of them together are checked at the end.
_WORD_CHARS = 12
_GAP = r"[ ,;:'\"/.~-]{1,4}"
_BETWEEN = r"[^.,;:!?()\[\]{}<>\"\n。、।]{0,40}?"
_WORD = LazyRegex(r"\w+")
_PARTS = LazyRegex(r"\w+\*?")
_SEPARATORS = r"[ .*_\-|/]"
_SPACED = LazyRegex(rf"(?<!\w)(?:\w{_SEPARATORS}{{1,2}}){{5,}}\w(?!\w)")
_SEPARATOR = LazyRegex(rf"{_SEPARATORS}(?=\w(?:{_SEPARATORS}|\Z))")
_ENCODED = LazyRegex(r"[A-Za-z0-9+/]{24,}={0,2}|[A-Za-z0-9_-]{24,}={0,2}")
_ESCAPED = LazyRegex(r"\\u00[0-9a-fA-F]{2}|\\x[0-9a-fA-F]{2}|%[2-7][0-9A-Fa-f]|&#?\w{2,8};")
_UNESCAPE = LazyRegex(r"\\(?:u00|x)([0-9a-fA-F]{2})")
_LEET = LazyRegex(r"[a-z][013457@$][a-z]|(?<![a-z0-9])[013457@$][a-z]{2}")
_LEET_SIGNS = str.maketrans("013457@$", "oieastas")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏвнкмтгпԛԝαβεηικνορτυχωγϲⅼɡıʟᴀᴇɪᴏʀꜱᴛᴜɴɢᴍᴘᴅ",
    "aeopcyxijsdhlbhkmtrnqwabenikvoptuxwyclgilaeiorstungmpd",
)
# Letters that no screen shows and every model reads.
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_FIRST_TAG = chr(min(_TAGS))
_UNSEEN = ("Cf", "Mn", "Co", "Cn")
# If separators are everywhere, word ends are unknown and only the letters are compared.
_JOINED = LazyRegex(
    r"(?:ignore|disregard|forget)(?:all)?(?:the|your|any|my)?(?:previous|prior|above|earlier)(?:instruction|prompt"
    r"|message|rule)|youarenow(?:a|in|dan)|revealyoursystemprompt|permissiongranted|user(?:has)?approved"
)


class _PhraseRule(NamedTuple):
    """An expression, and for each required part its literals: a text that matches contains one of them."""

    needs: tuple[frozenset[str], ...]
    pattern: LazyRegex


class _RulePart(NamedTuple):
    """A list of words inside a rule: as an expression, and the literals of which a text must contain one."""

    pattern: str
    need: frozenset[str]


class _Phrases(NamedTuple):
    stems: tuple[str, ...]
    rules: tuple[_PhraseRule, ...]
    plain: tuple[_PhraseRule, ...]
    signs: tuple[_PhraseRule, ...]
    tongues: tuple[_PhraseRule, ...]
    by_word: dict[str, list[_PhraseRule]]  # the rules whose first need has this word


def phrases_text() -> str:
    """The file of phrases. When it changes, everything is checked again."""
    return Path(__file__).with_name("injection.toml").read_text("utf-8")


@cache
def _phrases() -> _Phrases:
    # Imported here: hooks that have nothing to check do not need it.
    import tomllib

    data = tomllib.loads(phrases_text())
    words: dict[str, list[str]] = {}
    for name, listed in data["words"].items():
        words[name] = [one for word in listed.split() for one in (words[word[1:-1]] if word[0] == "{" else [word])]
    known: dict[str, _RulePart] = {}
    rules = tuple(_rule(text, words, known) for texts in data["rules"].values() for text in texts)
    stems = {word for rule in rules for need in rule.needs for word in need if word[-1] == "*"}
    plain, signs = (
        tuple(
            _PhraseRule((frozenset(one.replace("+", " ") for one in literals.split()),), LazyRegex(text))
            for literals, text in data["patterns"][kind]
        )
        for kind in ("plain", "signs")
    )
    tongues = tuple(rule for row in data["tongues"].values() for rule in _tongue(*row))
    by_word: dict[str, list[_PhraseRule]] = {}
    for rule in rules:
        for word in rule.needs[0]:
            by_word.setdefault(word, []).append(rule)
    return _Phrases(tuple(sorted(stems)), rules, plain, signs, tongues, by_word)


def _rule(text: str, words: Mapping[str, list[str]], known: dict[str, _RulePart]) -> _PhraseRule:
    """One line of `[rules]` as an expression; the file explains how they are written."""

    def part(token: str) -> _RulePart:
        # Most rules are made of the same few lists of words.
        if token not in known:
            known[token] = _rule_part(token, words)
        return known[token]

    made, needs = r"\b", []
    is_joined = True  # Whether what comes next follows at once, without a gap.
    for token in text.split():
        if token in ("^", "$", ":", ","):
            made += {"^": "", "$": r"(?= ?(?:[.!?;,]|$))", ":": r" ?[:=-]", ",": ","}[token]
            made = r"(?:^|[.!?;:] ?)\b" if token == "^" else made
            continue
        if token[0] == "!":
            made += rf"(?!{_GAP}{part(token[1:]).pattern})"
            continue
        if not is_joined:
            made += _GAP
        is_joined = token[0] in "~?"
        if token[0] == "~":
            made += rf"(?:[\w@]+{_GAP}){{0,{token[1:]}}}?"
        elif token[0] == "?":
            made += rf"(?:{part(token[1:]).pattern}{_GAP}){{0,4}}"
        else:
            made += part(token).pattern
            needs.append(part(token).need)
    # The part with the longest words is checked first: most texts lack it.
    needs.sort(key=lambda some: -min(map(len, some)))
    return _PhraseRule(tuple(needs), LazyRegex(made))


def _rule_part(token: str, words: Mapping[str, list[str]]) -> _RulePart:
    choices = [one for part in token.split("|") for one in (words[part[1:-1]] if part[0] == "{" else [part])]
    made = [
        _GAP.join(map(re.escape, one.rstrip("*").split("+"))) + (r"\w*" if one[-1] == "*" else r"\b") for one in choices
    ]
    need = frozenset(max(_PARTS.compiled.findall(one), key=len) for one in choices)
    return _RulePart(f"(?:{'|'.join(made)})", need)


def _tongue(drop: str, orders: str, user: str, approved: str, phrases: str) -> Iterator[_PhraseRule]:
    """The rules for one language, without accents, as the texts are when they are checked."""

    def forms(words: list[str]) -> frozenset[str]:
        return frozenset(form(word.replace("+", " ")) for word in words for form in (_without_marks, _without_accents))

    def near(first: frozenset[str], second: frozenset[str]) -> str:
        return f"(?:{'|'.join(sorted(first))}){_BETWEEN}(?:{'|'.join(sorted(second))})"

    dropping, ordering, users, approving = (forms(words.split()) for words in (drop, orders, user, approved))
    yield _PhraseRule((dropping, ordering), LazyRegex(f"{near(dropping, ordering)}|{near(ordering, dropping)}"))
    yield _PhraseRule((users, approving), LazyRegex(near(users, approving)))
    said = forms(phrases.split("|"))
    yield _PhraseRule((said,), LazyRegex("|".join(rf"(?<!\w){one}(?!\w)" for one in sorted(said))))


def _matches(rules: tuple[_PhraseRule, ...], text: str) -> bool:
    """Whether a rule matches; most are ruled out because the text lacks their literals."""
    return any(rule.pattern.compiled.search(text) for rule in rules if _has_needs(rule, text))


def _has_needs(rule: _PhraseRule, text: str) -> bool:
    # Plain loops: this runs for hundreds of literals of every text.
    for need in rule.needs:
        for literal in need:
            if literal in text:
                break
        else:
            return False
    return True


def _matches_words(flat: str) -> bool:
    """Whether a rule made of words matches; the set of a text's words rules most of them out."""
    phrases = _phrases()
    said = set(_WORD.compiled.findall(flat))
    said.update([stem for stem in phrases.stems if stem[:-1] in flat])
    rules = {rule for word in said if word in phrases.by_word for rule in phrases.by_word[word]}
    return any(
        rule.pattern.compiled.search(flat)
        for rule in rules
        if not any(need.isdisjoint(said) for need in rule.needs[1:])
    )


def is_injection(text: str) -> bool:
    """Whether a text looks like an order to the model, a fake call, a fake role or a fake approval."""
    if len(text) <= _SHORT:
        return bool(text) and _is_short_injection(text)
    return _speaks(text[:_READ], 0)


def holds_injection(arguments: dict[str, Any]) -> bool:
    """Whether a name or a value in the arguments of a call is an injection; the JSON around them does not count."""
    said = [text for text in _texts(arguments) if len(text) > _WORD_CHARS]
    # One check of everything is quicker; only if it finds something is each part checked.
    return bool(said) and is_injection(" ;\n".join(said)) and any(map(is_injection, said))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.values(), *one]
        elif isinstance(one, list | tuple):
            waiting += one


# The same words precede many calls, and are checked when mined and again before they are shown.
@lru_cache(maxsize=4096)
def _is_short_injection(text: str) -> bool:
    return _speaks(text, 0)


def _speaks(text: str, depth: int) -> bool:
    plain = text.lower() if text.isascii() else _without_tricks(text)
    if _orders(plain) or _matches(_phrases().tongues, plain):
        return True
    if not plain.isascii():
        latin = _without_accents(plain.translate(_LOOKALIKES))
        if latin != plain and (_orders(latin) or _matches(_phrases().tongues, _without_accents(plain))):
            return True
    return _is_disguised(text, plain, depth)


def _orders(plain: str) -> bool:
    """Whether a text in lower case orders or approves something, or has marks of a role or a call."""
    phrases = _phrases()
    if _matches(phrases.signs, plain):
        return True
    flat = " ".join(plain.replace("_", " ").replace("’", "'").replace("*", "").split())
    return _matches_words(flat) or _matches(phrases.plain, flat)


def _is_disguised(text: str, plain: str, depth: int) -> bool:
    """Whether an order is hidden: written with gaps or digits for letters, escaped or encoded."""
    if _SPACED.compiled.search(plain):
        joined = _SPACED.compiled.sub(lambda found: _SEPARATOR.compiled.sub("", found.group()), plain)
        if _orders(joined) or _JOINED.compiled.search("".join([c for c in plain if c.isalnum()])):
            return True
    if _JOINED.compiled.search(plain):
        return True
    if _LEET.compiled.search(plain) and _orders(plain.translate(_LEET_SIGNS)):
        return True
    if depth >= _DEEPEST:
        return False
    if _ESCAPED.compiled.search(text):
        opened = _UNESCAPE.compiled.sub(lambda found: chr(int(found.group(1), 16)), unquote(unescape(text)))
        if opened != text and _speaks(opened, depth + 1):
            return True
    return any(_speaks(inner, depth + 1) for found in _ENCODED.compiled.findall(text) for inner in _decoded(found))


def _decoded(word: str) -> list[str]:
    """The readable text that a word encodes in base64 or hexadecimal."""
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    ways: tuple[tuple[Callable[[str], bytes], str], ...] = (
        (bytes.fromhex, word),
        (a2b_base64, body + "=" * (-len(body) % 4)),
    )
    texts = []
    for decode, given in ways:
        try:
            texts.append(decode(given).decode("utf-8", "ignore"))
        except (Error, ValueError):
            continue
    return [text for text in texts if _is_readable(text)]


def encodes_text(text: str) -> bool:
    """Whether a word in a text is another text in base64 or hexadecimal: words are only encoded to hide them."""
    return any(_is_text(inner, word) for word in _ENCODED.compiled.findall(text) for inner in _decoded(word))


def _is_text(inner: str, word: str) -> bool:
    """Whether a word encodes all of this text, and it is words: any name decodes to something."""
    letters = sum(c.isalpha() or c.isspace() for c in inner)
    return len(inner.encode()) >= _KEPT * len(word.rstrip("=")) and letters >= 0.9 * len(inner)


def _is_readable(text: str) -> bool:
    return len(text) >= _READABLE and sum(c.isprintable() for c in text) > 0.9 * len(text) and " " in text


def _without_tricks(text: str) -> str:
    """The text in lower case and normal form, without invisible characters."""
    # Looking up every character takes longer than finding the highest one.
    seen = text.translate(_TAGS) if max(text, default="") >= _FIRST_TAG else text
    normal = unicodedata.normalize("NFKC", seen)
    return "".join([c for c in normal if c < "\x80" or unicodedata.category(c) not in _UNSEEN]).lower()


def _without_marks(text: str) -> str:
    return "".join([c for c in text if unicodedata.category(c) != "Mn"])


def _without_accents(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join([c for c in split if c < "\x80" or not unicodedata.combining(c)])
