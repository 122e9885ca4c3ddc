"""What `tools/make_evidence.py` runs: invented histories, what new sessions are shown of them, and the page."""
