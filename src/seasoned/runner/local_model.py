"""A real model inside this process: a GGUF file served on loopback, whose calls are forced to fit their schemas.

The templates of small models silently ignore tools. So the tools are listed in the instructions, and the answer is
forced to be one object: a call of one tool with its arguments, or the answer.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from seasoned.errors import CannotDo
from seasoned.marks import BLOCK_ENDS

CONTEXT_LENGTH = 8192
_MOST_TOKENS = 700
# One long result must not fill the window.
_RESULT_CHARS = 4000
# Parts of a schema that constrain nothing and would only take up the window.
_DROPPED = ("title", "description", "default", "examples", "$schema")
_HOW = (
    'Answer with one JSON object: {"tool": NAME, "arguments": {...}} calls a tool, '
    '{"answer": TEXT} tells the user what you found. Never call a tool again when you have its result.'
)
# Loading takes seconds and much memory, so a model stays loaded as long as the process lives.
_servers: dict[tuple[Path, int], tuple[Any, str]] = {}
_lock = Lock()


def open_local(path: Path, *, context_length: int | None = None, is_small: bool = True) -> LocalModel:
    """The model in the file, loaded once for each process."""
    size = context_length or CONTEXT_LENGTH
    with _lock:
        if (path, size) not in _servers:
            _servers[path, size] = _serve(path, size)
        server, key = _servers[path, size]
    provider = OpenAICompatibleProvider("local", base_url=f"{server.listening_address}/v1", api_key=key)
    profile = ModelProfile(context_window=size, supports_tools=True)
    return LocalModel(OpenAIChatModel(path.stem, provider=provider, profile=profile), is_small=is_small)


def _serve(path: Path, size: int) -> tuple[Any, str]:
    import xllamacpp

    # Every program on this machine can reach the port; only this process knows the key.
    key = secrets.token_urlsafe(24)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = size
    # Several slots would divide the context between them.
    params.n_parallel = 1
    params.use_jinja = True
    params.warmup = False
    # Threads wait for each other at every step, so one core is left for other programs.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.verbosity = -1
    params.api_keys = [key]
    try:
        return xllamacpp.Server(params), key
    except (RuntimeError, ValueError, OSError) as error:
        raise CannotDo(f"The model {str(path)!r} cannot be loaded ({error}): is it a GGUF file?") from error


class LocalModel(WrapperModel):
    """Turns tools into a schema that the answer must fit, and the answer back into a call."""

    def __init__(self, wrapped: OpenAIChatModel, *, is_small: bool) -> None:
        super().__init__(wrapped)
        self.is_small = is_small

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        tools = model_request_parameters.function_tools
        if not tools:
            return await self.wrapped.request(messages, _settings(model_settings), model_request_parameters)
        # SmolLM2's template silently ignores `tools`: they are listed in the instructions instead,
        # and the answer is forced into a schema.
        listed = InstructionPart(content=tools_text(tools, required_only=self.is_small))
        parameters = replace(
            model_request_parameters,
            function_tools=[],
            tool_visibility=None,
            instruction_parts=[*(model_request_parameters.instruction_parts or []), listed],
        )
        flat = flatten(messages)
        schema = answer_schema(tools, required_only=self.is_small)
        response = await self.wrapped.request(flat, _settings(model_settings, schema), parameters)
        found = read_answer(response)
        if isinstance(found, ToolCallPart) and _is_repeated(found, messages):
            # A small model repeats the same call; it has the result, so it is asked for the answer.
            again = await self.wrapped.request(flat, _settings(model_settings, answer_schema([])), parameters)
            response = replace(again, usage=response.usage + again.usage)
            found = read_answer(response)
        return replace(response, parts=[found])


def tools_text(tools: Sequence[ToolDefinition], *, required_only: bool) -> str:
    """The tools for the instructions: a line each, with what they take."""
    lines = ["Tools:"]
    for tool in tools:
        first = (tool.description or "").strip().partition("\n")[0]
        schema = _simplify_schema(tool.parameters_json_schema, required_only=required_only)
        lines.append(f"- {tool.name}: {first} Arguments: {json.dumps(schema.get('properties', {}))}")
    return "\n".join([*lines, _HOW])


def answer_schema(tools: Sequence[ToolDefinition], *, required_only: bool = False) -> dict[str, Any]:
    """One closed object for each tool, and one for the answer."""
    calls = [
        _closed_object(
            tool={"const": tool.name},
            arguments=_simplify_schema(tool.parameters_json_schema, required_only=required_only),
        )
        for tool in tools
    ]
    return {"anyOf": [*calls, _closed_object(answer={"type": "string"})]}


def _closed_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _simplify_schema(schema: dict[str, Any], *, required_only: bool) -> dict[str, Any]:
    """A schema without descriptions; for a small model also without optional properties."""
    plain: dict[str, Any] = _drop_descriptions(schema)
    if required_only:
        required = plain.get("required", [])
        plain["properties"] = {name: one for name, one in plain.get("properties", {}).items() if name in required}
    return {**plain, "type": "object", "additionalProperties": False}


def _drop_descriptions(value: Any, *, names: bool = False) -> Any:
    # Below `properties` the keys are names of arguments: one that is called `title` must stay.
    if isinstance(value, dict):
        return {
            key: _drop_descriptions(inner, names=key == "properties" and not names)
            for key, inner in value.items()
            if names or key not in _DROPPED
        }
    return [_drop_descriptions(item) for item in value] if isinstance(value, list) else value


def flatten(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Calls and results as text in the requested form, with user and model alternating."""
    flat: list[ModelMessage] = []
    for message in map(_block_end_as_user, messages):
        texts = [text for part in message.parts if (text := _part_text(part)) is not None]
        if isinstance(message, ModelResponse):
            flat.append(replace(message, parts=[TextPart("\n".join(texts))]))
            continue
        rest = [part for part in message.parts if _part_text(part) is None]
        last = flat[-1] if flat else None
        # The chat template expects user and model to alternate: two requests in a row become one.
        if texts and isinstance(last, ModelRequest) and not rest and _only_words(last):
            texts = [*[str(part.content) for part in last.parts if isinstance(part, UserPromptPart)], *texts]
            flat.pop()
        parts = [*rest, *([UserPromptPart("\n\n".join(texts))] if texts else [])]
        flat.append(replace(message, parts=parts))
    return flat


def _block_end_as_user(message: ModelMessage) -> ModelMessage:
    """The closing words of a warm block as a user message: a small model would repeat its own answer."""
    if isinstance(message, ModelResponse):
        texts = [part.content for part in message.parts if isinstance(part, TextPart)]
        if len(texts) == len(message.parts) and any(BLOCK_ENDS in text for text in texts):
            return ModelRequest([UserPromptPart("\n".join(texts))])
    return message


def _only_words(request: ModelRequest) -> bool:
    return all(isinstance(part, UserPromptPart) for part in request.parts)


def _part_text(part: object) -> str | None:
    """A part as text; None for one that is sent as it is."""
    match part:
        case ToolCallPart():
            return json.dumps({"tool": part.tool_name, "arguments": part.args_as_dict()})
        case TextPart():
            return json.dumps({"answer": part.content}) if part.content else None
        case ToolReturnPart():
            return f"Result of {part.tool_name}: {part.model_response_str()[:_RESULT_CHARS]}"
        case UserPromptPart(content=str(content)):
            return content
        case _:
            return None


def read_answer(response: ModelResponse) -> ToolCallPart | TextPart:
    """A call or text. An answer that was cut off is shown as it is."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    try:
        found = json.loads(text)
    except ValueError:
        return TextPart(text)
    if not isinstance(found, dict):
        return TextPart(text)
    if "tool" in found:
        return ToolCallPart(str(found["tool"]), json.dumps(found.get("arguments", {})), f"call_{secrets.token_hex(12)}")
    return TextPart(str(found.get("answer", text)))


def _is_repeated(call: ToolCallPart, messages: Sequence[ModelMessage]) -> bool:
    """Whether the same call was made since the last message of the user."""
    for message in reversed(messages):
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                return False
            if isinstance(part, ToolCallPart) and _content(part) == _content(call):
                return True
    return False


def _content(call: ToolCallPart) -> tuple[str, dict[str, Any]]:
    return call.tool_name, call.args_as_dict()


def _settings(given: ModelSettings | None, schema: dict[str, Any] | None = None) -> ModelSettings:
    # The same question gets the same answer.
    settings = ModelSettings(temperature=0.0, max_tokens=_MOST_TOKENS, seed=1)
    settings.update(given or {})
    if schema is not None:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        # `cache_prompt`: the server reuses what it computed for the common beginning of two requests.
        settings["extra_body"] = {"response_format": form, "cache_prompt": True}
    return settings
