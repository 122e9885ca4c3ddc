"""Applying and undoing advice: every file is afterwards as it was, byte for byte; and what became of it is counted."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest

from seasoned.app.advice import (
    AdviceView,
    Gathered,
    advice_view,
    apply_advice,
    dismiss_advice,
    find_advice,
    find_decided,
    gather,
    undo_advice,
)
from seasoned.config import Config
from seasoned.connect.apply import is_connected
from seasoned.connect.instruction_file import HEADING, StepPlace, plan_step, with_line, without_line
from seasoned.errors import CannotDo, NotFound
from seasoned.lesson.advice import (
    Advice,
    AdviceEvidence,
    AdviceStep,
    AppliedAdvice,
    applied_advice,
    follow_up,
    make_advice,
)
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Store
from tests.web.filled import fill_project, store_of

LINES = ("Run `make test` instead of `rtk make test`.", "Check with `make lint`.", "Quote words that begin with `=`.")
FILES = {
    "missing": None,
    "empty": b"",
    "plain": b"# Shop\n\nBuild with care.\n",
    "no newline at its end": b"# Shop\n\nBuild with care.",
    "blank lines at its end": b"# Shop\n\n\n",
    "other line ends": b"# Shop\r\n\r\nBuild with care.\r\n",
    "with the heading": f"# Shop\n\n{HEADING}\n\n- Mind the gap.\n\n## More\n\nText.\n".encode(),
}


@pytest.mark.parametrize("before", FILES.values(), ids=FILES.keys())
def test_lines_come_and_go_in_any_order(before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    for order in itertools.permutations(LINES):
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(before)
        for line in LINES:
            path.write_bytes(with_line(path, line))
            assert path.read_text("utf-8").count(HEADING) == 1
        for line in order:
            assert f"- {line}".encode() in path.read_bytes()
            path.write_bytes(without_line(path, path.read_bytes(), line) or b"")
        assert path.read_bytes() == (before or b"")


def config_of(home: Path) -> Config:
    homes = {name: home / name for name in ("claude_config_dir", "codex_home", "hermes_home", "gemini_home")}
    for folder in homes.values():
        folder.mkdir(exist_ok=True)
    return Config(home=home, **homes)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Config, Path]:
    """A project on this machine in which `rtk make test` fails until `rtk` is left out."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "CLAUDE.md").write_bytes(b"# Shop\n\nBuild with care.")
    (folder / "Makefile").write_text("test:\n\ttrue\nlint:\n\ttrue\n", "utf-8")
    home = tmp_path / "home"
    home.mkdir()
    fill_project(home, folder, sessions=6)
    return config_of(home), folder


def view_of(config: Config, store: Store) -> AdviceView:
    return advice_view(config, store, gather(store), Secrecy(load_key(config.home)).redactor())


def test_advice_is_applied_undone_and_given_again(shop: tuple[Config, Path]) -> None:
    config, folder = shop
    file = folder / "CLAUDE.md"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    redactor = Secrecy(load_key(config.home)).redactor()
    with store_of(config.home) as store:
        view = view_of(config, store)
        said = {one.advice.sentence: one for one in view.advice}
        repair = said["Run `make test` instead of `rtk make test`."]
        assert repair.advice.evidence.sessions == 6
        assert repair.can_apply
        assert repair.step == f"a line for {file}"
        apply_advice(config, store, repair.advice, redactor)
        assert file.read_bytes().endswith(f"{HEADING}\n\n- Run `make test` instead of `rtk make test`.".encode())
        other = advice(AdviceStep("instruction", "Mind the gap.", "claude-code"), str(folder))
        apply_advice(config, store, other, redactor)
        now = view_of(config, store)
        assert repair.advice.id not in {one.advice.id for one in now.advice}
        assert {one.advice.id for one in now.decided} == {repair.advice.id, other.id}
        assert [one.said[:17] for one in now.decided] == ["Too early to tell"] * 2
        # In the order in which it was done: the file is not as the first step left it any more.
        undo_advice(config, store, find_decided(store, repair.advice.id))
        undo_advice(config, store, find_decided(store, other.id))
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert repair.advice.id in {one.advice.id for one in view_of(config, store).advice}
        dismiss_advice(store, repair.advice)
        assert repair.advice.id not in {one.advice.id for one in view_of(config, store).advice}
        with pytest.raises(NotFound, match="seasoned advise"):
            find_advice(view, "999")


def test_an_instruction_that_sessions_contradict_is_corrected(shop: tuple[Config, Path]) -> None:
    config, folder = shop
    file = folder / "CLAUDE.md"
    before = b"# Shop\n\nTest with `rtk make test`, not with rtk make test it.\n\n```sh\nrtk make test\n```\n"
    file.write_bytes(before)
    with store_of(config.home) as store:
        found = {one.advice.sentence: one.advice for one in view_of(config, store).advice}
        correction = found["Say `make test` in CLAUDE.md instead of `rtk make test`, which fails."]
        assert "Run `make test` instead of `rtk make test`." not in found, "it is corrected where it stands"
        apply_advice(config, store, correction, Secrecy(load_key(config.home)).redactor())
        assert file.read_text("utf-8") == (
            "# Shop\n\nTest with `make test`, not with rtk make test it.\n\n```sh\nmake test\n```\n"
        )
        assert [one.follow_up and one.follow_up.before for one in view_of(config, store).decided] == [6]
        undo_advice(config, store, find_decided(store, None))
        assert file.read_bytes() == before


def test_a_connection_is_advised_and_undone(shop: tuple[Config, Path]) -> None:
    config, _ = shop
    redactor = Secrecy(load_key(config.home)).redactor()
    (config.claude_config_dir / "settings.json").write_bytes(b'{"model": "opus"}')
    with store_of(config.home) as store:
        first = view_of(config, store).advice[0]
        assert first.advice.sentence.startswith("Connect Claude Code:"), "it would save what the others save"
        apply_advice(config, store, first.advice, redactor)
        assert is_connected("claude-code", home=config.home)
        assert "connection" not in {one.advice.kind for one in view_of(config, store).advice}
        undo_advice(config, store, find_decided(store, None))
        assert (config.claude_config_dir / "settings.json").read_bytes() == b'{"model": "opus"}'
        assert not is_connected("claude-code", home=config.home)


def advice(step: AdviceStep, project: str | None = "example.org/team/shop") -> Advice:
    return make_advice("mistake", project, "x", "Do it.", AdviceEvidence(2, 3, 4), step, {})


MIND_GEMINI, MIND_CODEX = (AdviceStep("instruction", "Mind the gap.", agent) for agent in ("gemini", "codex"))


@pytest.mark.parametrize(
    ("step", "place", "file", "before", "after"),
    [
        (MIND_GEMINI, "project", "shop/GEMINI.md", None, f"{HEADING}\n\n- Mind the gap.\n"),
        (MIND_CODEX, "user", "codex_home/AGENTS.md", "Be brief.\n", f"Be brief.\n\n{HEADING}\n\n- Mind the gap.\n"),
    ],
    ids=["gemini", "user"],
)
def test_each_step_changes_one_file(
    step: AdviceStep, place: str, file: str, before: str | None, after: str, tmp_path: Path
) -> None:
    config = config_of(tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    path = tmp_path / file
    if before is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(before, "utf-8")
    where = StepPlace("example.org/team/shop", folder) if place == "project" else StepPlace()
    plan = plan_step(config, "x", step, where)
    (change,) = plan.changes
    assert change.path == path
    assert (change.after or b"").decode() == after
    assert change.before == (None if before is None else before.encode())


def test_a_step_without_its_project_says_what_to_do_by_hand(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match=r"not on this machine.*Mind the gap"):
        plan_step(config_of(tmp_path), "x", MIND_CODEX, StepPlace("example.org/a/b"))
    with pytest.raises(CannotDo, match="Only you"):
        plan_step(config_of(tmp_path), "x", AdviceStep("manual", "Log in."), StepPlace())


def done(at: float) -> AppliedAdvice:
    step = AdviceStep("manual", "x")
    return AppliedAdvice("a", "mistake", None, "Do it.", "x", step, "applied", at)


def test_before_and_after_are_compared_with_an_interval() -> None:
    among = {f"s{day}": float(day) for day in range(60)}
    happened = {f"s{day}": float(day) for day in range(30)}
    less = follow_up(done(30.5), among, happened)
    assert (less.before, less.before_sessions, less.after, less.after_sessions) == (30, 31, 0, 29)
    assert less.outcome == "less often"
    assert less.difference.interval is not None
    assert less.difference.interval.high < 0
    early = follow_up(done(57.5), among, happened)
    assert early.outcome == "too early to tell", "two sessions say nothing"
    assert early.sentence.startswith("Too early to tell: before in 30 of 58 sessions, since then in 0 of 2")
    assert follow_up(done(99.0), among, happened).outcome == "too early to tell"
    same = {root: at for root, at in among.items() if int(root[1:]) % 2}
    assert follow_up(done(30.5), among, same).outcome == "too early to tell", "the interval is too wide"
    many = {f"s{day}": float(day) for day in range(2000)}
    steady = {root: at for root, at in many.items() if not int(root[1:]) % 10}
    assert follow_up(done(1000.5), many, steady).outcome == "no clear change"
    worse = {root: at for root, at in many.items() if at > 1000}
    assert follow_up(done(1000.5), many, worse).outcome == "more often"


def test_what_was_decided_survives_and_is_forgotten_with_everything(shop: tuple[Config, Path]) -> None:
    config, _ = shop
    with store_of(config.home) as store:
        view = view_of(config, store)
        for one in view.advice[:2]:
            dismiss_advice(store, one.advice)
        assert {one.id for one in applied_advice(store)} == {one.advice.id for one in view.advice[:2]}
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(gather(store)), type=Gathered) == gather(store)
        from seasoned.store.forget import forget_everything

        forget_everything(store)
        assert applied_advice(store) == []
        assert gather(store).advice == ()
