"""What the package offers as a library."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import seasoned
from seasoned.errors import StoreError, UsageError
from tests.example.invented import write_histories

# The stable surface: names and parameters are only added.
SURFACE = {
    "backtest": ["paths", "project", "fewest", "config"],
    "begin": ["messages", "conversation", "tools", "task", "folder", "application", "template", "format"],
    "build": ["name", "paths", "description", "tags", "project", "config", "progress"],
    "compare": ["warm", "cold"],
    "compress_check": ["conversations"],
    "judge": ["session"],
    "profile": ["conversation"],
    "project": ["folder", "remote", "application"],
    "project_of": ["folder", "remote", "application"],
    "provision": ["messages", "template", "tools", "task", "is_used", "project", "config", "folder", "options"],
    "read": ["path"],
}  # fmt: skip
ASKED = [{"role": "user", "content": "Where is my parcel 480?"}]


def test_the_surface_is_what_it_was() -> None:
    assert set(seasoned.__all__) == {"__version__", *SURFACE} <= set(dir(seasoned))
    for name, parameters in SURFACE.items():
        found = inspect.signature(getattr(seasoned, name)).parameters
        assert list(found)[: len(parameters)] == parameters, name


def test_a_name_is_a_function_whether_its_module_was_imported_or_not() -> None:
    code = (
        "import seasoned\n"
        "before = seasoned.project('/home/a/b')\n"
        "import seasoned.project, seasoned.begin.memory, seasoned.lesson.replay\n"
        "from seasoned.begin.memory import BUDGET\n"
        "from seasoned.project import is_path\n"
        "assert seasoned.project('/home/a/b') == before and before.name == 'b' and is_path('/x')\n"
        "functions = (getattr(seasoned, name) for name in seasoned.__all__ if name != '__version__')\n"
        "assert all(type(one) is type(is_path) for one in functions)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_template_is_built_and_put_into_the_messages_of_a_new_session(samples: Path) -> None:
    saved = seasoned.build("code", [samples / "openai"], min_messages=4, tags=["demo"])
    assert saved.template.name == "code" and saved.template.examples and saved.template.tags == ("demo",)
    made = seasoned.provision(ASKED, template="code")
    assert made.block is not None and len(made.messages) > 1
    assert made.messages[-1] == ASKED[0], made.reason


def test_a_conversation_keeps_its_beginning(samples: Path) -> None:
    with pytest.raises(StoreError, match="seasoned scan"):
        seasoned.begin(ASKED, conversation="bot:1")
    seasoned.build("code", [samples / "openai"], min_messages=4)
    begun = seasoned.begin(ASKED, conversation="bot:1")
    assert begun.template == "code@1" and begun.example_ids and begun.messages[-1] == ASKED[0]
    seasoned.build("code", [samples / "openai"], min_messages=4, max_sessions=2)
    answered = [*ASKED, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Again."}]
    again = seasoned.begin(answered, conversation="bot:1")
    assert again.messages == [*begun.messages, *answered[1:]] and again.template == "code@1"
    other = seasoned.begin(ASKED, folder="/home/none/elsewhere")
    assert other.messages == ASKED and other.template is None and other.reason


def test_an_application_sees_what_its_logs_taught_and_a_conversation_without_a_name_begins_alike(
    tmp_path: Path,
) -> None:
    write_histories(tmp_path / "logs", old=6, new=0, seed=1)
    seasoned.build("harbour", [tmp_path / "logs"], min_messages=6)
    asked = [{"role": "user", "content": "Reserve ferry slot 33."}]
    begun = seasoned.begin(asked, application="harbour")
    assert begun.template == "harbour@1" and "ferry_slot" in json.dumps(begun.messages)
    assert seasoned.begin(asked, application="harbour").messages == begun.messages
    assert seasoned.begin(asked, application="bakery").template is None
    with pytest.raises(UsageError, match="no option 'min_mesages'"):
        seasoned.build("harbour", [tmp_path / "logs"], min_mesages=6)
    with pytest.raises(UsageError, match="list of messages"):
        seasoned.begin("bot:1")  # type: ignore[arg-type]


def test_conversations_in_memory_are_profiled_compared_and_checked(tmp_path: Path) -> None:
    write_histories(tmp_path, old=2, new=0, seed=3)
    first, second = (json.loads((tmp_path / f"00{at}.jsonl").read_text())["messages"] for at in (0, 1))
    found = seasoned.profile(first)
    assert found.calls >= 10 and found.counts.ok == 10
    assert seasoned.profile(next(iter(seasoned.read(tmp_path / "000.jsonl")))).counts == found.counts
    compared = seasoned.compare(first, second)
    assert (compared.warm.total, compared.cold.errors) == (found.counts.counted, seasoned.profile(second).counts.failed)
    assert len(seasoned.compare([first, second], [second, first]).warm.sessions) == 2
    assert not seasoned.compress_check(first).has_compression
    with pytest.raises(UsageError, match="messages of one conversation"):
        seasoned.profile([])


def test_histories_are_replayed(samples: Path) -> None:
    answer = seasoned.backtest([samples], fewest=2)
    assert {one.project for one in answer.projects} == {
        "/home/mira/waypost",
        "/home/jonas/src/waypost",
        "app:hermes",
    }
    one = seasoned.backtest([samples], project="/home/mira/waypost")
    assert [each.project for each in one.projects] == ["/home/mira/waypost"]
