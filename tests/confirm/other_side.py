"""The other sides of notifications, as real servers on loopback: Telegram, Discord, and a receiver of webhooks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi import FastAPI


@dataclass(frozen=True)
class Heard:
    """One request that a server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Mood:
    """How a server answers the next request, instead of properly."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    wait_seconds: float = 0.0
    drops: bool = False
    """It hangs up without a word."""
    drips: bool = False
    """It sends a body without an end, a little at a time."""
    is_endless: bool = False
    """It sends a body without an end."""


class OtherSide:
    """A server that remembers what it heard, and can be put in moods for its next answers."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self.moods: list[Mood] = []
        self.changed = threading.Condition()
        self.is_closing = threading.Event()
        self._server = _server(self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def answer(self, heard: Heard) -> tuple[int, Any]:
        """A proper answer: status and JSON."""
        return 200, {}

    def take(self, heard: Heard) -> Mood:
        with self.changed:
            self.heard.append(heard)
            mood = self.moods.pop(0) if self.moods else None
            self.changed.notify_all()
        if mood is not None:
            self.is_closing.wait(mood.wait_seconds)
            return mood
        status, said = self.answer(heard)
        return Mood(status, json.dumps(said).encode())

    def wait_for(self, is_so: Callable[[], bool], seconds: float = 10.0) -> None:
        """Until something is so, or the test fails."""
        with self.changed:
            assert self.changed.wait_for(is_so, seconds), f"heard only {[one.path for one in self.heard]}"

    def let_go(self) -> None:
        """End everything that is made to wait."""
        self.is_closing.set()
        with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        self.let_go()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TelegramServer(OtherSide):
    """Plays the Bot API: messages of one chat, and updates for whoever asks."""

    token = "700700:AAtelegram-token-of-the-test-0123456789"
    errors: ClassVar[dict[str, tuple[int, Any]]] = {
        "same": (400, {"ok": False, "error_code": 400, "description": "Bad Request: message is not modified"}),
        "none": (400, {"ok": False, "error_code": 400, "description": "Bad Request: message to edit not found"}),
    }

    def __init__(self) -> None:
        self.messages: dict[int, dict[str, Any]] = {}
        self.answers: list[dict[str, Any]] = []
        self.updates: list[dict[str, Any]] = []
        super().__init__()

    def answer(self, heard: Heard) -> tuple[int, Any]:
        _, bot, method = heard.path.split("/")
        if bot != f"bot{self.token}":
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}
        said = heard.value
        with self.changed:
            result = getattr(self, f"_{method}")(said)
            self.changed.notify_all()
        return result if isinstance(result, tuple) else (200, {"ok": True, "result": result})

    def press(self, data: str, *, sender: int, chat: int, update_id: int = 1, is_bot: bool = False) -> dict[str, Any]:
        """The update that Telegram makes when somebody presses a button."""
        return {
            "update_id": update_id,
            "callback_query": {
                "id": f"press-{update_id}",
                "from": {"id": sender, "is_bot": is_bot, "first_name": "<b>X</b>"},
                "message": {"message_id": 1, "chat": {"id": chat, "type": "group"}, "date": 1},
                "chat_instance": "1",
                "data": data,
            },
        }

    def _sendMessage(self, said: dict[str, Any]) -> Any:
        number = len(self.messages) + 1
        self.messages[number] = said
        return {"message_id": number, "chat": {"id": said["chat_id"]}}

    def _editMessageText(self, said: dict[str, Any]) -> Any:
        before = self.messages.get(said["message_id"])
        if before is None:
            return self.errors["none"]
        if (before["text"], before["reply_markup"]) == (said["text"], said["reply_markup"]):
            return self.errors["same"]
        self.messages[said["message_id"]] = said
        return {"message_id": said["message_id"]}

    def _answerCallbackQuery(self, said: dict[str, Any]) -> Any:
        self.answers.append(said)
        return True

    def _getUpdates(self, said: dict[str, Any]) -> Any:
        self.updates = [one for one in self.updates if one["update_id"] >= said["offset"]]
        if not self.updates:
            self.changed.wait_for(lambda: bool(self.updates) or self.is_closing.is_set(), said["timeout"])
        return self.updates


class DiscordServer(OtherSide):
    """Plays Discord: messages of channels, and interactions signed with its key."""

    token = "discord-token-of-the-test-0123456789"

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, Any]] = {}
        self._key = Ed25519PrivateKey.generate()
        self.public_key = self._key.public_key().public_bytes_raw().hex()
        super().__init__()

    def answer(self, heard: Heard) -> tuple[int, Any]:
        if heard.headers.get("authorization") != f"Bot {self.token}":
            return 401, {"message": "401: Unauthorized", "code": 0}
        parts = heard.path.split("/")[1:]
        said = heard.value
        with self.changed:
            self.changed.notify_all()
            if heard.method == "POST":
                for number, one in self.messages.items():
                    if said.get("enforce_nonce") and one.get("nonce") == said["nonce"]:
                        return 200, {"id": number}
                number = str(9000 + len(self.messages))
                self.messages[number] = said
                return 200, {"id": number}
            if parts[-1] not in self.messages:
                return 404, {"message": "Unknown Message", "code": 10008}
            self.messages[parts[-1]] = said
            return 200, {"id": parts[-1]}

    def press(self, custom_id: str, *, sender: str, channel: str, number: str = "501") -> dict[str, Any]:
        """The interaction that Discord makes when somebody presses a button."""
        user = {"id": sender, "username": "x"}
        return {
            "id": number,
            "type": 3,
            "channel_id": channel,
            "data": {"custom_id": custom_id, "component_type": 2},
            "member": {"user": user, "roles": []},
            "token": "t",
            "version": 1,
        }

    def sign(self, body: bytes, now: float) -> dict[str, str]:
        timestamp = str(int(now))
        signature = self._key.sign(timestamp.encode() + body).hex()
        return {"x-signature-ed25519": signature, "x-signature-timestamp": timestamp}


class Receiver(OtherSide):
    """Takes webhooks, and checks them by its own reading of the standard."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        super().__init__()

    @property
    def secret(self) -> str:
        return "whsec_" + base64.b64encode(self.key).decode()

    def answer(self, heard: Heard) -> tuple[int, Any]:
        return (200, {}) if self.is_genuine(heard) else (401, {"message": "bad signature"})

    def is_genuine(self, heard: Heard) -> bool:
        signed = f"{heard.headers['webhook-id']}.{heard.headers['webhook-timestamp']}.".encode() + heard.body
        expected = base64.b64encode(hmac.new(self.key, signed, hashlib.sha256).digest()).decode()
        return heard.headers["webhook-signature"] == f"v1,{expected}"

    @property
    def ids(self) -> list[str]:
        return [one.headers["webhook-id"] for one in self.heard]

    @property
    def events(self) -> list[tuple[str, str]]:
        return [(one.value["type"], one.value["data"]["id"]) for one in self.heard]


def _server(side: OtherSide) -> ThreadingHTTPServer:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            mood = side.take(Heard(self.command, self.path, headers, body))
            try:
                self._answer(mood)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_POST = do_PATCH = _take

        def _answer(self, mood: Mood) -> None:
            if mood.drops:
                self.close_connection = True
                return
            self.send_response(mood.status)
            self.send_header("content-type", "application/json")
            if mood.drips:
                self.end_headers()
                while not side.is_closing.wait(0.02):
                    self.wfile.write(b" ")
            if mood.is_endless:
                self.end_headers()
                while not side.is_closing.is_set():
                    self.wfile.write(b" " * 65_536)
                return
            self.send_header("content-length", str(len(mood.body)))
            for name, value in mood.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(mood.body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Callers are killed and hang up here on purpose."""

    server = Quiet(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    server.block_on_close = False
    return server


def closed_url() -> str:
    """An address at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


@contextmanager
def serve_app(app: FastAPI) -> Iterator[str]:
    """An application behind a real server; its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    limit = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < limit, "the server did not start"
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class OneThread:
    """Runs work with a book in one thread of its own, as the service does."""

    def __init__(self, open_book: Callable[[], Any]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._book = self._pool.submit(open_book).result()

    async def __call__(self, do: Callable[[Any], Any], /) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, do, self._book)

    def close(self) -> None:
        self._pool.submit(self._book.database.close).result()
        self._pool.shutdown()
