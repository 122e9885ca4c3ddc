"""A home with scripts, and a real web server on loopback that answers are delivered to."""

from __future__ import annotations

import json
import os
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from seasoned.app.scheduler import build_parts
from seasoned.config import Config, load
from seasoned.redact.key import Secrecy, load_key
from seasoned.schedule.job import Job, JobRun, Slot
from seasoned.schedule.run import RunParts, run_slot
from tests.schedule.made import START


class Beat:
    """A heartbeat that a test can let stop."""

    def __init__(self) -> None:
        self.is_wanted = True
        self.beats = 0

    def __call__(self) -> bool:
        self.beats += 1
        return self.is_wanted


def config_at_home(**settings: Any) -> Config:
    """The configuration of the test's own home, with these settings in its file."""
    home = Path(os.environ["SEASONED_HOME"])
    home.mkdir(exist_ok=True, mode=0o700)
    tables = {name: value for name, value in settings.items() if isinstance(value, list)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if name not in tables]
    for name, rows in tables.items():
        for row in rows:
            lines += [f"[[{name}]]", *[f"{key} = {json.dumps(value)}" for key, value in row.items()]]
    (home / "config.toml").write_text("\n".join(lines) + "\n")
    return load()


def script(text: str, name: str = "gate.sh") -> str:
    """A script in the folder for scripts; its name."""
    folder = Path(os.environ["SEASONED_HOME"]) / "scripts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return name


def parts_at_home(config: Config) -> RunParts:
    """What a run needs, as the command line makes it."""
    return build_parts(config, Secrecy(load_key(config.home), config.redact))


def run_job(job: Job, config: Config, *, beat: Beat | None = None) -> JobRun:
    """One run of a job with real parts."""
    return run_slot(parts_at_home(config), job, Slot(job.id, START), beat or Beat())


@dataclass
class WebServer:
    """What came in, and how it is answered."""

    url: str
    heard: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    """Taken from the front; after them 200."""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.heard]


@contextmanager
def serve_web(answer: Callable[[str], dict[str, Any]] = lambda path: {"ok": True}) -> Iterator[WebServer]:
    """A web server that takes everything."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            web.heard.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            data = json.dumps(answer(self.path)).encode()
            self.send_response(web.statuses.pop(0) if web.statuses else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    web = WebServer(f"http://127.0.0.1:{server.server_address[1]}")
    with _serving(server):
        yield web


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
