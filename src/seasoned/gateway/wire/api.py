"""Which API speaks at a path, and its functions in one value."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, Protocol

from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.request import ApiName, ApiRequest, ApiResponse, StreamReader
from seasoned.template.block import Format


class OpenStreamReader(Protocol):
    """Makes a reader for one stream."""

    def __call__(self, *, takes_usage_out: bool = False) -> StreamReader: ...


class WireApi(NamedTuple):
    """One API on the wire."""

    name: ApiName
    # Of the blocks that its requests are given.
    format: Format
    read_request: Callable[[bytes], ApiRequest | None]
    insert_block: Callable[[bytes, bytes], bytes]
    follow_results: Callable[[bytes, dict[str, str]], bytes]
    ask_for_usage: Callable[[bytes], bytes | None]
    read_response: Callable[[bytes], ApiResponse]
    open_stream: OpenStreamReader


def _api(name: ApiName, format: Format, module: ModuleType) -> WireApi:
    return WireApi(name, format, *[getattr(module, field) for field in WireApi._fields[2:]])


# By the end of the path.
APIS: dict[str, WireApi] = {
    "/v1/chat/completions": _api("chat", "openai", chat),
    "/v1/responses": _api("responses", "responses", responses),
    "/v1/messages": _api("anthropic", "anthropic", anthropic),
}


def find_api(path: str) -> WireApi | None:
    """The API that a path belongs to, by its end; None for any other path, which is passed on unread."""
    return next((api for end, api in APIS.items() if path.endswith(end)), None)
