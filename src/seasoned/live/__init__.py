"""Running sessions as they happen: files that change → calls with their verdicts, and failing streaks."""
