"""Runs the real Hermes agent against a scripted server on loopback. Started inside Hermes' own environment."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMANDS = {"call_0123456789abcdef01": "echo hello", "call_0123456789abcdef02": "ls /nowhere; exit 3"}


def next_step(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The call that is not in the conversation yet, else the closing words."""
    made = {call["id"] for message in messages for call in message.get("tool_calls") or ()}
    for call_id, command in COMMANDS.items():
        if call_id not in made:
            function = {"name": "terminal", "arguments": json.dumps({"command": command})}
            calls = [{"index": 0, "id": call_id, "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
    return {"role": "assistant", "content": "All done."}


class Model(BaseHTTPRequestHandler):
    """Chat completions, streamed or whole, as OpenAI-compatible servers answer."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": "fake", "object": "model", "context_length": 200_000}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = next_step(body["messages"]) if body.get("tools") else {"role": "assistant", "content": "A title"}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        head = {"id": "x", "created": 1, "model": "fake"}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._answer({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for part in (
            {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {"choices": [], "usage": usage},
        ):
            chunk = json.dumps({**head, "object": "chat.completion.chunk", **part})
            self.wfile.write(f"data: {chunk}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def _answer(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    """One conversation with two calls, kept in the database under HERMES_HOME."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    from hermes_state import SessionDB
    from run_agent import AIAgent

    agent = AIAgent(
        base_url=f"http://127.0.0.1:{server.server_port}/v1",
        api_key="dummy",
        model="fake",
        quiet_mode=True,
        session_db=SessionDB(),
        platform="cli",
        max_iterations=6,
    )
    agent.run_conversation("Say hello, then look into a folder that is not there.")
    agent.close()


if __name__ == "__main__":
    main()
