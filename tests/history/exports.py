"""Small exports of chat sites, a session in SpecStory's Markdown, and a repository with checkpoints of Entire."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

CLAUDE_AI = [
    {
        "uuid": "conv-1",
        "name": "The till",
        "created_at": "2026-05-01T10:00:00Z",
        "updated_at": "2026-05-01T10:05:00Z",
        "account": {"uuid": "a"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Fix the till.",
                "sender": "human",
                "created_at": "2026-05-01T10:00:00Z",
                "content": [{"type": "text", "text": "Fix the till.", "start_timestamp": None}],
                "attachments": [],
            },
            {
                "uuid": "m2",
                "text": "I look.",
                "sender": "assistant",
                "created_at": "2026-05-01T10:00:05Z",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "I look."},
                    {
                        "type": "tool_use",
                        "id": "toolu_01AAAAAAAAAAAAAAAAAAAAAA",
                        "name": "bash_tool",
                        "input": {"command": "make test", "description": "Test"},
                        "integration_name": None,
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01AAAAAAAAAAAAAAAAAAAAAA",
                        "name": "bash_tool",
                        "content": [{"type": "text", "text": "no rule"}],
                        "is_error": True,
                    },
                    # Older exports have no ids: the name and the order tell.
                    {"type": "tool_use", "name": "web_search", "input": {"query": "till"}},
                    {
                        "type": "tool_result",
                        "name": "web_search",
                        "content": [{"type": "knowledge", "title": "Tills", "url": "https://example.test"}],
                        "is_error": False,
                    },
                ],
            },
        ],
    },
    {"uuid": "conv-2", "name": "Talk", "chat_messages": [{"uuid": "m3", "text": "Hello.", "sender": "human"}]},
]


def chatgpt_node(key: str, parent: str | None, children: list[str], role: str, content: Any, **more: Any) -> Any:
    """A node of ChatGPT's tree of messages."""
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": key, "author": author, "create_time": 1_777_600_000.5, "content": content, **more}
    return {"id": key, "parent": parent, "children": children, "message": message}


def said(text: str) -> dict[str, Any]:
    """Words, as ChatGPT keeps them."""
    return {"content_type": "text", "parts": [text]}


def code(text: str) -> dict[str, Any]:
    """What the model hands to a tool."""
    return {"content_type": "code", "language": "unknown", "text": text}


RAN = {"content_type": "execution_output", "text": "2"}
BROKE = {"content_type": "execution_output", "text": "NameError: name 'till' is not defined"}
_NODES = [
    {"id": "root", "parent": None, "children": ["u1"], "message": None},
    chatgpt_node("u1", "root", ["t1"], "user", said("Fix the till.")),
    chatgpt_node("t1", "u1", ["c1"], "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
    chatgpt_node("c1", "t1", ["r1"], "assistant", code("till + 1"), recipient="python", metadata={"model_slug": "m1"}),
    chatgpt_node(
        "r1",
        "c1",
        ["c2", "c3"],
        "tool",
        BROKE,
        name="python",
        status="finished_successfully",
        metadata={"aggregate_result": {"status": "failed_with_in_kernel_exception"}},
    ),
    chatgpt_node("c2", "r1", ["r2"], "assistant", code("1 + 1"), recipient="python"),
    chatgpt_node("r2", "c2", ["r2b"], "tool", RAN, name="python", metadata={"aggregate_result": {"status": "success"}}),
    chatgpt_node("r2b", "r2", ["a1"], "tool", said("a second message"), name="python"),
    chatgpt_node("a1", "r2b", [], "assistant", said("It is 2."), recipient="all"),
    # The user had the answer made again: this branch was left.
    chatgpt_node("c3", "r1", ["r3"], "assistant", code('{"query": "till"}'), recipient="web.search"),
    chatgpt_node("r3", "c3", [], "tool", {"content_type": "tether_browsing_display", "result": "Tills"}, name="web"),
]
CHATGPT = [
    {
        "title": "The till",
        "create_time": 1_777_600_000.0,
        "mapping": {node["id"]: node for node in _NODES},
        "current_node": "a1",
        "conversation_id": "conv-1",
        "default_model_slug": "m1",
    },
    {
        "title": "Talk",
        "mapping": {"u": chatgpt_node("u", None, [], "user", said("Hello."))},
        "current_node": "u",
        "id": "conv-2",
    },
]

SPECSTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-05-01 10:00:00Z

<!-- Claude Code Session 5c7d5c23-0691-4467-b98e-0fb865b4a639 (2026-05-01 10:00:00Z) -->

_**User (2026-05-01 10:00:00Z)**_

Fix the till.

---

_**Agent (claude-m1 2026-05-01 10:00:05Z)**_

<think><details><summary>Thought Process</summary>
hm
</details></think>

I look.

_**Agent (claude-m1 2026-05-01 10:00:06Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
Run the tests

`make test`

```text
Exit code 2
no rule
```
</details></tool-use>

_**Agent (claude-m1 2026-05-01 10:00:07Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>

```bash
cd shop
echo `date`
```

```text
May
```
</details></tool-use>

<tool-use data-tool-type="shell" data-tool-name="exec_command"><details>
<summary>Tool use: **exec_command** `echo `date` | cat`</summary>

```
Process exited with code 0
Output:
May
```
</details></tool-use>

<tool-use data-tool-type="read" data-tool-name="Read"><details>
<summary>Tool use: **Read**</summary>
 `./till.py`

````text
     1→</details></tool-use>
```
````
</details></tool-use>

<tool-use data-tool-type="unknown" data-tool-name="mcp__docs__find"><details>
<summary>Tool use: **mcp__docs__find**</summary>

**Input:**

- note:

```
two
lines
```

- q: `till`

**Error:**

```
not found
```
</details></tool-use>

_**Agent - sidechain (claude-m2 2026-05-01 10:00:09Z)**_

<tool-use data-tool-type="search" data-tool-name="Grep"><details>
<summary>Tool use: **Grep**</summary>
 pattern `till`
</details></tool-use>
"""


def git(repository: Path, *words: str, given: bytes = b"") -> str:
    """Run git in a repository."""
    command = ["git", "-C", str(repository), "-c", "user.name=mira", "-c", "user.email=mira@example.test", *words]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout.decode().strip()


def store_tree(repository: Path, files: dict[str, bytes]) -> str:
    """A tree of git with these files, made without a checkout."""
    entries: list[str] = []
    folders: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        first, slash, rest = name.partition("/")
        if slash:
            folders.setdefault(first, {})[rest] = data
        else:
            entries.append(f"100644 blob {git(repository, 'hash-object', '-w', '--stdin', given=data)}\t{name}")
    entries += [f"040000 tree {store_tree(repository, below)}\t{name}" for name, below in folders.items()]
    return git(repository, "mktree", given="".join(f"{one}\n" for one in entries).encode())


def checkpoint(session: str, created: str, transcript: bytes, *, chunks: int = 1) -> dict[str, bytes]:
    """The files of a session in a checkpoint; a long transcript is kept in chunks."""
    about = {"session_id": session, "agent": "Claude Code", "created_at": created}
    lines = transcript.splitlines(keepends=True)
    size = -(-len(lines) // chunks)
    parts = [b"".join(lines[at : at + size]).rstrip(b"\n") for at in range(0, len(lines), size)]
    names = ["full.jsonl", *[f"full.jsonl.{number:03}" for number in range(1, len(parts))]]
    return {"metadata.json": json.dumps(about).encode(), **dict(zip(names, parts, strict=True))}


def add_checkpoint(repository: Path, ref: str, files: dict[str, bytes]) -> None:
    """Commit these files to a ref of a repository, in the place of what it held."""
    commit = git(repository, "commit-tree", "-m", "Checkpoint", store_tree(repository, files))
    git(repository, "update-ref", ref, commit)
