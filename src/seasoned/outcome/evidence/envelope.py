"""Opens what agents wrap around the output of a command: header lines, tags, a code at the end."""

from __future__ import annotations

import re

import msgspec

from seasoned.lazy_regex import LazyRegex


class UnwrappedOutput(msgspec.Struct, frozen=True):
    """What the tool itself printed, and what the agent wrote around it."""

    text: str
    exit_code: int | None = None
    running: bool = False


# Codex writes a block of headers in front of every output, in versions that differ in their order.
CODEX_HEADER = LazyRegex(
    r"\A(?:Command: (?:[^\n]*\n){1,40}?(?=Chunk ID|Wall time|Process ))?(?:(?:Chunk ID|Wall time"
    r"|Process exited with code|Process running with session ID|Original token count"
    r"|Total output lines|Exit code|Warning|Session ID|Script (?:completed|failed|running))\b[^\n]*\n)+(?:Output:\n?"
    r"|\Z)"
)
_CODEX_CODE = LazyRegex(r"^(?:Process exited with code|Exit code:?) (-?\d+)", re.MULTILINE)
_PLAIN_CODE = LazyRegex(r"\A(?:Error: )?Exit code:? (-?\d+)\b[^\n]*\n?")
_RETURN_CODE = LazyRegex(r"\A\s*<returncode>(-?\d+)</returncode>\s*(?:<output>\n?)?")
# Codes at the end of the text, as OpenHands and Copilot write them.
TRAILER = LazyRegex(
    r"\s*(?:<(?:exited with (?:exit )?code|(?:command|shell)[^>\n]*(?:completed|exited) with exit code) (-?\d+)>"
    r"|\[(?:The c|C)ommand (?:completed|finished|exited) with exit code (-?\d+)\.?\])\s*\Z"
)
_GEMINI = LazyRegex(
    # Newer versions write no exit code where it is 0, and older ones "Error: (none)" where it is hidden.
    r"^(?=Error: \(none\)|Exit Code: |Process Group PGID: )(?:Error: \(none\)\s*)?(?:Exit Code: (-?\d+|\(none\))\s*)?"
    r"(?:^(?:Signal|Background PIDs|Process Group PGID|Error): [^\n]*\s*)*\Z",
    re.MULTILINE,
)
_GEMINI_HEAD = LazyRegex(r"\A(?:Command: [^\n]*\n(?:Directory: [^\n]*\n)?)?(?:Output|Stdout): ?")
_UNTRUSTED = "<untrusted_context>"
# Notes for the model at the end of a result; a few may follow each other.
_MOST_NOTES = 8
_CWD = LazyRegex(r"\n?Shell cwd was reset to [^\n]*\s*\Z")
_PROMPT = LazyRegex(r"\n\((?:Open file|Current directory): [^\n]*\)\s*(?:\n[^\n]*\$ ?)?\s*\Z")


# How results begin that an agent wraps alike for all its tools.
HEADERS = ("Chunk ID: ", "Wall time", "Exit code: ", "Script completed")
# What agents write in the place of an output that is empty.
_NOTHING = ("(Bash completed with no output)", "(no output)", "[no output]", "Tool ran without output or errors")


def open_shell(text: str) -> UnwrappedOutput:
    """The output of a command without what the agent wrote around it."""
    if text.startswith("Command running in background"):
        return UnwrappedOutput(text, running=True)
    if text in _NOTHING:
        return UnwrappedOutput("")
    if text.startswith(_UNTRUSTED):
        # Newer versions of Gemini CLI, around all of it.
        text = text.removeprefix(_UNTRUSTED).lstrip().removesuffix("</untrusted_context>").rstrip()
    head = text[:16]
    code: int | None = None
    running = False
    if head.startswith(("Chunk ID", "Wall time", "Exit code", "Process ", "Error: Exit", "Command: ", "Script ")):
        header = CODEX_HEADER.compiled.match(text)
        if header is not None:
            found = _CODEX_CODE.compiled.search(header.group())
            code = int(found.group(1)) if found else None
            running = found is None and "Process running with session ID" in header.group()
            text = text[header.end() :]
            # The JSON object with which Codex answers a command that was run from code.
            if code is None and text.lstrip()[:1] == "{" and '"output"' in text:
                text, code = _unpack(text)
        elif plain := _PLAIN_CODE.compiled.match(text):
            code, text = int(plain.group(1)), text[plain.end() :]
    elif head.startswith(('{"output":', '{"metadata":')) and '"metadata":' in text:
        text, code = _unpack(text)
    elif returned := _RETURN_CODE.compiled.match(text):
        code, text = int(returned.group(1)), text[returned.end() :].removesuffix("\n").removesuffix("</output>")
    return _without_trailer(text, code, running)


class _Metadata(msgspec.Struct):
    exit_code: int | None = None


class _Packed(msgspec.Struct):
    output: str = ""
    exit_code: int | None = None
    metadata: _Metadata | None = None


def _unpack(text: str) -> tuple[str, int | None]:
    """The output and the code in an object; the text itself where it is none."""
    try:
        data = msgspec.json.decode(text.strip(), type=_Packed)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text, None
    return data.output, data.exit_code if data.metadata is None else data.metadata.exit_code


def _without_trailer(text: str, code: int | None, running: bool) -> UnwrappedOutput:
    end = text[-400:]
    has_code = "exit code" in end or "exited with" in end
    if has_code and (found := TRAILER.compiled.search(text, max(0, len(text) - 400))):
        code, text = int(found[1] or found[2]), text[: found.start()]
    is_gemini = any(sign in end for sign in ("Exit Code: ", "Error: (none)", "Process Group PGID: "))
    if is_gemini and (found := _GEMINI.compiled.search(text, max(0, len(text) - 400))):
        code = code if found.group(1) in (None, "(none)") else int(found.group(1))
        text = _GEMINI_HEAD.compiled.sub("", text[: found.start()])
    return UnwrappedOutput(without_notes(text), code, running)


def without_notes(text: str) -> str:
    """A result without the notes that an agent adds behind it for the model."""
    for _ in range(_MOST_NOTES):
        if not text.endswith(("</system-reminder>", "</system-reminder>\n")):
            break
        # From the last one backwards: a file that was read may itself contain the tag further up.
        note = text.rfind("<system-reminder>")
        text = text[:note].rstrip() if note > 0 else text
    if "Shell cwd was reset to " in text[-400:]:
        text = _CWD.compiled.sub("", text)
    if "\n(Current directory: " in text[-300:] or "\n(Open file: " in text[-300:]:
        text = _PROMPT.compiled.sub("", text)
    return text
