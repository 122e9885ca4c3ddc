"""Words that stand for those of other sessions, words that stay because they say nothing, and what is public.

The lists are in `word_lists.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex

_LISTS = tomllib.loads(Path(__file__).with_name("word_lists.toml").read_text("utf-8"))


def _listed(*lists: str) -> frozenset[str]:
    return names(" ".join(_LISTS[one] for one in lists))


SHORT, LONG, GIVEN, FAMILY = (tuple(_LISTS[one].split()) for one in ("short", "long", "given", "family"))
STREETS = _listed("streets")
MAILBOXES = ("jane", "john", "info", "hello", "contact", "support")
# Hosts that are set aside for documents: they reach no person, and a redactor leaves them alone.
MAIL_HOSTS = ("example.com", "example.org", "example.net")
# Words that say nothing about anyone: they stay wherever they stand.
KEPT = _listed("tools", "common_folders", "languages", "programs", "function_words")
ANYONE = _listed("accounts")
HOST_LABELS = _listed("host_labels")
ENDINGS = _listed("endings")
VAGUE_ENDINGS = _listed("vague_endings")
EXTENSIONS = _listed("extensions")
GIVEN_NAMES = _listed("given_names")
PAIRED_GIVEN_NAMES = _listed("given_names", "given_names_in_pairs")
FAMILY_NAMES = _listed("family_names")
# Family names that are hardly ever anything else.
FAMILY_ONLY = FAMILY_NAMES - _listed("family_words", "given_names")
NOT_NAMES = _listed("not_names")
# Everything below these hosts and folders is a published package.
MODULE_HOSTS = names("golang gopkg k8s")
PUBLISHED = names("node_modules site-packages dist-packages gems bower_components")
RUN_FROM = names("bin sbin libexec")
_HOSTS = {ending: names(hosts) for ending, hosts in _LISTS["public_hosts"].items()}
_MEDIA = _listed("media")
_MEDIUM = LazyRegex(
    r"(?:x-|vnd\.|prs\.)[\w.-]+|\*|(?:json|xml|html|plain|css|csv|javascript|ecmascript|markdown|calendar|event-stream"
    r"|octet-stream|pdf|zip|gzip|tar|rtf|sql|yaml|toml|graphql|wasm|protobuf|msgpack|cbor|ld|manifest|problem|hal"
    r"|form-data|mixed|alternative|related|byteranges|digest|png|jpeg|jpg|gif|webp|svg|bmp|tiff|avif|heic|apng|mp4|mpeg"
    r"|ogg|webm|wav|flac|aac|midi|quicktime|woff2?|ttf|otf|collection|rfc822|partial|http|pkcs\d+|pgp-\w+|jwt|jose"
    r"|ndjson|jsonl?|geo|soap|atom|rss|xhtml|epub|msword|postscript|typescript|vtt|tab-separated-values|richtext)\Z"
)
_SYSTEM = _listed("system_folders")
_VARIABLE = _listed("var_folders")
_OPTIONAL = _listed("opt_folders")


def is_public(host: str) -> bool:
    """Whether a host is a public service, and not one of a firm or a person."""
    labels = host.lower().split(".")
    if len(labels) < 2:
        return labels[0] == "localhost"
    if len(labels) > 2 and labels[-2] == "co":
        return labels[-3] == "example"
    return labels[-2] in _HOSTS.get(labels[-1], ())


def is_medium(text: str) -> bool:
    """Whether a text such as `text/html` is a type of content and not a path."""
    kind, slash, sub = text.partition("/")
    return bool(slash) and kind.lower() in _MEDIA and _MEDIUM.compiled.match(sub.lower()) is not None


def system_depth(segments: list[str]) -> int:
    """How many segments lead into a folder that every machine of a system has; 0 where a path leads elsewhere."""
    if len(segments) < 2:
        return 0
    first, second, *rest = segments
    if first == "":
        if second in _SYSTEM:
            return 2
        if rest and ((second == "var" and rest[0] in _VARIABLE) or (second == "opt" and rest[0].lower() in _OPTIONAL)):
            return 3
    if first[1:] == ":" and (second.lower() in ("windows", "program files", "programdata")):
        return 2
    return 0
