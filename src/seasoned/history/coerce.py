"""Converts loosely typed JSON values: objects, texts, times, token counts, content blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from seasoned.history.json_file import decode
from seasoned.lazy_regex import LazyRegex
from seasoned.session import Usage

_PART_KINDS = {
    "image_url": "image",
    "input_image": "image",
    "image-url": "image",
    "input_audio": "audio",
    "audio-url": "audio",
    "video_url": "video",
    "video-url": "video",
    "input_file": "file",
    "document-url": "document",
}
# Fields that may hold the part itself.
_WITHIN = ("source", "image_url", "input_audio", "file", "inlineData", "inline_data", "fileData", "resource")
_MEDIA_NAMES = ("media_type", "mediaType", "mime_type", "mimeType")
_DATA_NAMES = ("data", "file_data", "image_url", "url", "blob")
# Bounded repetitions: the fields may hold anything an agent wrote.
_MEDIA_TYPE = LazyRegex(r"[a-z]{1,20}/[a-z0-9][a-z0-9.+-]{0,70}", re.ASCII)
_DATA_URL = LazyRegex(r"data:([a-z0-9.+/-]{0,90})(?:;[a-z0-9=.-]{1,40}){0,3}?;base64,", re.ASCII | re.IGNORECASE)
# A type is copied into the text, so a long one is cut.
_MOST_KIND = 40


def placeholder(part: dict[str, Any]) -> str | None:
    """A line for a part that is not text: `[image: image/png]`. None if its kind is unknown."""
    media_type = next((found for one in _within(part) if (found := _media_type(one)) is not None), None)
    kind = _kind(part, media_type)
    if kind is None:
        return None
    return f"[{kind}]" if media_type is None else f"[{kind}: {media_type}]"


def _kind(part: dict[str, Any], media_type: str | None) -> str | None:
    declared = part.get("type")
    if not isinstance(declared, str) and part.get("kind") in _PART_KINDS:
        declared = part["kind"]
    if isinstance(declared, str):
        return _PART_KINDS.get(declared, declared)[:_MOST_KIND]
    if media_type is None:
        return None
    family = media_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else "file"


def _within(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part
    for name in _WITHIN:
        if isinstance(found := part.get(name), dict):
            yield found


def _media_type(fields: dict[str, Any]) -> str | None:
    for name in _MEDIA_NAMES:
        if isinstance(found := fields.get(name), str) and _MEDIA_TYPE.compiled.fullmatch(found.lower()):
            return found.lower()
    for name in _DATA_NAMES:
        url = _DATA_URL.compiled.match(found) if isinstance(found := fields.get(name), str) else None
        if url is not None and _MEDIA_TYPE.compiled.fullmatch(url[1].lower()):
            return url[1].lower()
    return None


def text_of(content: object) -> str:
    """The text of a content: a string, a list of blocks, one block, or null."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, dict):
        for key in ("text", "content", "output"):
            if key in content:
                return text_of(content[key])
        # An unknown block is shown as it is: leaving it out would hide that something was there.
        return placeholder(content) or msgspec.json.encode(content).decode()
    if isinstance(content, list):
        return "\n".join([part for part in map(text_of, content) if part])
    return str(content)


def time_of(value: object) -> float | None:
    """Seconds since 1970 from an ISO time, or from a number of seconds, milliseconds or nanoseconds."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
        else:
            if moment.tzinfo is None:
                # Without a zone: local time would make the same file mean something else on another machine.
                moment = moment.replace(tzinfo=UTC)
            try:
                return moment.timestamp()
            except (OverflowError, ValueError, OSError):
                return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    # 1e11 seconds is the year 5138, so a larger number has a smaller unit.
    for _ in range(3):
        if number < 1e11:
            break
        number /= 1000.0
    return number if 0 < number < 1e11 else None


def arguments_of(value: object) -> dict[str, Any]:
    """A call's arguments as an object; anything else is kept under `input`."""
    if isinstance(value, dict):
        return value
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            # OpenAI sends arguments as JSON in a text; a model may also have written something that is not JSON.
            decoded = decode(value.encode("utf-8", "surrogatepass"))
        except msgspec.DecodeError:
            return {"input": value}
        return decoded if isinstance(decoded, dict) else {"input": value}
    return {"input": value}


# Words for messages about unexpected values.
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def as_object(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def string(value: object) -> str | None:
    """The text if it is one and not empty."""
    return value if isinstance(value, str) and value else None


def integer(value: object) -> int | None:
    """The value if it is a whole number (booleans are not)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """The value as a float if it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def identity(value: object) -> str | None:
    """An id as text, from a text or a number."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


def first_of(fields: dict[str, Any], *keys: str) -> Any:
    """The first of these fields that is not null."""
    for key in keys:
        if (value := fields.get(key)) is not None:
            return value
    return None


def file_path(uri: object) -> str | None:
    """The path that a `file:` address names."""
    text = string(uri)
    if text is None or not text.startswith("file:"):
        return None
    try:
        path = unquote(urlsplit(text).path)
    except ValueError:
        return None
    # `file:///C:/work` has a slash before the drive.
    return (path[1:] if path[2:3] == ":" else path) or None


def kind_of(value: object) -> str:
    """The kind of a JSON value in words."""
    return _KINDS.get(type(value), "null")


NO_USAGE = Usage()


def openai_usage(value: object) -> Usage | None:
    """Usage as OpenAI counts it: the prompt includes cached tokens."""
    usage = as_object(value)
    prompt = count(first_of(usage, "prompt_tokens", "input_tokens"))
    details = as_object(first_of(usage, "prompt_tokens_details", "input_tokens_details"))
    cached = count(first_of({**usage, **details}, "cached_tokens", "prompt_cache_hit_tokens"))
    written = count(details.get("cache_write_tokens"))
    made = as_object(first_of(usage, "completion_tokens_details", "output_tokens_details"))
    return known_usage(
        Usage(
            # None if the parts exceed the whole: it is unknown which figure is wrong.
            input=None if (cached or 0) + (written or 0) > (prompt or 0) else remaining(prompt, cached, written),
            output=count(first_of(usage, "completion_tokens", "output_tokens")),
            cache_read=cached,
            cache_write=written,
            reasoning=count(made.get("reasoning_tokens")),
        )
    )


def anthropic_usage(value: object) -> Usage | None:
    """Usage as Anthropic counts it: cached tokens are not part of the input."""
    usage = as_object(value)
    return known_usage(
        Usage(
            input=count(usage.get("input_tokens")),
            output=count(usage.get("output_tokens")),
            cache_read=count(usage.get("cache_read_input_tokens")),
            cache_write=count(usage.get("cache_creation_input_tokens")),
            reasoning=count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")),
        )
    )


def count(value: object) -> int | None:
    """A token count if it is a plausible one."""
    tokens = integer(value)
    # Larger numbers cannot be stored in JSON without loss.
    return tokens if tokens is not None and 0 <= tokens < 1 << 53 else None


def remaining(whole: int | None, *parts: int | None) -> int | None:
    """A count minus the parts that are counted elsewhere."""
    return None if whole is None else max(0, whole - sum([part or 0 for part in parts]))


def known_usage(usage: Usage) -> Usage | None:
    """The usage, or None if it holds no figure."""
    return None if usage == NO_USAGE else usage
