"""What stands for a part that is no text: its kind, and what is known of it without looking inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_KINDS = {
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
_WITHIN = ("source", "image_url", "input_audio", "file", "inlineData", "inline_data", "fileData", "resource")
"""Fields beneath which the part itself may lie."""
_MEDIA_NAMES = ("media_type", "mediaType", "mime_type", "mimeType")
_DATA_NAMES = ("data", "file_data", "image_url", "url", "blob")
_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9][a-z0-9.+-]{0,70}", re.ASCII)
_DATA_URL = re.compile(r"data:([a-z0-9.+/-]{0,90})(?:;[a-z0-9=.-]{1,40}){0,3}?;base64,", re.ASCII | re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}", re.ASCII)
_LOOKED_AT = 64
_MOST_KIND = 40


def placeholder(part: dict[str, Any]) -> str | None:
    """`[image: image/png, 34.1 kB]`, with what is unknown left out; None where it is no part of any kind."""
    within = list(_within(part))
    media_type = next((found for one in within if (found := _media_type(one)) is not None), None)
    kind = _kind(part, media_type)
    if kind is None:
        return None
    size = next((bytes_held for one in within if (bytes_held := _size(one)) is not None), None)
    known = [fact for fact in (media_type, None if size is None else _spoken(size)) if fact is not None]
    return f"[{kind}: {', '.join(known)}]" if known else f"[{kind}]"


def _kind(part: dict[str, Any], media_type: str | None) -> str | None:
    said = part.get("type")
    if not isinstance(said, str) and part.get("kind") in _KINDS:
        said = part["kind"]
    if isinstance(said, str):
        return _KINDS.get(said, said)[:_MOST_KIND]
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
        if isinstance(found := fields.get(name), str) and _MEDIA_TYPE.fullmatch(found.lower()):
            return found.lower()
    for name in _DATA_NAMES:
        url = _DATA_URL.match(found) if isinstance(found := fields.get(name), str) else None
        if url is not None and _MEDIA_TYPE.fullmatch(url[1].lower()):
            return url[1].lower()
    return None


def _size(fields: dict[str, Any]) -> int | None:
    """Bytes, as they follow from the length of what is written; nothing is decoded."""
    said = fields.get("size")
    if isinstance(said, int) and not isinstance(said, bool) and said >= 0:
        return said
    for name in _DATA_NAMES:
        if not isinstance(found := fields.get(name), str):
            continue
        if name == "data" and fields.get("type") == "text":
            return len(found.encode("utf-8", "replace"))
        url = _DATA_URL.match(found)
        if url is not None or name in ("data", "file_data", "blob"):
            return _decoded(found, 0 if url is None else url.end())
    return None


def _decoded(text: str, start: int) -> int | None:
    """How many bytes base64 stands for; None for what cannot be that, such as a note that it was taken out."""
    length = len(text) - start
    ends = text[start : start + _LOOKED_AT], text[max(start, len(text) - _LOOKED_AT) :]
    if not length or not all(_BASE64.fullmatch(end) for end in ends):
        return None
    padding = len(ends[1]) - len(ends[1].rstrip("="))
    # Four characters are three bytes; where padding was left out, two are one and three are two.
    return (length - padding) * 3 // 4 if (length - padding) % 4 != 1 else None


def _spoken(size: int) -> str:
    if size < 1000:
        return f"{size} byte{'' if size == 1 else 's'}"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
