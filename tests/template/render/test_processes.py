"""Equal blocks give equal bytes in processes that order their sets and dictionaries differently."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

from seasoned.template.block import FORMATS, FORMS
from seasoned.template.render import prefill_file, render
from seasoned.template.render.script import placebo
from tests.template.blocks import drawn_block
from tests.torture import TORTURE

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = 200 if TORTURE else 20


def fingerprint() -> str:
    """Of random blocks in every format and form, and of some placebos."""
    total = sha256()
    for seed in range(BLOCKS):
        block = drawn_block(Random(seed))
        for format in FORMATS:
            for form in FORMS:
                rendered = render(block, format, form)
                total.update(repr(rendered).encode())
                if format == "hermes":
                    total.update(prefill_file(rendered))
        if seed % 10 == 0:
            total.update(render(placebo(block)).content)
    return total.hexdigest()


def test_blocks_are_equal_across_hash_seeds() -> None:
    command = [sys.executable, "-c", f"from {__name__} import fingerprint; print(fingerprint(), hash('a'))"]
    running = [
        subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in ("1", "4242")
    ]
    (first, first_hash), (second, second_hash) = [one.communicate(timeout=240)[0].split() for one in running]
    assert first_hash != second_hash, "the two processes must hash differently"
    assert first == second
    assert len(first) == 64
