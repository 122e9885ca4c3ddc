"""Outcome: whether each tool call worked, how that is known, and how often it is not so."""

from seasoned.outcome.judge import judge, judge_session
from seasoned.outcome.rate import Counts, Include, count
from seasoned.outcome.verdict import JUDGE, Verdict

__all__ = ["JUDGE", "Counts", "Include", "Verdict", "count", "judge", "judge_session"]
