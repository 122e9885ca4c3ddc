"""Trajectories in ATIF, in and out: what is exported is valid, and reads back with the same verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec
from atif import Trajectory
from opentelemetry.proto_json.collector.trace.v1.trace_service import ExportTraceServiceRequest

from seasoned.app.messages import redacted
from seasoned.history.formats import named, recognise
from seasoned.history.read import read as read_path
from seasoned.history.writer import CONVENTIONS, Verdicts, conversation, trace, trajectory
from seasoned.outcome.judge import judge_session
from seasoned.redact.redactor import Redactor
from seasoned.session import Result, Session, SessionRef, ToolCall, Usage
from tests.each_case import each_case
from tests.history.small_formats import ATIF, FIXTURES, document, read

SAMPLES = Path(__file__).parents[2] / "src" / "seasoned" / "samples"
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
# Agents of many kinds: with flags, exit codes, JSON in results, refusals, interruptions, wording alone.
AGENTS = ("hermes", "opencode", "pi", "gemini", "qwen", "copilot", "cline", "openhands", "swe-agent", "managed")


def judged(session: Session) -> Verdicts:
    return {call.id: (verdict.verdict, verdict.reason) for call, verdict in judge_session(session)}


def exported(session: Session, write, path: Path) -> Session:
    path.write_bytes(msgspec.json.encode(write(redacted(session, Redactor(b"key")), judged(session))) + b"\n")
    (back,) = named(str(recognise(path))).read(path)
    return back


@each_case("name", AGENTS)
def test_what_is_exported_is_valid_and_reads_back_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    for session in read(tmp_path, name):
        path = tmp_path / "exported.json"
        back = exported(session, trajectory, path)
        Trajectory.model_validate_json(path.read_bytes())
        assert judged(back) == judged(session)
        for fact in (
            "ref",
            "cwd",
            "branch",
            "model",
            "parent",
            "relation",
            "usage",
            "cost_usd",
            "end_reason",
            "succeeded",
        ):
            assert getattr(back, fact) == getattr(session, fact), fact
        assert (back.unreadable, len(back.compactions)) == ((), len(session.compactions))
        own = [message.text for message in session.messages if message.role != "tool"]
        assert [message.text for message in back.messages if message.role != "tool"] == own


def test_sessions_of_three_agents_are_valid_trajectories_and_spans(tmp_path: Path) -> None:
    sessions = [next(read_path(SAMPLES / agent)) for agent in ("claude_code", "codex", "hermes")]
    assert len({session.ref.agent for session in sessions}) == 3
    for session in sessions:
        Trajectory.model_validate(trajectory(session, judged(session)), strict=False)
        assert judged(exported(session, trajectory, tmp_path / "a.json")) == judged(session)
        request = ExportTraceServiceRequest.from_json(msgspec.json.encode(trace(session, judged(session))))
        ((scope,),) = [batch.scope_spans for batch in request.resource_spans]
        root, *spans = scope.spans
        assert scope.schema_url == CONVENTIONS
        assert len(root.trace_id) == 16
        assert {span.parent_span_id for span in spans} == {root.span_id}
        assert len({span.span_id for span in spans}) == len(spans) == len(judged(session))
        failed = [span for span in spans if any(one.key == "error.type" for one in span.attributes)]
        assert len(failed) == sum(verdict == "failed" for verdict, _ in judged(session).values())
        assert all(span.status is not None and span.status.code == 2 for span in failed)
        back = exported(session, trace, tmp_path / "spans.json")
        assert back.ref.native_id == session.ref.native_id
        assert len(judged(back)) == len(judged(session))


def test_messages_for_training_keep_calls_results_and_outcomes(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "opencode")
    path = tmp_path / "chat.jsonl"
    back = exported(session, conversation, path)
    assert [(call.id, call.tool, call.arguments) for call in back.calls()] == [
        (call.id, call.tool, call.arguments) for call in session.calls()
    ]
    assert msgspec.json.decode(path.read_bytes())["outcomes"]["c2"] == "failed"


def test_nothing_that_is_exported_holds_a_secret(tmp_path: Path) -> None:
    data = FIXTURES["opencode"][2].replace(b"1 failed", b"1 failed " + SECRET.encode())
    (session,) = read(tmp_path, "opencode", data.replace(b"I run the tests.", b"token: " + SECRET.encode()))
    for write in (trajectory, trace, conversation):
        assert SECRET in str(write(session, {}))
        assert SECRET not in str(write(redacted(session, Redactor(b"key")), {}))


def test_calls_that_share_an_id_within_one_step_are_two(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "atif")
    moment = 1767261602.0
    assert session.ref == SessionRef("hermes", "atif-1")
    assert list(session.calls()) == [
        ToolCall("<id>", "process", {"n": 1}, Result("one", time=moment), 0, 1, moment, 1),
        ToolCall("<id>#2", "process", {"n": 1}, Result("two", time=moment), 1, 1, moment, 1),
    ]
    assert session.usage == Usage(input=20, output=7, cache_read=80)


def test_embedded_trajectories_are_sub_agents_and_name_their_agent(tmp_path: Path) -> None:
    step = {"step_id": 1, "source": "system", "message": "", "observation": {"results": [{"content": "restarted"}]}}
    inner = {**ATIF, "trajectory_id": "t2", "agent": {"name": "Terminus-2", "version": "2"}, "steps": [step]}
    outer = {**ATIF, "schema_version": "ATIF-v1.8", "subagent_trajectories": [inner]}
    Trajectory.model_validate(outer)
    first, second = read(tmp_path, "atif", document(outer))
    assert (second.ref, second.parent, second.relation) == (SessionRef("terminus-2", "t2"), first.ref, "subagent")
    assert [message.text for message in second.messages] == ["", "restarted"]
