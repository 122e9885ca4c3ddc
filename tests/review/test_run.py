"""One review: what it keeps, what it is refused, what it says of itself, and what it leaves alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seasoned.begin.memory import project_folder
from seasoned.review import memory_file
from seasoned.review.due import ReviewSettings
from seasoned.review.journal import PERSON, changes
from seasoned.review.ledger import Review, spent_today
from seasoned.review.skill_edit import create
from seasoned.review.undo import accept
from tests.review.scripted import NOW, STEPS, context_at, ledger_of, notes_of, open_at, review_now, session_about
from tests.scripted_model import Answer, Call, ScriptedModel, Step, call


@dataclass
class Reviewing:
    """Reviews by a model that plays one script."""

    model: ScriptedModel
    home: Path

    def review(self, prompt: str, *, project: str | None = None, **more: Any) -> Review:
        """A review of a session of one turn."""
        context = context_at(self.home, project=project)
        return asyncio.run(review_now(self.model, session_about(prompt), context, **more))


def talk(tmp_path: Path, *steps: Step) -> Reviewing:
    return Reviewing(ScriptedModel(*steps), tmp_path / "home")


def test_memory_is_written_and_a_skill_created_patched_and_given_a_support_file(tmp_path: Path) -> None:
    one = talk(
        tmp_path,
        call("memory", action="add", target="user", text="Mira wants short answers."),
        [
            call(
                "skill_manage", action="create", name="mend-builds", description="Mend a broken build.", content=STEPS
            ),
            call("skills_list"),
        ],
        call(
            "skill_manage", action="patch", name="mend-builds", old_string="first error", new_string="first real error"
        ),
        call(
            "skill_manage", action="write_file", name="mend-builds", file="references/errors.md", content="# Errors\n"
        ),
        "Kept one preference and one skill.",
    )
    review = one.review("Mend the build, and be brief.")
    assert notes_of(one.home, "user") == ["Mira wants short answers."]
    assert "first real error" in (one.home / "skills/mend-builds/SKILL.md").read_text("utf-8")
    assert (one.home / "skills/mend-builds/references/errors.md").read_text("utf-8") == "# Errors\n"
    assert (review.state, review.kept, review.staged, review.requests, review.calls) == ("kept", 4, 0, 5, 5)
    assert review.said == "Kept: memory +1; skill `mend-builds` created, patched, `references/errors.md` written"
    assert review.answer == "Kept one preference and one skill."
    assert ledger_of(one.home) == [review]


def test_provenance_is_complete(tmp_path: Path) -> None:
    one = talk(
        tmp_path,
        Call("memory", {"action": "add", "text": "Tests run with make test."}, "call_of_review"),
        "Kept.",
    )
    review = one.review("Run the tests.")
    with open_at(one.home) as store:
        (change,) = changes(store)
    assert (change.actor, change.origin, change.platform, change.tool) == ("review", "review", "test", "memory")
    assert change.session == review.ref != "codex:s1"
    assert change.parent == review.session == "codex:s1"
    assert change.task == "Run the tests."
    assert change.call_id == "call_of_review"
    assert (review.context, review.form) == ("on demand", "digest")


def test_a_forbidden_tool_is_refused_with_a_message_and_the_run_goes_on(tmp_path: Path) -> None:
    one = talk(
        tmp_path,
        [call("terminal", command="touch made"), call("write_file", path="made.txt", content="x")],
        call("terminal", command="rm -rf ."),
        call("memory", action="add", text="The project uses make."),
        "Kept.",
    )
    review = one.review("Hello.")
    assert notes_of(one.home) == ["The project uses make."]
    assert (review.state, review.refused, review.kept) == ("kept", 3, 1)
    told = str(one.model.requests[1][-1])
    assert "terminal" in told and "skill_manage" in told, "it is told which tools there are"


def test_nothing_to_save_is_an_answer_that_the_ledger_knows(tmp_path: Path) -> None:
    one = talk(tmp_path, "Nothing to save.")
    review = one.review("Hello.", topic="memory")
    assert (review.state, review.topic, review.requests, review.said) == ("nothing", "memory", 1, "Nothing to save.")
    assert review.ended_at is not None


def test_a_review_that_raises_is_a_line_of_the_ledger_and_keeps_what_it_wrote(tmp_path: Path) -> None:
    one = talk(
        tmp_path,
        call("memory", action="add", text="Written before it broke."),
        RuntimeError("the wire burned, password=hunter2secret"),
    )
    review = one.review("Hello.")
    assert (review.state, review.kept) == ("failed", 1)
    assert review.said.startswith("Kept: memory +1. The review failed: ")
    assert "hunter2secret" not in review.said
    assert notes_of(one.home) == ["Written before it broke."]


def test_a_review_ends_after_its_iterations(tmp_path: Path) -> None:
    one = talk(tmp_path, *[call("skills_list") for _ in range(30)])
    review = one.review("Hello.")
    assert (review.state, review.requests, review.said) == ("steps", 16, "The review was stopped after 16 requests.")
    assert len(ledger_of(one.home)) == 1, "a review never starts another one"


def test_a_review_ends_after_its_time(tmp_path: Path) -> None:
    one = talk(tmp_path, Answer("Too late.", wait_seconds=30))
    review = one.review("Hello.", settings=ReviewSettings(seconds=0.2))
    assert (review.state, review.said) == ("time", "The review was stopped after 0.2 seconds.")


def test_a_reached_budget_means_no_request(tmp_path: Path) -> None:
    one = talk(tmp_path, "Nothing to save.")

    first = one.review("Hello.")
    second = one.review("Hello.", settings=ReviewSettings(tokens_per_day=10))
    assert first.state == "nothing" and len(one.model.requests) == 1
    assert (second.state, second.requests, second.input_tokens) == ("budget", 0, None)
    assert second.said.startswith("The review budget is used up: ")
    assert [review.state for review in ledger_of(one.home)] == ["budget", "nothing"]


def test_writes_wait_for_a_person_in_staging_mode(tmp_path: Path) -> None:
    one = talk(
        tmp_path,
        call("memory", action="add", text="Mira likes tables."),
        call("skill_manage", action="create", name="make-tables", description="Make tables.", content=STEPS),
        "Proposed.",
    )
    review = one.review("Make a table.", settings=ReviewSettings(staging=True))
    assert (review.state, review.kept, review.staged) == ("kept", 0, 2)
    assert review.said == ("Waiting for you (`seasoned review --staged`): memory +1; skill `make-tables` created")
    assert notes_of(one.home) == [] and not (one.home / "skills/make-tables").exists()
    with context_at(one.home).journal() as journal:
        for change in changes(journal.store, state="staged"):
            assert accept(journal, change.id).ok
    assert notes_of(one.home) == ["Mira likes tables."] and (one.home / "skills/make-tables/SKILL.md").exists()


def test_a_skill_that_a_person_wrote_is_left_alone_unless_that_is_allowed(tmp_path: Path) -> None:
    patch = call("skill_manage", action="patch", name="ours", old_string="Run the build", new_string="Run make")
    one = talk(tmp_path, patch, "Nothing.", patch, "Patched.")
    with context_at(one.home).journal() as journal:
        assert create(journal, "ours", STEPS, description="Written by hand.", by=PERSON).ok

    refused = one.review("Build it.")
    allowed = one.review("Build it.", settings=ReviewSettings(allow_person_skills=True))
    assert (refused.state, refused.kept) == ("nothing", 0)
    assert (allowed.state, allowed.said) == ("kept", "Kept: skill `ours` patched")


def test_the_review_sees_what_is_kept_now(tmp_path: Path) -> None:
    one = talk(tmp_path, "Nothing to save.")
    with context_at(one.home).journal() as journal:
        memory_file.add(journal, "user", "Mira is a baker.", by=PERSON)

    one.review("Hello.")
    asked = one.model.requests[-1][-1].parts[-1].content
    assert "Mira is a baker." in asked and "(none yet)" in asked


def test_tokens_are_accounted_for_as_those_of_a_review(tmp_path: Path) -> None:
    one = talk(tmp_path, call("skills_list"), "Nothing to save.")
    review = one.review("Hello.", clock=lambda: NOW)
    with open_at(one.home) as store:
        spent = spent_today(store, now=NOW)
    assert spent.requests == review.requests == 2
    assert spent.tokens == review.input_tokens + review.output_tokens > 0


def test_notes_and_skills_of_a_project_are_kept_there_and_those_about_the_person_everywhere(tmp_path: Path) -> None:
    key = "github.com/mira/depot"
    made = {"action": "create", "description": "How.", "content": STEPS}
    one = talk(
        tmp_path,
        [
            call("memory", action="add", text="The depot listens on 5433."),
            call("memory", action="add", target="user", text="Mira likes short answers."),
            call("skill_manage", name="depot-releases", **made),
            call("skill_manage", name="commit-messages", scope="everywhere", **made),
        ],
        [call("skills_list"), call("skill_view", name="depot-releases")],
        call("skill_manage", action="patch", name="depot-releases", old_string="first error", new_string="last error"),
        "Kept.",
    )
    review, home = one.review("Build it.", project=key), one.home
    assert (review.state, review.kept) == ("kept", 5)
    own = project_folder(home, key)
    assert "5433" in (own / "MEMORY.md").read_text() and not (home / "memory" / "MEMORY.md").exists()
    assert "short answers" in (home / "memory" / "USER.md").read_text()
    assert "last error" in (own / "skills" / "depot-releases" / "SKILL.md").read_text()
    assert (home / "skills" / "commit-messages" / "SKILL.md").exists()
    assert not (home / "skills" / "depot-releases").exists()
