"""Template: judged sessions in, what works out: examples to show to new sessions, chosen and rendered."""
