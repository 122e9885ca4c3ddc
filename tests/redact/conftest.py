"""The corpus is a module of this folder, shared with the benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from seasoned.redact import Redactor


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor(b"k" * 32)
