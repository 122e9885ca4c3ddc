"""The sample histories: made again byte for byte, readable, and true to what was planted in them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.each_case import each_case

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src/seasoned/samples"
BY_HAND = {"__init__.py", "README.md"}


def _files(folder: Path) -> dict[str, Path]:
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path for path in paths if path.name not in BY_HAND}


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file; of a log with records, the messages in them."""
    if path.suffix == ".json":
        yield json.loads(path.read_text(encoding="utf-8"))
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _known(call_id: str, calls: list[str]) -> str:
    assert call_id in calls
    return call_id


def _calls_and_results(path: Path) -> tuple[list[str], list[str]]:
    """Ids of calls and of results, read plainly and not with the package's readers; a result has its call before it."""
    calls: list[str] = []
    results: list[str] = []
    for record in _records(path):
        for block in _blocks(record):
            if block["type"] == "tool_use":
                calls.append(block["id"])
            elif block["type"] == "tool_result":
                results.append(_known(block["tool_use_id"], calls))
        for message in record.get("messages", ()):
            calls += [call["id"] for call in message.get("tool_calls") or ()]
            results += [_known(message["tool_call_id"], calls)] if message["role"] == "tool" else []
        item = record.get("payload", record)
        if item.get("type") in ("function_call", "custom_tool_call"):
            calls.append(item["call_id"])
        elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
            results.append(_known(item["call_id"], calls))
    return calls, results


def _histories() -> list[str]:
    return [name for name in _files(SAMPLES) if name != "truth.json" and not name.endswith(".meta.json")]


@pytest.fixture(scope="module")
def truth() -> Any:
    return json.loads((SAMPLES / "truth.json").read_text(encoding="utf-8"))


def test_the_generator_makes_the_same_bytes_again(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "tools/make_samples.py"), str(tmp_path)], check=True, capture_output=True
    )
    made, kept = _files(tmp_path), _files(SAMPLES)
    assert sorted(made) == sorted(kept)
    assert [name for name in made if made[name].read_bytes() != kept[name].read_bytes()] == []


def test_they_stay_small() -> None:
    assert sum(path.stat().st_size for path in _files(SAMPLES).values()) < 1_500_000


def test_every_line_is_json_except_the_one_that_was_cut() -> None:
    broken = []
    for name in _histories():
        if name.endswith(".jsonl"):
            for number, line in enumerate((SAMPLES / name).read_text(encoding="utf-8").splitlines(), 1):
                try:
                    assert isinstance(json.loads(line), dict)
                except json.JSONDecodeError:
                    broken.append((name, number))
    assert len(broken) == 1


@each_case("name", _histories())
def test_every_result_has_its_call_before_it_and_comes_once(name: str) -> None:
    calls, results = _calls_and_results(SAMPLES / name)
    assert calls
    assert len(set(calls)) == len(calls)
    assert len(set(results)) == len(results)


def test_the_truth_covers_every_call_once(truth: dict[str, Any]) -> None:
    file_of = {(s["agent"], s["session"]): s["file"] for s in truth["sessions"]}
    planted = Counter((file_of[c["agent"], c["session"]], c["call_id"]) for c in truth["calls"])
    found = Counter((name, call) for name in _histories() for call in _calls_and_results(SAMPLES / name)[0])
    assert planted == found
    assert set(planted.values()) == {1}


def test_a_call_without_a_result_is_unclear(truth: dict[str, Any]) -> None:
    verdicts = {call["call_id"]: call["verdict"] for call in truth["calls"]}
    for name in _histories():
        calls, results = _calls_and_results(SAMPLES / name)
        assert {verdicts[call] for call in set(calls) - set(results)} <= {"unclear"}


def test_copies_have_an_original_with_the_same_truth(truth: dict[str, Any]) -> None:
    copies = [call for call in truth["calls"] if call["copy"]]
    originals = {call["call_id"]: call for call in truth["calls"] if not call["copy"]}
    assert copies
    assert len(originals) + len(copies) == len(truth["calls"])
    for copy in copies:
        original = originals[copy["call_id"]]
        assert copy | {"session": "", "copy": False} == original | {"session": ""}


def test_what_a_call_repairs_had_failed_in_the_same_way(truth: dict[str, Any]) -> None:
    calls = {(call["session"], call["call_id"]): call for call in truth["calls"]}
    repairs = [call for call in truth["calls"] if call["repairs"]]
    assert len(repairs) > 30
    for call in repairs:
        broken = calls[call["session"], call["repairs"]]
        assert (broken["verdict"], broken["pattern"], call["verdict"]) == ("failed", call["pattern"], "ok")


def test_every_kind_of_fault_and_verdict_was_planted(truth: dict[str, Any]) -> None:
    assert {call["verdict"] for call in truth["calls"]} == {"ok", "failed", "unclear"}
    faults = {"call", "environment", "user_declined", "sibling_cancelled", "interrupted", "none"}
    assert {call["fault"] for call in truth["calls"]} == faults


def test_usage_is_repeated_on_each_line_of_a_message() -> None:
    usages: dict[str, set[str]] = {}
    lines: Counter[str] = Counter()
    for name in _histories():
        if not name.startswith("claude_code/"):
            continue
        for record in _records(SAMPLES / name):
            if record.get("type") == "assistant":
                message = record["message"]
                usages.setdefault(message["id"], set()).add(json.dumps(message["usage"]))
                lines[message["id"]] += 1
    assert max(lines.values()) > 1
    assert {len(found) for found in usages.values()} == {1}


def test_a_fork_of_codex_points_behind_the_last_line_of_its_parent() -> None:
    metas = {}
    for name in _histories():
        if name.startswith("codex/"):
            first = next(_records(SAMPLES / name))
            metas[first.get("payload", first)["id"]] = (name, first)
    bases = [
        first["payload"]["history_base"] for _, first in metas.values() if "history_base" in first.get("payload", {})
    ]
    assert len(bases) == 1
    parent = SAMPLES / metas[bases[0]["thread_id"]][0]
    assert bases[0]["end_byte_offset"] == parent.stat().st_size
    assert bases[0]["end_ordinal_exclusive"] == sum(1 for _ in _records(parent))
