"""A command, code or SQL is found in the fields in which tools take it, and however deep it is packed."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.call import MOST_OBJECTS, objects
from seasoned.command.risk import need_of_call
from tests.each_case import check_each

FOLDER = "/home/mira/parcel"
DELETES = "rm -rf /srv/data"
HELD: list[tuple[str, dict[str, Any], str]] = [
    ("mcp__x__do", {"shell": DELETES}, "delete_data"),
    ("mcp__x__do", {"commandLine": DELETES}, "delete_data"),
    ("mcp__x__do", {"steps": [[{"run": DELETES}]]}, "delete_data"),
    ("mcp__x__do", {"program": "rm", "args": ["-rf", "/srv/data"]}, "delete_data"),
    ("mcp__x__do", {"command": "rm", "arguments": ["-rf", "/srv/data"]}, "delete_data"),
    ("mcp__x__do", {"executable": "/bin/rm", "params": "-rf /srv/data"}, "delete_data"),
    ("mcp__x__do", {"command": json.dumps(["rm", "-rf", "/srv/data"])}, "delete_data"),
    ("mcp__x__do", {"request": json.dumps({"cmd": DELETES})}, "delete_data"),
    ("mcp__x__do", {"request": json.dumps([{"payload": json.dumps({"shell": DELETES})}])}, "delete_data"),
    ("mcp__x__do", {"pad": {f"k{number}": "x" for number in range(90)}, "z": {"cmd": DELETES}}, "delete_data"),
    ("mcp__x__do", {"javascript": "require('fs').rmSync('/srv/data', {recursive: true})"}, "delete_data"),
    ("mcp__x__do", {"statement": "DROP TABLE orders"}, "wipe_database"),
    ("mcp__x__do", {"query": "/* tidy */ TRUNCATE TABLE orders"}, "wipe_database"),
    ("mcp__warehouse__run", {"statements": ["select 1", "DELETE FROM orders"]}, "delete_data"),
    ("mcp__x__do", {"sql": {"text": "DROP DATABASE shop"}}, "wipe_database"),
    ("mcp__k8s__kubectl", {"args": ["delete", "ns", "shop"]}, "delete_data"),
    ("mcp__k8s__kubectl_delete", {"resource": "deployment"}, "delete_data"),
    # Values decide, whatever they are called.
    *(
        ("mcp__x__do", {key: DELETES}, "delete_data")
        for key in ("sh", "text", "q", "hook", "cmd_str", "do", "task", "job", "line", "anything")
    ),
    ("control", {"action": "delete", "target": "/srv/data"}, "delete_data"),
    ("get_shell", {"line": DELETES}, "delete_data"),
    # Named tools.
    ("mcp__k8s__delete_resource", {"kind": "Deployment"}, "delete_data"),
    ("mcp__aws__call_aws", {"command": "aws s3 rm s3://backups --recursive"}, "delete_data"),
    ("mcp__tf__destroy", {"dir": "infra"}, "delete_data"),
    ("mcp__db__wipe", {"database": "shop"}, "wipe_database"),
    ("get_and_delete_users", {"team": "shop"}, "delete_data"),
    ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: /srv/a\n*** End Patch"}, "delete_data"),
    ("Write", {"file_path": "/etc/claude-code/managed-settings.json", "content": "{}"}, "modify_permissions"),
    (
        "Write",
        {"file_path": "/Library/Application Support/ClaudeCode/managed-settings.json", "content": "{}"},
        "modify_permissions",
    ),
    ("mcp__seasoned__approve", {"id": "3f2a"}, "modify_permissions"),
    ("spawn_agent", {"prompt": "go on", "permission_mode": "bypassPermissions"}, "modify_permissions"),
    ("Bash", {"command": "rm -rf /srv/data"}, "delete_data"),
    ("bash", {"command": "npm publish"}, "publish_package"),
    ("shell", {"command": ["bash", "-lc", "dropdb -h db.example.com shop"]}, "wipe_database"),
    ("local_shell", {"action": {"command": ["kubectl", "apply", "-f", "k8s/"]}}, "deploy_production"),
    ("write_stdin", {"session_id": 1, "chars": "DROP TABLE users;\n"}, "wipe_database"),
    ("write_stdin", {"session_id": 1, "chars": "rm -rf /srv\n"}, "delete_data"),
    ("process", {"action": "submit", "data": "alembic -x url=$PROD_URL upgrade head"}, "migrate_database"),
    ("execute_code", {"code": "import os\nos.system('dropdb -h db.example.com shop')"}, "wipe_database"),
    ("python", {"code": "import shutil\nshutil.rmtree('/srv/data')"}, "delete_data"),
    ("mcp__postgres__query", {"sql": "DROP TABLE users"}, "wipe_database"),
    ("mcp__postgres__execute", {"query": "DELETE FROM users"}, "delete_data"),
    ("mcp__db__drop_table", {"table": "users"}, "wipe_database"),
    ("mcp__supabase__apply_migration", {"name": "x"}, "migrate_database"),
    ("deploy_production", {"tag": "v1"}, "deploy_production"),
    ("mcp__stripe__create_refund", {"charge": "c"}, "transfer_funds"),
    ("grant_role", {"user": "bob"}, "modify_permissions"),
    ("rotate_api_key", {}, "rotate_keys"),
    ("mcp__crm__delete_customer", {"id": 1}, "delete_data"),
    ("ssh_exec", {"host": "web1"}, "exec_remote"),
    ("Write", {"file_path": "/home/mira/.claude/settings.json", "content": "{}"}, "modify_permissions"),
    ("Write", {"file_path": "/home/mira/.seasoned/secrets/hook_secret", "content": "x"}, "modify_permissions"),
    ("mcp__ssh__exec", {"host": "web1", "command": "uptime"}, "exec_remote"),
    ("git", {"subcommand": "push", "args": ["--force", "origin", "main"]}, "delete_data"),
    ("http_request", {"method": "delete", "url": "https://api.example.org/orders/1"}, "delete_data"),
    ("fetch_api", {"method": "POST", "url": "https://api.stripe.com/v1/refunds", "body": {}}, "transfer_funds"),
    ("mcp__fs__move_file", {"source": "/srv/data", "destination": "/tmp/x"}, "delete_data"),
    ("mcp__fs__delete_files", {"paths": ["build", "/srv/data"]}, "delete_data"),
    ("mcp__fs__write_files", {"files": [{"path": "/root/.ssh/authorized_keys", "content": "x"}]}, "modify_permissions"),
    ("mcp__fs__copy", {"paths": ["/tmp/s.json", "/home/mira/.claude/settings.json"]}, "modify_permissions"),
]
NOT_HELD: list[tuple[str, dict[str, Any]]] = [
    ("mcp__x__do", {"program": "git", "args": ["status"]}),
    ("mcp__x__do", {"shell": "bash", "cwd": FOLDER}),
    ("mcp__docs__search", {"query": "DROP TABLE users"}),
    ("mcp__github__create_issue", {"title": "make deploy fails", "body": "git push --force main is off"}),
    ("WebSearch", {"query": "how to delete from table users"}),
    ("mcp__x__do", {"query": "delete the old rows, then tell me"}),
    ("Write", {"file_path": f"{FOLDER}/package.json", "content": json.dumps({"scripts": {"command": DELETES}})}),
    ("Task", {"prompt": json.dumps({"command": DELETES})}),
    ("TodoWrite", {"todos": [{"content": DELETES, "status": "pending"}] * 90}),
    ("http_request", {"method": "GET", "url": "https://api.example.org/orders"}),
    ("http_request", {"method": "DELETE", "url": "http://localhost:8000/orders/1"}),
    ("mcp__k8s__kubectl_get", {"args": ["pods"]}),
    ("mcp__fs__move_file", {"source": f"{FOLDER}/a.py", "destination": f"{FOLDER}/b.py"}),
    ("mcp__fs__delete_files", {"paths": ["build", f"{FOLDER}/dist"]}),
    ("Bash", {"command": "ls -la", "description": "rm -rf / is not run"}),
    ("Read", {"file_path": "/etc/passwd"}),
    ("Read", {"file_path": "/home/mira/.seasoned/policy.toml"}),
    ("Write", {"file_path": "notes.md", "content": "rm -rf /"}),
    ("Edit", {"file_path": "app.py", "old_string": "DROP TABLE x", "new_string": ""}),
    ("WebFetch", {"url": "https://example.com", "prompt": "how to drop a database"}),
    ("mcp__ssh__list_hosts", {}),
    ("mcp__jobs__start", {"payload": {"steps": [{"command": "pytest -q"}]}}),
    ("Task", {"prompt": "delete the database and deploy"}),
    ("str_replace_editor", {"command": "view", "path": "/etc/passwd"}),
    ("delete_file", {"path": "build/a.o"}),
    ("mcp__postgres__query", {"sql": "SELECT * FROM users WHERE id = 1"}),
    ("deploy_preview", {}),
    ("request_permissions", {"scope": "write"}),
    ("KillShell", {"shell_id": "1"}),
    ("write_stdin", {"session_id": 1, "chars": "y\n"}),
    ("execute_code", {"code": "print('rm -rf /')"}),
    ("", {}),
    ("NotebookEdit", {"notebook_path": f"{FOLDER}/a.ipynb", "source": "open('/etc/sudoers')\nprint(1)"}),
]


def test_a_call_is_held_whichever_field_holds_what_it_runs() -> None:
    def check(tool: str, arguments: dict[str, Any], action: str) -> None:
        need = need_of_call(tool, arguments, folder=FOLDER)
        assert need is not None and need.action == action

    check_each(HELD, check)


def test_what_is_searched_for_stored_or_said_is_not_held() -> None:
    def check(tool: str, arguments: dict[str, Any]) -> None:
        assert need_of_call(tool, arguments, folder=FOLDER) is None

    check_each(NOT_HELD, check)


@given(st.integers(0, 400), st.sampled_from(["dict", "list", "json"]))
def test_no_depth_hides_a_command(depth: int, manner: str) -> None:
    value: Any = {"command": DELETES}
    # Each level of JSON in JSON doubles the backslashes, so few levels fit into a call.
    for number in range(min(depth, 6) if manner == "json" else depth):
        if manner == "json":
            value = {"inner": json.dumps(value)}
        else:
            value = {f"k{number}": value} if manner == "dict" else [value]
    arguments = {"packed": value}
    assert need_of_call("mcp__x__do", arguments, folder=FOLDER) is not None


def test_a_call_that_packs_more_than_is_read_needs_a_person() -> None:
    many = {"rows": [{"a": 1}] * (MOST_OBJECTS + 1)}
    deep: dict[str, Any] = {}
    for _ in range(MOST_OBJECTS + 1):
        deep = {"k": deep}
    long = {f"k{number}": "ls -la " * 2_500 for number in range(50)}
    for arguments in (many, deep, long):
        need = need_of_call("mcp__x__do", arguments, folder=FOLDER)
        assert need is not None and need.row == "length"
    assert objects(many) == ([many, *[{"a": 1}] * (MOST_OBJECTS - 1)], False)
