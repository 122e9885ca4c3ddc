"""Insight: judged sessions in, what they say out: profiles, cohorts, recurring errors, compressions, comparisons."""
