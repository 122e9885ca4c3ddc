"""The commands as a user meets them: real processes on the sample histories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.run import answer, process, seasoned
from tests.history.hermes_rows import HermesDb


def test_up_without_histories_shows_the_samples_and_keeps_nothing(home: Path) -> None:
    out = seasoned("up").stdout
    assert "samples that come with Seasoned" in out
    assert "claude-code" in out and "error rate" in out
    assert not (home / ".seasoned").exists()


def test_scan_twice_reads_once(samples: Path) -> None:
    first, second = answer("scan", samples), answer("scan", samples)
    assert first["read"] > 20 and first["store"]["calls"] == first["calls"] - 30
    assert (second["read"], second["calls"], second["store"]) == (0, 0, first["store"])


def test_sessions_can_be_narrowed(samples: Path) -> None:
    everything = answer("sessions", samples, "--limit", 500)["sessions"]
    long = answer("sessions", samples, "--min-messages", 100)["sessions"]
    assert len(everything) == 41 and 0 < len(long) < 5
    assert all(session["message_count"] >= 100 for session in long)
    codex = answer("sessions", samples, "--source", "codex")["sessions"]
    assert {session["agent"] for session in codex} == {"codex"}
    assert "No sessions match" in seasoned("sessions", samples, "--source", "nobody").stdout


def test_show_tells_what_was_said_and_why_each_call_is_judged_so(samples: Path) -> None:
    seasoned("scan", samples)
    longest = max(answer("sessions", "--limit", 500)["sessions"], key=lambda s: s["message_count"])
    out = seasoned("show", longest["session_id"]).stdout
    assert "context compacted" in out
    assert "failed" in out and "ok" in out
    shown = answer("show", longest["session_id"])
    assert shown["schema"] == "seasoned/session/1"
    assert {call["verdict"] for call in shown["calls"]} >= {"ok", "failed"}


def test_show_after_the_file_is_gone_says_so(tmp_path: Path, samples: Path) -> None:
    shutil.copytree(samples / "codex", tmp_path / "codex")
    seasoned("scan", tmp_path / "codex")
    shutil.rmtree(tmp_path / "codex")
    session = answer("sessions")["sessions"][0]["session_id"]
    assert "is gone" in seasoned("show", session).stdout


def test_judge_prints_a_line_for_every_call(samples: Path) -> None:
    lines = [json.loads(line) for line in seasoned("judge", samples / "codex").stdout.splitlines()]
    assert len(lines) == 86
    assert " ".join(lines[0]) == "schema session agent call tool verdict evidence fault reason judge"
    blind = [json.loads(line) for line in seasoned("judge", samples / "codex", "--blind").stdout.splitlines()]
    assert {line["evidence"] for line in blind}.isdisjoint({"flag", "exit_code"})
    assert blind[0]["judge"] == f"{lines[0]['judge']}-blind"


def test_agreement_is_complete_where_flags_are_seen(samples: Path) -> None:
    found = answer("agreement", samples)
    assert found["with_flags"]["n"] == found["with_flags"]["agreeing"] > 200
    assert found["blind"]["pooled"]["f1"] > 0.8
    assert "poison" in seasoned("agreement", samples / "hermes").stdout


def test_what_is_forgotten_stays_forgotten_until_it_is_undone(tmp_path: Path, samples: Path) -> None:
    file = next(path for path in sorted((samples / "codex").rglob("*.jsonl")) if path.stat().st_size > 20_000)
    lines = file.read_bytes().splitlines(keepends=True)
    grown = tmp_path / "in" / "rollout.jsonl"
    grown.parent.mkdir()
    grown.write_bytes(b"".join(lines[:-10]))
    seasoned("scan", grown.parent)
    (session,) = answer("sessions")["sessions"]
    seasoned("forget", session["session_id"], "--yes")
    grown.write_bytes(b"".join(lines))
    seasoned("scan", grown.parent)
    assert answer("sessions")["sessions"] == []
    seasoned("forget", session["session_id"], "--undo")
    seasoned("scan", grown.parent)
    (again,) = answer("sessions")["sessions"]
    assert again["tool_call_count"] >= session["tool_call_count"]
    seasoned("forget", "nothing-like-this", "--undo", expect=1)


def test_export_backup_and_restore(tmp_path: Path, samples: Path) -> None:
    seasoned("scan", samples / "hermes")
    seasoned("export", "-o", tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert {line["table"] for line in lines} == {"source", "session", "call"}
    assert all(line["schema"] == "seasoned/export/1" for line in lines)
    seasoned("export", "-o", tmp_path / "all.jsonl", expect=3)
    (first, *_) = answer("sessions")["sessions"]
    made = json.loads(seasoned("export", first["session_id"], "--format", "atif").stdout)
    assert (made["schema_version"], made["session_id"]) == ("ATIF-v1.8", first["session_id"])
    assert len(seasoned("export", samples / "hermes", "--format", "otel").stdout.splitlines()) == 6
    assert len(seasoned("export", "--format", "jsonl").stdout.splitlines()) == 6
    seasoned("export", first["session_id"], expect=2)
    seasoned("backup", tmp_path / "copy.db")
    seasoned("forget", "--all", "--yes")
    seasoned("restore", tmp_path / "copy.db", "--yes")
    assert len(answer("sessions")["sessions"]) == 6


def test_doctor_and_config_say_how_things_stand(samples: Path, home: Path) -> None:
    assert answer("doctor")["ok"] is True
    seasoned("scan", samples)
    findings = {check["name"]: check["finding"] for check in answer("doctor")["checks"]}
    assert "41 sessions" in findings["store"]
    assert "line" in findings["unreadable"]
    (home / ".seasoned" / "seasoned.db").chmod(0o644)
    assert "chmod 600" in seasoned("doctor", expect=1).stdout
    (home / ".seasoned" / "config.toml").write_text('redact = ["Waypost"]\nworkers = 1\n')
    settings = answer("config")["settings"]
    assert settings["workers"] == {"value": 1, "from": str(home / ".seasoned" / "config.toml")}
    assert "Waypost" not in json.dumps(settings)


def test_a_question_about_nothing_mined_is_one_sentence_also_at_its_end() -> None:
    assert process("query", "SELECT 1", expect=1).stderr.count("\n") == 1


def test_redact_prints_a_text_that_can_be_shared(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("export GITHUB_TOKEN=ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j\nall is well\n")
    out = seasoned("redact", file).stdout
    assert "ghp_" not in out and "[redacted:" in out and "all is well" in out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["scan", "{tmp}/absent"], 1, "does not exist"),
        (["scan", "{tmp}/empty"], 1, "holds no histories"),
        (["scan", "{tmp}/locked.db"], 3, "locked by another program"),
        (["scan", "{tmp}/corrupt.db"], 3, "damaged"),
        (["scan", "{tmp}/notes.json"], 3, "not a history that Seasoned can read"),
        (["judge", "{tmp}/absent"], 1, "does not exist"),
        (["scan"], 1, "No histories found"),
        (["show", "nobody", "{tmp}/absent"], 1, "does not exist"),
        (["restore", "{tmp}/absent", "-y"], 1, "does not exist"),
        (["scna"], 2, "Did you mean 'scan'?"),
        (["redact", "{tmp}/absent"], 1, "does not exist"),
    ],
)
def test_wrong_input_gets_one_clear_sentence(
    arguments: list[str], code: int, sentence: str, tmp_path: Path, home: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.json").write_text('{"hello": "world"}')
    good = HermesDb(tmp_path / "locked.db").session("s1").says("s1", "user", "hi")
    (tmp_path / "corrupt.db").write_bytes(good.path.read_bytes()[:4096] + b"\x13" * 8192)
    good.db.execute("BEGIN EXCLUSIVE")
    done = seasoned(*[argument.replace("{tmp}", str(tmp_path)) for argument in arguments], expect=code)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (home / ".seasoned" / "seasoned.db").exists()


def test_a_bad_configuration_is_named(home: Path) -> None:
    (home / ".seasoned").mkdir()
    for text, sentence in (
        ("wrokers = 1", "unknown setting 'wrokers'"),
        ("workers = 0", "workers is not valid: expected `int` >= 1"),
        ("a = [", "Fix it"),
    ):
        (home / ".seasoned" / "config.toml").write_text(text)
        assert sentence in seasoned("doctor", expect=2).stderr


def test_the_log_says_what_was_left_out_without_secrets(tmp_path: Path, home: Path, samples: Path) -> None:
    token = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"
    folder = tmp_path / token
    folder.mkdir()
    source = next((samples / "codex").rglob("*.jsonl"))
    (folder / "a.jsonl").write_bytes(source.read_bytes() + b'{"type": "response_item", "payload": {"cut\n')
    done = seasoned("scan", folder)
    log = (home / ".seasoned" / "logs" / "seasoned.log").read_text()
    assert "unreadable" in log and "line" in log
    assert token not in log and token not in done.stderr


def test_one_locked_history_of_the_user_does_not_hide_the_others(home: Path, samples: Path) -> None:
    shutil.copytree(samples / "claude_code" / "projects", home / ".claude" / "projects")
    (home / ".hermes").mkdir()
    locked = HermesDb(home / ".hermes" / "state.db").session("s1").says("s1", "user", "hi")
    locked.db.execute("BEGIN EXCLUSIVE")
    done = seasoned("scan")
    assert "14 sessions" in done.stdout
    assert "locked by another program" in done.stderr
    assert "claude-code" in seasoned("up").stdout
