"""Secrets and personal data out, before the first write."""

from seasoned.redact.key import load_key, new_key
from seasoned.redact.redactor import Hit, Redactor

__all__ = ["Hit", "Redactor", "load_key", "new_key"]
