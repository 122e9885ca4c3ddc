"""What the tests of redaction share."""

from __future__ import annotations

import pytest

from seasoned.redact import Redactor


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor(b"k" * 32)
