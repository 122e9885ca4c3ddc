"""A scripted model behind the four APIs, also as a program: `python -m tests.scripted_server SCRIPT LOG --port N`.

The script is a list of steps, each an object (all fields optional):
    text        what the model says
    calls       [{"tool", "arguments", "id", "namespace", "is_custom"}]; arguments are an object or text
    usage       {"input", "output", "cache_read", "cache_write", "reasoning"}; input includes the cache parts
    status      an error with this status instead of an answer; `error` is its message
    words       into how many pieces the text of a stream is cut (2)
    pause       seconds between two events of a stream
    breaks_off  the connection is cut in the middle of the stream
    match       only for requests whose body contains this text; `without`: only for those that do not contain that one
Each request takes the first step left that fits it; when none is left, the model says "Done.".
The log has one line of JSON for each request: number, method, path, headers (lower case), body, text (the body as it
came), step, usage (in the API's own words), sent (whether the answer went out to its end).
"""

from __future__ import annotations

import argparse
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests import scripted_answer

Step = dict[str, Any]
Line = dict[str, Any]


class ScriptedServer:
    """Answers with the next step that fits, and keeps what it was asked."""

    def __init__(self, script: list[Step], *, log: Path | None = None, port: int = 0) -> None:
        self.script = list(script)
        self.requests: list[Line] = []
        self._log = log
        self.mark = secrets.token_hex(3)
        """In every id, so that no other server gives the same ones."""
        self._lock = threading.Lock()
        self._server = _Listening(("127.0.0.1", port), _Answering)
        self._server.scripted = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, line: Line) -> Step:
        """The step for a request, noted with it."""
        with self._lock:
            text = json.dumps(line["body"], ensure_ascii=False)
            fits = [at for at, step in enumerate(self.script) if _fits(step, text)]
            step = self.script.pop(fits[0]) if fits else {"text": "Done."}
            line.update(number=len(self.requests), step=step, sent=False, usage=None)
            self.requests.append(line)
            return step

    def note(self, line: Line) -> None:
        """Write a request down when its answer has ended, one way or another."""
        if self._log is not None:
            with self._lock, self._log.open("a") as log:
                log.write(json.dumps(line) + "\n")

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _fits(step: Step, text: str) -> bool:
    return step.get("match", "") in text and ("without" not in step or step["without"] not in text)


@contextmanager
def serve_script(*script: Step, log: Path | None = None) -> Iterator[ScriptedServer]:
    """The same in a thread of the test."""
    server = ScriptedServer(list(script), log=log)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    scripted: ScriptedServer


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log has it."""

    def _answer(self) -> None:
        scripted = self.server.scripted  # type: ignore[attr-defined]
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode(errors="replace")
        headers = {name.lower(): value for name, value in self.headers.items()}
        line: Line = {"method": self.command, "path": self.path, "headers": headers, "body": body}
        line["text"] = raw.decode(errors="replace")
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self._whole(404, {"error": {"message": "no WebSocket here"}})
            return
        api = scripted_answer.api_of(self.path)
        if self.command != "POST" or api is None:
            self._whole(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
            scripted.requests.append(line)
            scripted.note(line)
            return
        step = scripted.take(line)
        try:
            self._say(api, step, line)
        except OSError:
            self.close_connection = True
        scripted.note(line)

    def _say(self, api: str, step: Step, line: Line) -> None:
        asked: dict[str, Any] = line["body"] if isinstance(line["body"], dict) else {}
        if "status" in step:
            self._whole(step["status"], scripted_answer.error(api, step))
            line["sent"] = True
            return
        line["usage"] = scripted_answer.usage(api, step)
        id = f"{self.server.scripted.mark}{line['number']:04d}"  # type: ignore[attr-defined]
        if not (asked.get("stream") or ":stream" in line["path"]):
            self._whole(200, scripted_answer.whole(api, step, asked, id))
            line["sent"] = True
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = list(scripted_answer.stream(api, step, asked, id))
        for at, event in enumerate(events):
            if step.get("breaks_off") and at == len(events) // 2:
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            time.sleep(step.get("pause", 0))
        self.wfile.write(b"0\r\n\r\n")
        line["sent"] = True

    def _whole(self, status: int, answer: object) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = _answer


def read_log(path: Path) -> list[Line]:
    """The requests in the order in which they came."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return sorted(lines, key=lambda line: line.get("number", -1))


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted model on loopback.")
    parser.add_argument("script", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--port", type=int, default=8099)
    given = parser.parse_args()
    ScriptedServer(json.loads(given.script.read_text()), log=given.log, port=given.port).serve()


if __name__ == "__main__":
    main()
