"""Makes small Hermes databases for tests."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from weakref import finalize

_SESSIONS = """CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT,
  parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cwd TEXT, title TEXT,
  estimated_cost_usd REAL, cost_status TEXT)"""
_MESSAGES = """CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
  effect_disposition TEXT, timestamp REAL NOT NULL,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0)"""


class HermesDb:
    """A database that is filled row by row."""

    def __init__(self, path: Path, *, old: bool = False) -> None:
        self.path = path
        # Closed by whichever thread collects it.
        self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        finalize(self, self.db.close)
        self.time = 1_770_000_000.0
        if old:
            self.db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, started_at REAL)")
            self.db.execute(
                "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,"
                " tool_call_id TEXT, tool_calls TEXT)"
            )
        else:
            self.db.execute(_SESSIONS)
            self.db.execute(_MESSAGES)

    def insert(self, table: str, **fields: Any) -> HermesDb:
        marks = ", ".join("?" * len(fields))
        self.db.execute(f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({marks})", list(fields.values()))
        return self

    def session(self, name: str, **fields: Any) -> HermesDb:
        self.time += 1
        return self.insert("sessions", **{"id": name, "source": "cli", "started_at": self.time, **fields})

    def says(self, session: str, role: str, content: str, **fields: Any) -> HermesDb:
        self.time += 1
        return self.insert("messages", session_id=session, role=role, content=content, timestamp=self.time, **fields)

    def calls(self, session: str, *call_ids: str, **fields: Any) -> HermesDb:
        calls = [
            {"id": call_id, "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}
            for call_id in call_ids
        ]
        return self.says(session, "assistant", "", tool_calls=json.dumps(calls), **fields)

    def result(self, session: str, call_id: str, content: str = '{"exit_code": 0}', **fields: Any) -> HermesDb:
        return self.says(session, "tool", content, tool_call_id=call_id, **fields)
