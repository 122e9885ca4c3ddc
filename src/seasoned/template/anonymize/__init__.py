"""Anonymize: placeholders of the same shape instead of paths, ids, names and dates."""
