"""The real gateway on a free port, for as long as a test needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from seasoned.config import Config


@contextmanager
def serve_gateway(config: Config) -> Iterator[str]:
    """Its address."""
    command = [sys.executable, "-m", "seasoned.cli.main", "gateway", "--port", "0", "--upstream", "http://127.0.0.1:1"]
    environment = {**os.environ, "SEASONED_HOME": str(config.home), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split()[-1]
        finally:
            process.terminate()
            process.wait(20)
