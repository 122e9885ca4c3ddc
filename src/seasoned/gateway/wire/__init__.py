"""The three APIs on the wire, byte for byte: `chat`, `responses` and `anthropic` have the same functions."""
