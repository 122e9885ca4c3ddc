"""What a scripted model says, in the words of each API; the steps are described in scripted_server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Step = dict[str, Any]
USAGE = {"input": 100, "output": 10, "cache_read": 0, "cache_write": 0, "reasoning": 0}


def api_of(path: str) -> str | None:
    """Which API speaks at a path."""
    plain = path.split("?")[0]
    ends = {"/chat/completions": "chat", "/responses": "responses", "/messages": "anthropic"}
    ends |= {":generateContent": "gemini", ":streamGenerateContent": "gemini"}
    return next((api for end, api in ends.items() if plain.endswith(end)), None)


def usage(api: str, step: Step) -> dict[str, Any]:
    """The figures of a step as the provider would say them."""
    have = {**USAGE, **step.get("usage", {})}
    if api == "anthropic":
        return {
            "input_tokens": have["input"] - have["cache_read"] - have["cache_write"],
            "output_tokens": have["output"],
            "cache_read_input_tokens": have["cache_read"],
            "cache_creation_input_tokens": have["cache_write"],
        }
    if api == "gemini":
        figures = {"promptTokenCount": have["input"], "candidatesTokenCount": have["output"]}
        return {**figures, "totalTokenCount": have["input"] + have["output"]}
    names = ("prompt", "completion") if api == "chat" else ("input", "output")
    return {
        f"{names[0]}_tokens": have["input"],
        f"{names[1]}_tokens": have["output"],
        "total_tokens": have["input"] + have["output"],
        f"{names[0]}_tokens_details": {"cached_tokens": have["cache_read"]},
        f"{names[1]}_tokens_details": {"reasoning_tokens": have["reasoning"]},
    }


def error(api: str, step: Step) -> dict[str, Any]:
    """A refusal in the words of an API."""
    text = step.get("error", "the scripted model refuses")
    kind = {429: "rate_limit_error", 401: "authentication_error", 400: "invalid_request_error"}
    inner = {"type": kind.get(step["status"], "api_error"), "message": text}
    if api == "anthropic":
        return {"type": "error", "error": inner}
    return {"error": {**inner, "param": None, "code": None}}


def whole(api: str, step: Step, asked: dict[str, Any], id: str) -> dict[str, Any]:
    """An answer that comes at once."""
    model = asked.get("model", "scripted")
    if api == "chat":
        message: dict[str, Any] = {"role": "assistant", "content": step.get("text")}
        calls = [_chat_call(call, at, id) for at, call in enumerate(step.get("calls", ()))]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        head = {"id": f"chatcmpl-{id}", "object": "chat.completion", "created": 1, "model": model}
        return {**head, "choices": [choice], "usage": usage(api, step)}
    if api == "anthropic":
        content = [block for block, _ in _blocks(step, id)]
        reason = "tool_use" if step.get("calls") else "end_turn"
        head = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}
        return {**head, "content": content, "stop_reason": reason, "usage": usage(api, step)}
    if api == "gemini":
        parts = [{"text": step["text"]}] if step.get("text") else []
        parts += [
            {"functionCall": {"name": call["tool"], "args": json.loads(_arguments(call))}}
            for call in step.get("calls", ())
        ]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage(api, step), "modelVersion": model}
    return _response(step, model, id, _items(step, id))


def stream(api: str, step: Step, asked: dict[str, Any], id: str) -> Iterator[bytes]:
    """The events of an answer."""
    if api == "gemini":
        yield b"data: " + json.dumps(whole(api, step, asked, id)).encode() + b"\n\n"
        return
    made = {"chat": _chat_events, "anthropic": _anthropic_events, "responses": _responses_events}[api]
    for event in made(step, asked, id):
        if isinstance(event, bytes):
            yield event
        else:
            name = f"event: {event['type']}\n".encode() if "type" in event else b""
            yield name + b"data: " + json.dumps(event).encode() + b"\n\n"


def _pieces(step: Step) -> list[str]:
    text, count = step.get("text") or "", step.get("words", 2)
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _arguments(call: dict[str, Any]) -> str:
    given = call.get("arguments", {})
    return given if isinstance(given, str) else json.dumps(given)


def _call_id(call: dict[str, Any], at: int, id: str) -> str:
    return str(call.get("id", f"call_{id}_{at}"))


def _chat_call(call: dict[str, Any], at: int, id: str) -> dict[str, Any]:
    function = {"name": call["tool"], "arguments": _arguments(call)}
    return {"id": _call_id(call, at, id), "type": "function", "function": function}


def _chat_events(step: Step, asked: dict[str, Any], id: str) -> Iterator[dict[str, Any] | bytes]:
    model = asked.get("model", "scripted")
    head = {"id": f"chatcmpl-{id}", "object": "chat.completion.chunk", "created": 1, "model": model}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(step)]
    for at, call in enumerate(step.get("calls", ())):
        made = _chat_call(call, at, id)
        given = made["function"]["arguments"]
        made["function"]["arguments"] = given[:5]
        deltas.append({"tool_calls": [{"index": at, **made}]})
        deltas.append({"tool_calls": [{"index": at, "function": {"arguments": given[5:]}}]})
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if step.get("calls") else "stop"
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage("chat", step)}
    yield b"data: [DONE]\n\n"


def _blocks(step: Step, id: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The content blocks of an answer, each with the deltas that bring it."""
    if step.get("text"):
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(step)]
        yield {"type": "text", "text": step["text"]}, deltas
    for at, call in enumerate(step.get("calls", ())):
        given = _arguments(call)
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in (given[:5], given[5:])]
        name = {"id": f"toolu_{_call_id(call, at, id)}", "name": call["tool"]}
        yield {"type": "tool_use", **name, "input": json.loads(given)}, deltas


def _anthropic_events(step: Step, asked: dict[str, Any], id: str) -> Iterator[dict[str, Any] | bytes]:
    figures = usage("anthropic", step)
    head = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": asked.get("model", "scripted")}
    begun = {**head, "content": [], "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**begun, "usage": {**figures, "output_tokens": 1}}}
    for index, (block, deltas) in enumerate(_blocks(step, id)):
        empty = {"text": ""} if block["type"] == "text" else {"input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends = {"stop_reason": "tool_use" if step.get("calls") else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": figures["output_tokens"]}}
    yield {"type": "message_stop"}


def _items(step: Step, id: str) -> list[dict[str, Any]]:
    """The output items of the Responses API."""
    items: list[dict[str, Any]] = []
    if step.get("text"):
        part = {"type": "output_text", "text": step["text"], "annotations": []}
        head = {"id": f"item_{id}", "type": "message", "role": "assistant", "status": "completed"}
        items.append({**head, "content": [part]})
    for at, call in enumerate(step.get("calls", ())):
        names = {"call_id": _call_id(call, at, id), "name": call["tool"], "status": "completed"}
        if "namespace" in call:
            names["namespace"] = call["namespace"]
        if call.get("is_custom"):
            items.append({"id": f"ctc_{id}_{at}", "type": "custom_tool_call", **names, "input": _arguments(call)})
        else:
            items.append({"id": f"fc_{id}_{at}", "type": "function_call", **names, "arguments": _arguments(call)})
    return items


def _response(step: Step, model: str, id: str, items: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    head = {"id": f"resp_{id}", "object": "response", "created_at": 1, "model": model, "status": "completed"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "instructions": None}
    figures = {"incomplete_details": None, "metadata": {}, "output": items, "usage": usage("responses", step)}
    return {**head, **rest, **figures, **more}


def _responses_events(step: Step, asked: dict[str, Any], id: str) -> Iterator[dict[str, Any] | bytes]:
    model, items = asked.get("model", "scripted"), _items(step, id)
    number = iter(range(10_000))
    begun = _response(step, model, id, [], status="in_progress", usage=None)
    yield {"type": "response.created", "sequence_number": next(number), "response": begun}
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        empty: dict[str, Any] = {"message": {"content": []}, "function_call": {"arguments": ""}}.get(item["type"], {})
        start = {**item, "status": "in_progress", **empty}
        yield {
            "type": "response.output_item.added",
            "sequence_number": next(number),
            "output_index": index,
            "item": start,
        }
        if item["type"] == "message":
            where = {**place, "content_index": 0}
            part = {**item["content"][0], "text": ""}
            yield {"type": "response.content_part.added", "sequence_number": next(number), **where, "part": part}
            for piece in _pieces(step):
                said = {"delta": piece, "logprobs": []}
                yield {"type": "response.output_text.delta", "sequence_number": next(number), **where, **said}
        elif item["type"] == "function_call":
            given = {"delta": item["arguments"]}
            yield {"type": "response.function_call_arguments.delta", "sequence_number": next(number), **place, **given}
        yield {
            "type": "response.output_item.done",
            "sequence_number": next(number),
            "output_index": index,
            "item": item,
        }
    done = _response(step, model, id, items)
    yield {"type": "response.completed", "sequence_number": next(number), "response": done}
