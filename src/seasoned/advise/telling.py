"""Which advice may be given: a line that a model will read passes the same gate as everything that sessions see."""

from __future__ import annotations

from seasoned.advise.advice import Advice
from seasoned.lazy_regex import LazyRegex
from seasoned.redact import Redactor
from seasoned.template.admission.admit import admit
from seasoned.template.admission.call import admit_call

_CODE = LazyRegex(r"`([^`]+)`")
_MOST_CHARS = 300


def may_be_told(redactor: Redactor, advice: Advice) -> bool:
    """Whether the sentence and the step of advice pass the gate."""
    texts = [advice.sentence] if advice.step.kind == "connect" else [advice.sentence, advice.step.text]
    return all(_is_admitted(redactor, text, advice.project or "") for text in texts) and all(
        _may_be_shown(piece, advice.project or "") for piece in _commands(advice)
    )


def _is_admitted(redactor: Redactor, text: str, project: str) -> bool:
    if len(text) > _MOST_CHARS and "\n" not in text:
        return False
    return bool(admit(redactor, text, commands=True)) and all(
        _may_be_shown(found[1], project) for found in _CODE.compiled.finditer(text)
    )


def _may_be_shown(command: str, project: str) -> bool:
    return bool(admit_call("Bash", {"command": command}, project=project))


def _commands(advice: Advice) -> list[str]:
    """What the step would have sessions run."""
    return [advice.step.text] if advice.step.kind in ("pin", "permission", "script", "replace") else []
