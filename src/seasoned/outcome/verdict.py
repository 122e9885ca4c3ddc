"""What is said about one call: whether it worked, how that is known, and who was at fault."""

from __future__ import annotations

from typing import Literal

import msgspec

Outcome = Literal["ok", "failed", "unclear"]
Evidence = Literal["flag", "exit_code", "structure", "wording", "none"]
Fault = Literal["call", "environment", "user_declined", "sibling_cancelled", "interrupted", "none"]

# Version of the judge. It changes whenever a rule changes verdicts, so that stored verdicts can be replaced.
JUDGE = "10"

# How a reason goes on where the recorded status is another program's. What is said before it is about the call.
STATUS_OF = " The recorded status is that of "


class Verdict(msgspec.Struct, frozen=True):
    """The judgement of one call, with a reason that a person can read."""

    verdict: Outcome
    evidence: Evidence
    fault: Fault
    reason: str
