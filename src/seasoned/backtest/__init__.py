"""Replays histories: what each session would have been told, and whether that was right."""
