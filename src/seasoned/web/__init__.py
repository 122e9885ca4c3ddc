"""A door: the pages that people open in a browser."""
