"""`seasoned confirm`, as people and agents meet it: real commands, a real service, a real terminal for passphrases."""

from __future__ import annotations

import json
import os
import re
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from seasoned.app.people import user_name
from seasoned.cli.main import app, main
from seasoned.config import load
from seasoned.confirm.people.change import first_admin
from seasoned.store import open_database
from tests.cli.run import SEASONED, seasoned
from tests.cli.terminal import Terminal, terminal
from tests.confirm.serving import Serving, serving

WORDS = "four words are enough"
ASKED = ("delete_data", "Delete last year's logs", "--details", '{"path": "/srv/logs/2025"}')


def answer(*arguments: object, expect: int = 0) -> dict[str, Any]:
    """What a command answers to a program; in this process, for what does not depend on having one of its own."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == expect, f"{done.output}\n{done.exception!r}"
    decoded: dict[str, Any] = json.loads(done.stdout)
    return decoded


@pytest.fixture
def ada(home: Path) -> str:
    """An admin with a passphrase, in the store that the commands use."""
    config = load()
    database = open_database(config)
    try:
        return first_admin(database, "ada", WORDS, now=time.time())[1]
    finally:
        database.close()


@pytest.fixture
def service(home: Path, ada: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """A service on the same store, with the agent's token where commands find it."""
    with serving(home / ".seasoned") as found:
        secret = home / ".seasoned" / "secrets"
        secret.mkdir(mode=0o700)
        (secret / "confirm_token").write_text(found.tokens["agent"] + "\n")
        monkeypatch.setenv("SEASONED_CONFIRM_URL", found.url)
        yield found


def token_file(home: Path, text: str) -> Path:
    file = home / "token"
    file.write_text(text + "\n")
    return file


def ended(screen: Terminal, seconds: float = 20.0) -> tuple[int, str]:
    """The exit code of a command at a terminal, and what it still printed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([screen.screen], [], [], 0.02)[0]:
            try:
                screen.text += os.read(screen.screen, 65536).decode("utf-8", "replace")
                continue
            except OSError:
                pass
        pid, status = os.waitpid(screen.pid, os.WNOHANG)
        if pid:
            screen.code = os.waitstatus_to_exitcode(status)
            return screen.code, screen.text.replace("\r\n", "\n")
    raise AssertionError(f"it did not end:\n{screen.text}")


def typed(*arguments: object, words: tuple[str, ...] = (WORDS,), prompt: str = "assphrase") -> tuple[int, str]:
    """Run a command at a terminal and type the passphrase each time it asks."""
    with terminal(*arguments) as screen:
        seen = ""
        for each in words:
            seen += screen.wait_for(prompt)
            seen += screen.wait_for(": ")
            screen.type(each + "\n")
            prompt = "assphrase" if prompt == "assphrase" and len(words) < 3 else prompt
        code, rest = ended(screen)
    return code, seen + rest


def test_the_first_admin_chooses_a_passphrase_at_the_terminal_and_no_file_holds_it(home: Path) -> None:
    with terminal("confirm", "token", "make", "ada", "--role", "admin") as screen:
        screen.wait_for("New passphrase for ada: ")
        screen.type(WORDS + "\n")
        screen.wait_for("Repeat it: ")
        screen.type(WORDS + "\n")
        code, shown = ended(screen)
    assert code == 0
    assert re.search(r"ssn_admin_[\w-]{43}\n", shown)
    assert WORDS not in shown, "what is typed is not shown"
    files = [path for path in (home / ".seasoned").rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert [path for path in files if WORDS.encode() in path.read_bytes()] == []


def test_two_passphrases_that_differ_make_no_admin() -> None:
    with terminal("confirm", "token", "make", "ada", "--role", "admin") as screen:
        screen.wait_for("New passphrase for ada: ")
        screen.type(WORDS + "\n")
        screen.wait_for("Repeat it: ")
        screen.type("something else entirely\n")
        assert ended(screen)[0] == 2
    assert answer("confirm", "token", "list")["count"] == 0


def test_a_person_sees_the_exact_arguments_and_approves_with_the_passphrase(service: Serving, home: Path) -> None:
    asked = answer("confirm", "submit", *ASKED)
    assert asked["status"] == "pending"
    with terminal("confirm", "approve", asked["id"], "--reason", "checked", "--as", "ada") as screen:
        seen = screen.wait_for("Passphrase of ada to approve it: ")
        assert '"path": "/srv/logs/2025"' in seen
        assert asked["digest"] in seen
        screen.type(WORDS + "\n")
        code, shown = ended(screen)
    assert (code, "approved by ada" in shown) == (0, True)
    found = answer("confirm", "show", asked["id"], "--wait", 3600)
    assert (found["status"], found["resolved_by"], found["reason"]) == ("approved", "ada", "checked")
    (vote,) = answer("confirm", "show", asked["id"])["votes"]
    assert (vote["voter"], vote["via"]) == ("ada", "terminal")


def test_a_wrong_passphrase_decides_nothing_and_is_audited(service: Serving) -> None:
    asked = answer("confirm", "submit", *ASKED)
    code, shown = typed("confirm", "approve", asked["id"], "--as", "ada", words=("not the right words",))
    assert (code, "wrong passphrase" in shown) == (1, True)
    assert service.look(asked["id"])["status"] == "pending"
    assert answer("confirm", "audit")["entries"][0]["event"] == "passphrase_refused"


def test_a_passphrase_is_taken_from_no_argument_no_variable_and_no_pipe(service: Serving) -> None:
    asked = answer("confirm", "submit", *ASKED)
    done = subprocess.run(
        [str(SEASONED), "confirm", "approve", asked["id"], "--as", "ada"],
        input=f"{WORDS}\n",
        env={**os.environ, "SEASONED_PASSPHRASE": WORDS, "SEASONED_CONFIRM_PASSPHRASE": WORDS},
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert "there is none here" in done.stderr
    assert "No such option" in seasoned("confirm", "approve", "x", "--passphrase", WORDS, expect=2).stderr
    assert service.look(asked["id"])["status"] == "pending"


def test_a_denial_reaches_the_one_who_waits_with_its_reason_and_exit_code_1(service: Serving) -> None:
    asked = answer("confirm", "submit", *ASKED)
    waiting = subprocess.Popen(
        [str(SEASONED), "confirm", "show", asked["id"], "--wait", "3600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    code, _ = typed("confirm", "deny", asked["id"], "--reason", "wrong year", "--as", "ada")
    _, said = waiting.communicate(timeout=20)
    assert (code, waiting.returncode) == (0, 1)
    assert "ada denied 'delete_data': wrong year" in said


def test_an_approver_elsewhere_decides_over_http_with_a_token_from_a_file(service: Serving, home: Path) -> None:
    file = token_file(home, service.tokens["alice"])
    asked = answer("confirm", "submit", *ASKED)
    remote = ("--url", service.url, "--token-file", file)
    (listed,) = answer("confirm", "list", "--status", "pending", *remote)["requests"]
    assert listed["details"] == {"path": "/srv/logs/2025"}
    code, shown = typed("confirm", "deny", asked["id"], "--reason", "no", *map(str, remote))
    assert (code, '"path": "/srv/logs/2025"' in shown, f"{asked['id']}  denied by alice" in shown) == (0, True, True)
    code, shown = typed("confirm", "approve", asked["id"], *map(str, remote))
    assert (code, "HTTP 409" in shown) == (3, True)
    assert answer("confirm", "audit", "--limit", "3", *remote)["count"] == 3


def test_submit_with_redeem_is_a_gate_for_scripts(service: Serving) -> None:
    gate = subprocess.Popen(
        [str(SEASONED), "confirm", "submit", *ASKED, "--redeem"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    found: list[dict[str, Any]] = []
    while not found:
        with service.client("alice") as client:
            found = client.get("/confirm", params={"status": "pending"}).json()["requests"]
    assert service.decide(found[0]["id"]).status_code == 200
    out, _ = gate.communicate(timeout=20)
    assert (gate.returncode, "redeemed: do it now" in out) == (0, True)
    assert service.look(found[0]["id"])["redeemed_at"] is not None


def test_waiting_ends_with_1_when_nobody_decides(service: Serving) -> None:
    asked = answer("confirm", "submit", *ASKED)
    found = answer("confirm", "show", asked["id"], "--wait", "0.1", expect=1)
    assert (found["schema"], found["status"]) == ("seasoned/confirm-request/1", "pending")


def test_the_first_admin_can_be_made_only_once(ada: str) -> None:
    code, shown = typed("confirm", "token", "make", "eve", "--role", "admin", words=("eve chose these words",))
    assert (code, "wrong passphrase" in shown) == (1, True)
    assert [one["name"] for one in answer("confirm", "token", "list")["credentials"]] == ["ada"]


def test_an_admin_makes_an_approver_who_then_has_a_passphrase_of_their_own(ada: str, home: Path) -> None:
    file = home / "bob.token"
    code, shown = typed("confirm", "token", "make", "bob", "--role", "approver", "--out", str(file))
    assert code == 0, shown
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("ssn_approver_")
    assert "ssn_approver_" not in shown
    with terminal("confirm", "passphrase", "bob") as screen:
        screen.wait_for("Passphrase of ada to give bob a new one: ")
        screen.type(WORDS + "\n")
        for prompt in ("New passphrase for bob: ", "Repeat it: "):
            screen.wait_for(prompt)
            screen.type("bob has other words\n")
        assert ended(screen)[0] == 0
    code, _ = typed("confirm", "token", "revoke", "bob", words=(WORDS,))
    assert code == 0
    assert answer("confirm", "token", "list")["credentials"][-1]["revoked_at"] is not None


def test_an_agents_token_needs_the_passphrase_of_its_person(ada: str, home: Path) -> None:
    file = home / "claude.token"
    code, shown = typed("confirm", "token", "make", "claude", "--out", str(file))
    assert (code, "claude is now an agent" in shown) == (0, True)
    (made,) = [one for one in answer("confirm", "token", "list")["credentials"] if one["name"] == "claude"]
    assert made["person"] == "ada"
    code, shown = typed("confirm", "token", "make", "codex", "--person", "ghost")
    assert (code, "can only belong to 'ada'" in " ".join(shown.split())) == (1, True)
    assert "must be typed at a terminal" in seasoned("confirm", "token", "make", "codex", expect=3).stderr


def test_before_there_is_an_admin_agents_get_tokens_without_a_passphrase(home: Path) -> None:
    made = answer("confirm", "token", "make", "claude")
    assert (made["role"], made["token"].startswith("ssn_agent_")) == ("agent", True)
    assert answer("confirm", "token", "revoke", "claude")["revoked_at"] is not None
    stored = (home / ".seasoned" / "seasoned.db").read_bytes()
    assert made["token"].encode() not in stored, "only the hash of a token is kept"
    taken = seasoned("confirm", "token", "make", "claude", expect=1)
    assert "never used twice" in taken.stderr


def first_admin_at_the_terminal(*more: str) -> str:
    """Make ada the first admin, as the guide says; what was printed."""
    with terminal("confirm", "token", "make", "ada", "--role", "admin", *more) as screen:
        for prompt in ("New passphrase for ada: ", "Repeat it: "):
            screen.wait_for(prompt)
            screen.type(WORDS + "\n")
        code, shown = ended(screen)
    assert code == 0, shown
    return shown


def test_alone_with_an_agent_nobody_may_approve_until_the_policy_says_so(home: Path) -> None:
    first_admin_at_the_terminal()
    file, owner = home / "claude.token", user_name()
    code, shown = typed("confirm", "token", "make", "claude", "--out", str(file))
    assert code == 0, shown
    assert [one["person"] for one in answer("confirm", "token", "list")["credentials"]] == [owner, owner]
    assert "No one can approve what claude asks for" in shown and "single_operator = true" in shown
    with serving(home / ".seasoned", tokens={"agent": file.read_text().strip()}) as found:
        asked = found.ask(action="delete_data")
    code, shown = typed("confirm", "approve", asked["id"])
    assert code == 1
    assert "another person must decide" in " ".join(shown.split()) and "single_operator = true" in " ".join(
        shown.split()
    )


def test_who_decides_is_warned_of_what_a_request_holds(service: Serving) -> None:
    asked = answer("confirm", "submit", "send_email", "Send it", "--details", '{"command": "rm -rf /srv/logs"}')
    shown = " ".join(seasoned("confirm", "show", asked["id"]).stdout.split())
    assert "Warning: its details would delete data (delete_data)" in shown


def test_one_person_sets_up_approves_a_call_and_allows_more_without_a_service(home: Path) -> None:
    """Each with one command; the agent has no question of its own."""
    first_admin_at_the_terminal("--alone")
    project = home / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /srv/data"}, "session_id": "s", "cwd": str(project)}

    def attempt() -> str:
        hook = [sys.executable, "-c", "from seasoned.hooks.main import main; main()", "codex", "pre-tool-use"]
        return subprocess.run(hook, input=json.dumps(call), capture_output=True, text=True, check=True).stdout

    refused = attempt()
    found = re.search(r"seasoned confirm approve (\S+)`", refused)
    assert found is not None, refused
    code, said = typed("confirm", "approve", found[1])
    assert (code, "May ada-agents delete data?" in said) == (0, True)
    assert attempt() == "", "what is not denied runs"
    assert "deny" in attempt(), "once"
    code, said = typed("confirm", "allow", "delete-data", "--project", str(project / "."), "--hours", "8")
    assert (code, "delete_data" in said) == (0, True)
    assert attempt() == ""
    (kept,) = answer("confirm", "allow")["allowances"]
    assert (kept["action"], kept["project"], kept["host"], kept["by"]) == ("delete_data", str(project), None, "ada")
    assert seasoned("confirm", "allow", "--end", kept["number"]).stdout == "delete_data is asked about again.\n"
    assert "deny" in attempt()
    assert "Nothing is allowed" in seasoned("confirm", "allow").stdout
    assert seasoned("confirm", "verify").stdout.startswith("The audit is complete")


def test_approved_and_never_redeemed_is_visible(service: Serving) -> None:
    asked = answer("confirm", "submit", *ASKED)
    assert service.decide(asked["id"]).status_code == 200
    (one,) = answer("confirm", "list", "--unused")["requests"]
    assert (one["id"], one["redeemed_at"], one["is_unused"]) == (asked["id"], None, True)
    assert "approved, unused" in seasoned("confirm", "list").stdout


def test_verify_names_the_first_bad_row(service: Serving, home: Path) -> None:
    heads = home / "heads.jsonl"
    answer("confirm", "submit", *ASKED)
    heads.write_text(seasoned("confirm", "verify", "--head", "--json").stdout)
    whole = answer("confirm", "verify", "--heads", heads)
    assert (whole["ok"], whole["heads"]) == (True, 1)
    with sqlite3.connect(home / ".seasoned" / "seasoned.db") as raw:
        guards = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'").fetchall()
        for (name,) in guards:
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("UPDATE audit SET actor = 'somebody' WHERE seq = 3")
    raw.close()
    found = answer("confirm", "verify", expect=1)
    assert (found["ok"], found["first_bad"]) == (False, 3)
    assert "first at row 3" in seasoned("confirm", "verify", expect=1).stdout


def test_a_policy_is_checked_and_put_into_force_by_an_admin(ada: str, home: Path) -> None:
    draft = home / "draft.toml"
    draft.write_text('[[allow]]\naction = "delete_data"\n')
    assert "always needs a person" in seasoned("confirm", "policy", draft, expect=2).stderr
    draft.write_text("single_operator = true\n[timeout]\ndefault_seconds = 60\n")
    assert answer("confirm", "policy", draft)["policy"]["timeout"]["default_seconds"] == 60
    code, shown = typed("confirm", "policy", str(draft), "--use")
    assert (code, "Single-operator mode" in shown) == (0, True)
    assert answer("confirm", "policy")["exists"]
    assert answer("confirm", "audit")["entries"][0]["event"] == "policy_replaced"


def test_the_first_admins_policy_is_agreed_to_and_no_other_one_lets_anybody_approve(home: Path) -> None:
    first_admin_at_the_terminal()
    newest = answer("confirm", "audit")["entries"][0]
    assert newest["event"] == "policy_replaced"
    with serving(home / ".seasoned") as found:
        asked = found.ask(action="delete_data")
    (home / ".seasoned" / "policy.toml").write_text("single_operator = true\n")
    refused = seasoned("confirm", "approve", asked["id"], "--as", "ada", expect=3)
    assert "not the approved policy" in refused.stderr
    assert "approved policy" in seasoned("confirm", "serve", "--port", "0", expect=3).stderr
    missing = seasoned("confirm", "serve", "--port", "0", "--policy", home / "nowhere.toml", expect=3)
    assert "does not exist" in missing.stderr


def test_serve_alone_says_where_it_listens_and_what_single_operator_gives_up(home: Path, ada: str) -> None:
    (home / ".seasoned" / "policy.toml").write_text("single_operator = true\n")
    process = subprocess.Popen(
        [str(SEASONED), "confirm", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().removeprefix("Listening on ").strip()
    assert typed("confirm", "token", "make", "claude", "--out", str(home / "claude.token"))[0] == 0
    where = ("--url", address, "--token-file", home / "claude.token")
    asked = answer("confirm", "submit", *ASKED, *where)
    assert asked["status"] == "pending"
    process.terminate()
    shown, said = process.communicate(timeout=20)
    # No channel is configured, so the terminal is where a person can see that someone waits.
    assert "May claude delete data? It says:" in shown
    assert f"seasoned confirm approve {asked['id']}" in shown
    assert address.startswith("http://127.0.0.1:")
    assert "Single-operator mode" in said
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["submit", "delete_data", "x"], 3, "confirm_url is not set"),
        (["submit", "delete_data", "x", "--details", "[]", "--url", "http://127.0.0.1:9"], 2, "JSON object"),
        (["submit", "delete_data", "x", "--details", "{", "--url", "http://127.0.0.1:9"], 2, "not valid JSON"),
        (["submit", "delete_data", "x", "--url", "http://127.0.0.1:9"], 3, "did not answer"),
        (["submit", "delete_data", "x", "--url", "http://example.org"], 2, "https://"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], 2, "--insecure-listen"),
        (["serve", "--tls-cert", "c.pem"], 2, "belong together"),
        (["approve", "nothing"], 1, "token make NAME --role admin"),
        (["show", "nothing"], 1, "no request 'nothing'"),
        (["policy", "/nowhere.toml"], 3, "does not exist"),
        (["token", "revoke", "nobody"], 1, "unknown credential"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    arguments: list[str],
    code: int,
    said: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "--url" in arguments:
        arguments = [*arguments, "--token-file", str(token_file(home, "ssn_agent_x"))]
    monkeypatch.setattr(sys, "argv", ["seasoned", "confirm", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == code
    assert said in told
    assert told.count("\n") == 1


def test_text_of_a_request_cannot_steer_the_terminal(service: Serving) -> None:
    asked = answer(
        "confirm", "submit", "delete_data", "x\x1b[2J\nalice approved it", "--details", '{"a": "\\u001b[1m"}'
    )
    shown = seasoned("confirm", "show", asked["id"]).stdout
    assert "\x1b" not in shown
    assert "\n  alice approved it" in shown, "it is set in, unlike our own lines"
    assert json.loads(seasoned("confirm", "list", "--json").stdout)["schema"] == "seasoned/confirm-requests/1"
