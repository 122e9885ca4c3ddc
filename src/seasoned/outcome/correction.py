"""Whether a user's message corrects what the agent just did."""

from __future__ import annotations

import re

from seasoned.lazy_regex import LazyRegex

# A correction comes first; what follows later in a message is as often about something new.
_LOOKED_AT = 160
_CORRECTS = LazyRegex(
    r"""\A[^\w#]*(?:(?:hm+|hey|ok(?:ay)?|sorry|wait|oh|ugh)\b[,.!\s…-]*)*(?:
        # A bare "no" as often answers a question of the agent.
        (?:no|nope|non|nein)\b[\s,.!-]+(?:(?!all\b|thank|everything)\S+\s+){0,6}?
          (?:not|wrong|meant|mean|instead|should|shouldn['’]?t|said|asked|isn['’]?t|wasn['’]?t|use|other|undo|revert)\b
      | wrong\b | incorrect\b | stop\b | undo\b | revert\b | roll\s+(?:it|this|that)\s+back
      | (?:that|this|it)(?:['’]?s|\s+is|\s+was)\s+(?:not\s+(?!a\s+problem)|wrong|incorrect|broken)
      | (?:that|this|it)\s+(?:isn|wasn|doesn|didn|does\s+no|did\s+no)['’]?t\b
      | (?:don['’]?t|do\s+not)\s+(?:do|use|change|touch|remove|delete|add|commit|push|edit|run|write|create|make)\b
      | why\s+(?:did|are|would|have)\s+you\b
      | not\s+(?:what|like|that|there|this|right)\b
      | i\s+(?:said|meant|asked|told\s+you|did\s*n['’]?t\s+(?:ask|mean|want|say)|did\s+not\s+(?:ask|mean|want|say))\b
      | (?:i\s+think\s+)?you\s+(?:broke|forgot|missed|misunderstood|should\s*n['’]?t|should\s+not|did\s*n['’]?t
          |did\s+not|were\s+(?:not\s+)?supposed|deleted|removed|ignored)\b
      | (?:the\s+)?(?:it|this|that|tests?|build|ci)\b[^.!?\n]{0,30}
          \b(?:still|now)\s+(?:fail|break|broken|crash|wrong|not)
      | still\s+(?:fail|broken|not|wrong|the\s+same)
      | falsch\b | faux\b | incorrecto\b | errado\b | 不对 | 不是 | 错了 | 違う | 違います
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def corrects(text: str) -> bool:
    """Whether a message of the user begins like a correction of what was just done."""
    return _CORRECTS.compiled.match(text[:_LOOKED_AT]) is not None
