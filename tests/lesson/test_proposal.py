"""What lessons propose: one true line each, ranked by what the mistake costs."""

from __future__ import annotations

from seasoned.lesson.evidence import evidence_of
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.proposal import proposals_of, proposals_of_rules
from seasoned.lesson.rule import ProjectRule
from seasoned.outcome.track import Track
from tests.lesson.sessions import ran, session

SHOP = "example.org/team/shop"
NO_SCRIPT = 'npm error Missing script: "e2e"'


def known(*tracks: Track) -> ProjectLessons:
    found = ProjectLessons(SHOP)
    for track in tracks:
        found.add(evidence_of(track))
    return found


def sentences(lessons: ProjectLessons) -> list[str]:
    return [one.sentence for one in proposals_of(lessons, SHOP)]


WRONG = [session(day, ran("npm run e2e", NO_SCRIPT), ran("ls"), ran("pnpm e2e")) for day in range(3)]


def test_a_mistake_that_comes_back_gives_one_line_with_what_it_cost() -> None:
    (found,) = proposals_of(known(*WRONG), SHOP)
    assert (found.kind, found.sentence) == ("line", "Run `pnpm e2e` instead of `npm run e2e`.")
    assert (found.evidence.sessions, found.evidence.among, found.evidence.calls) == (3, 3, 3)


def test_what_sessions_do_is_a_line_and_what_everyone_knows_is_none() -> None:
    some = [session(day, ran("just check"), ran("npm test")) for day in range(3)]
    assert sentences(known(*some)) == ["Check with `just check`."]


def test_what_works_again_or_has_not_happened_for_long_is_not_proposed() -> None:
    other = [session(10 + day, ran("just lint")) for day in range(26)]
    assert "Run `pnpm e2e` instead of `npm run e2e`." not in sentences(known(*WRONG, *other))
    fails = [session(5 + day, ran("pnpm e2e", "ERR_PNPM_NO_SCRIPT  Missing script: e2e")) for day in range(2)]
    assert sentences(known(*WRONG, *fails)) == [], "it fails since"


def test_a_program_that_is_not_on_the_path_is_never_called_not_installed() -> None:
    missing = "bash: go: command not found"
    some = [session(day, ran("go build ./...", missing), ran("/usr/local/go/bin/go build ./...")) for day in range(3)]
    assert "Run `/usr/local/go/bin/go build ./...` instead of `go build`." in sentences(known(*some))
    never = [session(day, ran("hk install", "zsh:1: command not found: hk")) for day in range(3)]
    assert sentences(known(*never)) == []


def test_a_file_that_is_corrected_needs_no_line_too() -> None:
    assert "Run `pnpm e2e` instead of `npm run e2e`." not in [
        one.sentence for one in proposals_of(known(*WRONG), SHOP, corrected={"npm run e2e"})
    ]


def test_what_the_user_said_once_is_offered_as_a_rule() -> None:
    said = [ProjectRule(f"{n}", f"never squash {n}", SHOP, 1, 1, 9.0, "candidate" if n else "shown") for n in range(6)]
    found = list(proposals_of_rules(said, SHOP))
    assert [one.sentence for one in found] == [f"Tell sessions what you said: “never squash {n}”" for n in (1, 2, 3)]


def test_what_fails_now_and_then_is_not_replaced() -> None:
    cache = "open /home/mira/.cache/go-build/1: operation not permitted"
    some = [session(d, ran("go test ./...", cache), ran("mise exec -- go test ./...")) for d in range(3)]
    known = ProjectLessons("shop")
    for one in some:
        known.add(evidence_of(one))
    assert any("instead of `go test`" in one.sentence for one in proposals_of(known, "shop"))
    known.add(evidence_of(session(9, ran("go test ./..."))))
    assert not any("instead of `go test`" in one.sentence for one in proposals_of(known, "shop"))
