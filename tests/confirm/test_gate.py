"""What may run without asking, and how a person allows exactly one call where no service runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seasoned.app.confirm import open_book
from seasoned.app.gate import decide_call
from seasoned.app.people import decide_alone, give_agents_token, make, use_policy
from seasoned.config import Config
from seasoned.confirm.audit.chain import writing
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.client import Expired, SaidNo
from seasoned.confirm.people.change import allow, end_allowance
from seasoned.confirm.people.credential import UnlockedCredential
from seasoned.confirm.policy import FILE
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest
from seasoned.connect.agent_settings import command_words
from seasoned.errors import CannotDo, NotFound, Refused, UsageError
from tests.confirm.books import without_guards
from tests.confirm.keys import WORDS, make_person, unlock

CALL = NewRequest(action="delete_data", description="rm -rf /srv", details={"command": "rm -rf /srv"}, session_key="s")
REMOTE = NewRequest(action="exec_remote", description="ssh", details={"host": "staging"})


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A machine on which one person set up confirmations with one command."""
    config = Config(home=tmp_path / "home")
    decide_alone(config, "admin")
    with open_book(config) as book:
        made, *_ = make(config, book, "ada", "admin", person="ada", admin=None, ask=_never, ask_new=lambda _: WORDS)
        give_agents_token(config, book, made)
    return config


def _never(prompt: str) -> str:
    raise AssertionError(prompt)


def decided(config: Config, asked: NewRequest = CALL, *, folder: str = "/home/ada/shop", **more: Any) -> str:
    decision, reason = decide_call(config, asked, folder=folder, wait_seconds=1.0, **{"has_question": True, **more})
    return f"{decision} {reason}".strip()


def ada(book: Book) -> UnlockedCredential:
    return unlock(book.database, "ada")


def test_a_person_allows_exactly_one_call_or_denies_it_at_a_terminal_without_a_service(config: Config) -> None:
    def attempt(asked: NewRequest = CALL) -> str:
        return decided(config, asked, has_question=False)

    with pytest.raises(Expired, match="within 5 minutes, `seasoned confirm approve") as refused:
        attempt()
    found = re.search(r"approve (\S+)`", str(refused.value))
    assert found is not None
    with pytest.raises(Expired, match=found[1]):
        attempt()
    with open_book(config) as book:
        book.decide(ada(book), found[1], approve=True)
    other = NewRequest(action="delete_data", description="rm -rf /", details={"command": "rm -rf /"}, session_key="s")
    with pytest.raises(Expired) as elsewhere:
        attempt(other)
    assert found[1] not in str(elsewhere.value), "another call is another request"
    assert attempt() == f"allow A person confirmed delete_data (request {found[1]})."
    with pytest.raises(Expired) as again:
        attempt()
    assert found[1] not in str(again.value), "once"
    with open_book(config) as book:
        book.decide(ada(book), re.findall(r"approve (\S+)`", str(again.value))[0], approve=False, reason="not today")
    with pytest.raises(SaidNo, match="ada denied 'delete_data': not today"):
        attempt()
    with open_book(config) as book:
        assert verify(book.database).ok


def test_what_is_missing_is_said_with_the_command_that_sets_it_up(tmp_path: Path, config: Config) -> None:
    with pytest.raises(CannotDo, match="seasoned confirm token make YOUR_NAME --role admin --alone"):
        decided(Config(home=tmp_path / "other"), has_question=False)
    (config.home / "secrets" / "confirm_token").unlink()
    with pytest.raises(CannotDo, match="seasoned confirm token make NAME --role agent --out"):
        decided(config, has_question=False)
    with pytest.raises(UsageError, match="policy FILE --use"):
        (config.home / FILE).write_text("")
        decide_alone(config, "admin")


def test_an_allowance_holds_where_and_while_it_says_and_ends_at_once(config: Config) -> None:
    assert decided(config) == "ask"
    with open_book(config) as book:
        now = time.time()
        here = allow(book, ada(book), "delete_data", project="/home/ada/shop", host=None, until=None)
        there = allow(book, ada(book), "exec_remote", project=None, host="staging", until=now + 60)
        past = allow(book, ada(book), "rotate_keys", project=None, host=None, until=now - 1)
        assert list(book.recorded().allowances) == [here.number, there.number, past.number]
    assert decided(config) == f"pass ada allowed it; `seasoned confirm allow --end {here.number}` ends that."
    assert decided(config, folder="/home/ada/shop/api").startswith("pass")
    assert decided(config, folder="/home/ada/shopping") == decided(config, folder="") == "ask"
    assert decided(config, REMOTE).startswith("pass")
    assert decided(config, NewRequest(action="exec_remote", description="ssh", details={"host": "prod"})) == "ask"
    assert decided(config, NewRequest(action="exec_remote", description="ssh")) == "ask", "which one is not known"
    assert decided(config, NewRequest(action="rotate_keys", description="x")) == "ask"
    with open_book(config) as book:
        end_allowance(book, here.number)
        with pytest.raises(NotFound, match="no allowance"):
            end_allowance(book, here.number)
        assert verify(book.database).ok
    assert decided(config) == "ask"


def test_no_one_but_an_admin_allows_and_nothing_that_the_policy_keeps(config: Config) -> None:
    with open_book(config) as book:
        boss = ada(book)
        ben, _ = make_person(book.database, "ben", "approver", now=1.0, by=boss)
        assert isinstance(ben, UnlockedCredential)
        with pytest.raises(Refused, match="not an admin"):
            allow(book, ben, "delete_data", project=None, host=None, until=None)
        with pytest.raises(UsageError, match="not one of the ten"):
            allow(book, boss, "send_email", project=None, host=None, until=None)
        allow(book, boss, "delete_data", project=None, host=None, until=None)
    assert decided(config).startswith("pass")
    (config.home / FILE).write_text("single_operator = true\n")
    assert decided(config) == "ask", "the policy is not the approved one"
    strict = config.home.parent / "strict.toml"
    for listed, where in (
        ('[action.deploy]\napprovers = ["ada", "zoe"]\n', "action.deploy.approvers: 'zoe' may not decide"),
        ('[channel.telegram]\nto = "1"\npeople = { "4" = "ada-agents" }\n', "telegram.people: 'ada-agents' may not"),
    ):
        strict.write_text(listed)
        with open_book(config) as book, pytest.raises(UsageError, match=where):
            use_policy(config, book, strict, summary="", admin="ada", ask=_never)
    strict.write_text('always_ask = ["delete-data"]\n')
    with open_book(config) as book:
        use_policy(config, book, strict, summary="", admin="ada", ask=lambda _: WORDS)
    assert decided(config) == "ask"
    with open_book(config) as book, pytest.raises(Refused, match="always asked about"):
        allow(book, ada(book), "delete_data", project=None, host=None, until=None)


def test_a_folder_that_a_project_names_for_python_neither_replaces_the_hook_nor_breaks_it(
    config: Config, tmp_path: Path
) -> None:
    evil = tmp_path / "evil" / "seasoned"
    (evil / "hooks").mkdir(parents=True)
    for module in (evil / "__init__.py", evil / "hooks" / "__init__.py", tmp_path / "evil" / "json.py"):
        module.touch()
    (evil / "hooks" / "main.py").write_text("def main() -> None:\n    pass\n")
    words = command_words(config, Path(sys.executable).parent, "codex", "pre-tool-use")
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /srv"}, "cwd": "/"}
    done = subprocess.run(
        words,
        input=json.dumps(event).encode(),
        env={**os.environ, "PYTHONPATH": str(tmp_path / "evil")},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b'"deny"' in done.stdout) == (0, True), done


def test_an_allowance_that_was_written_into_the_audit_counts_for_nothing_and_is_named(config: Config) -> None:
    """A program of the same user copies the row of one that was ended."""
    with open_book(config) as book:
        made = allow(book, ada(book), "delete_data", project=None, host=None, until=None)
        end_allowance(book, made.number)
        row = book.database.row("confirm.audit_row", {"seq": made.number})
        assert row is not None
        without_guards(book.database, "audit")
        with writing(book.database) as chain:
            chain.append("allowed", msgspec.json.decode(row["document"]), at=made.at, actor="ada")
            unsigned = {"action": "delete_data", "project": None, "host": None, "until": None}
            chain.append("allowed", unsigned, at=made.at, actor="ada")
    assert decided(config) == "ask"
    with open_book(config) as book:
        found = verify(book.database)
    assert [bool(re.search("allows an action without", one)) for one in found.problems] == [True, True]
