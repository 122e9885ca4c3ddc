"""The audit: an append-only chain of everything that happened to requests and credentials."""
