"""Sessions told over the Agent Client Protocol; real agents are asked in `tests/hooks/test_real_agents.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from seasoned.errors import SourceError
from seasoned.history.read import read
from seasoned.history.reader import acp
from seasoned.session import Marks, Session, SessionRef
from tests.cli.run import answer, seasoned

# An agent that answers as the file beside it says, one session on each page, and notes each start.
AGENT = """\
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
told = json.load(open(os.path.join(here, "told.json")))
open(os.path.join(here, "starts"), "a").write(f"{os.getpid()} {os.environ.get('SEASONED_APART')}\\n")
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
print("Welcome!", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked.get("method"), asked.get("params")
    if method == "initialize":
        able = {"loadSession": told.get("loads", True), "sessionCapabilities": told.get("able", {"list": {}})}
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": able, "agentInfo": {"name": "Kite CLI"}})
    elif method == "session/list":
        at, names = int(params.get("cursor", 0)), list(told["sessions"])
        more = {"nextCursor": str(at + 1)} if at + 1 < len(names) else {}
        one = {"sessionId": names[at], "cwd": "/w/shop", "title": "Tills", "updatedAt": "2026-05-01T00:00:09Z"}
        say(id=asked["id"], result={"sessions": [one], **more})
    elif method == "session/load":
        say(id="r1", method="fs/read_text_file", params={"path": "/etc/passwd"})
        refused = json.loads(sys.stdin.readline())
        updates = told["sessions"][params["sessionId"]]
        if updates is None:
            say(id=asked["id"], error={"code": -32603, "message": "its folder is gone"})
            continue
        updates.append({"sessionUpdate": "agent_message_chunk", "content": refused["error"]["message"]})
        for update in updates:
            say(method="session/update", params={"sessionId": params["sessionId"], "update": update})
        say(method="session/update", params={"sessionId": "another", "update": updates[0]})
        say(id=asked["id"], result=None)
"""


def piece(who: str, text: str, **more: object) -> dict[str, object]:
    return {"sessionUpdate": f"{who}_chunk", "content": {"type": "text", "text": text}, **more}


def call(id: str, kind: str, title: str, **more: object) -> dict[str, object]:
    return {"sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "title": title, **more}


def end(id: str, status: str, text: str = "", **more: object) -> dict[str, object]:
    content = [{"type": "content", "content": {"type": "text", "text": text}}] if text else []
    return {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content, **more}


TILLS = [
    piece("user_message", "Fix the "),
    piece("user_message", "till."),
    piece("agent_thought", "Where is it?"),
    piece("agent_message", "I look.", messageId="m1"),
    piece("agent_message", "Then I run it.", messageId="m2"),
    call("c1", "read", "Reading till.py", rawInput={"path": "till.py"}),
    call("c2", "execute", "make"),
    end("c1", "completed", "x = 1"),
    end("c2", "in_progress", "first words", title="make, again", rawInput={"command": "make"}),
    end("c2", "completed", "no rule", rawOutput={"metadata": {"exit": 2}}),
    call("c3", "other", "docs_find"),
    end("c3", "failed", title="Nothing", rawOutput={"message": "no such page", "code": "failure"}),
    call("c5", "execute", "ls", status="completed", rawOutput="a"),
    call("c4", "edit", "Edit", name="str_replace", rawInput={"path": "a"}),
    {"sessionUpdate": "plan", "entries": []},
]


def told(folder: Path, **what: object) -> str:
    """The path that stands for an agent that tells this."""
    folder.mkdir(exist_ok=True)
    (folder / "agent.py").write_text(AGENT)
    (folder / "told.json").write_bytes(acp.msgspec.json.encode({"sessions": {"s1": TILLS}, **what}))
    return f"acp:{sys.executable} {folder / 'agent.py'}"


def test_what_an_agent_replays_is_a_session(tmp_path: Path) -> None:
    path = told(tmp_path, sessions={"s1": TILLS, "s2": None})
    (found,) = read(path)
    assert isinstance(found, Session)
    assert (found.ref, found.title, found.cwd) == (SessionRef("kite", "s1"), "Tills", "/w/shop")
    assert [(one.role, one.text) for one in found.messages if one.role != "tool"] == [
        ("user", "Fix the till."),
        ("assistant", "I look."),
        ("assistant", "Then I run it."),
        ("assistant", ""),
        ("assistant", ""),
        ("assistant", ""),
        ("assistant", "This client only reads."),
    ], "pieces are joined, an update of another session is left out, and the agent got nothing that it asked for"
    assert found.messages[1].thinking == "Where is it?"
    assert [
        (one.id, one.tool, one.arguments, one.result and (one.result.text, one.result.marks)) for one in found.calls()
    ] == [
        ("c1", "read", {"path": "till.py"}, ("x = 1", Marks(failed=False))),
        ("c2", "bash", {"command": "make"}, ("no rule", Marks(exit_code=2))),
        ("c3", "docs_find", {}, ("no such page", Marks(failed=True))),
        ("c5", "bash", {}, ("a", Marks())),
        ("c4", "str_replace", {"path": "a"}, None),
    ]
    assert [(one.place, one.reason) for one in found.unreadable] == [("session s2", "session/load: its folder is gone")]
    (pid, apart), *more = [line.split() for line in (tmp_path / "starts").read_text().splitlines()]
    assert apart == "1" and not more, "our own hooks are silent in it"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_an_agent_that_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at, lacks in enumerate(({"able": {}}, {"loads": False})):
        with pytest.raises(SourceError, match="does not offer to list and load its sessions"):
            list(read(told(tmp_path / f"lacks-{at}", **lacks)))
    for command, why in (
        (str(tmp_path / "nothing"), "cannot be started"),
        ("", "is not a command"),
        ("'", "is not a command"),
        ("cat", "does not speak the Agent Client Protocol"),
        ("true", "ended at initialize"),
    ):
        with pytest.raises(SourceError, match=why):
            list(read(f"acp:{command}"))
    monkeypatch.setattr(acp, "_ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(acp, "_END_SECONDS", 0.1)
    with pytest.raises(SourceError, match="said nothing for"):
        list(read("acp:sleep 600"))


def test_an_agent_is_started_only_where_it_is_named(tmp_path: Path, home: Path) -> None:
    path = told(tmp_path / "kite")
    assert answer("scan", path)["sessions"] == 1
    (home / ".seasoned" / "config.toml").write_text(f'sources = ["{path}"]\n')
    seasoned("scan")
    (row,) = answer("sessions")["sessions"]
    assert (row["agent"], row["tool_call_count"]) == ("kite", 5)
    assert "is gone" in seasoned("export", "s1", "--format", "jsonl", expect=1).stderr
    assert len((tmp_path / "kite" / "starts").read_text().splitlines()) == 1
    assert seasoned("export", path, "--format", "jsonl").stdout.count('"session_id"') == 1
