"""A conversation with a model: turns, tools, limits, recording, compression."""
