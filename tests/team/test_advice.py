"""Advice for a team: the sentences of `seasoned advise`, from what was pushed, with one voice for each person."""

from __future__ import annotations

from pathlib import Path

from seasoned.advise.gather import gather
from seasoned.advise.view import may_be_told
from seasoned.app import team
from seasoned.app.stores import shared_database
from seasoned.app.team import TeamAdvice, team_advice
from seasoned.insight.mistake.failure import CAUSES, cause_of, error_line, is_finding, plain_error, subject_of_error
from seasoned.insight.track import JudgedCall
from seasoned.redact.key import Secrecy, new_key
from seasoned.redact.redactor import Redactor
from seasoned.store import open_store
from tests.confirm.serving import Serving
from tests.team.homes import SHOP, USUAL, Home, Step, team_server_at

# What errors say, with a thing that the agent wrote itself, and what follows from it.
SESSION: tuple[Step, ...] = (
    *USUAL,
    ("npm run chek", 'npm error Missing script: "chek"'),
    ("npm run check", None),
    ("pytest --fastest", "error: unrecognized arguments: --fastest"),
    ("hyperfine ./wp", "bash: hyperfine: command not found"),
    ("ls /home/alice-doe/*.tsx", "zsh: no matches found: /home/alice-doe/*.tsx"),
    ("make test", None),
)


def _advice(server: Serving) -> list[TeamAdvice]:
    with shared_database(server.config) as database:
        return team_advice(database, _redactor())


def _redactor() -> Redactor:
    return Secrecy(new_key()).redactor()


def test_what_one_store_advises_a_team_is_advised_from_what_was_pushed(tmp_path: Path, postgres_url: str) -> None:
    homes = [Home(tmp_path / name, SHOP) for name in "abc"]
    with team_server_at(tmp_path, postgres_url) as server:
        for at, home in enumerate(homes):
            # Each with words of its own: copies of a session are one.
            for part in ("harbour", "mill", "bridge"):
                home.session(*SESSION, prompt=f"Go on with the {part}.")
            home.scan()
            home.join(server, f"person-{at}")
            home.sync()
            # One person, however many sessions, advises no one.
            assert at or _advice(server) == []
        found = _advice(server)
        team.export(homes[0].config, tmp_path / "pushed.jsonl")
    pushed = (tmp_path / "pushed.jsonl").read_text()
    # Why a call failed is said in words of ours, and about nothing that is not in the shared arguments too.
    assert '"command not found: hyperfine"' in pushed and '"unexpected EOF"' in pushed
    assert "alice-doe" not in pushed and "Missing script" not in pushed
    with open_store(homes[0].config.store_path) as store:
        alone = {one.sentence for one in gather(store).advice if may_be_told(_redactor(), one)}
    assert {one.what for one in found} == alone and len(alone) >= 4
    assert {one.people for one in found} == {3} and all("3 people" in one.why for one in found)


def test_an_error_in_words_of_ours_has_the_same_cause_about_the_same_thing() -> None:
    # By cause: an error as programs write it, and the thing that it names.
    errors = {
        "missing program": ("zsh: command not found: terraform", "terraform"),
        "unknown option": ("error: unknown option: --fastest", "--fastest"),
        "unknown command": ("Unknown command: deplyo", "deplyo"),
        "blocked": ("Blocked: sleep followed by others", "sleep"),
        "quoting": ("zsh: no matches found: src/*.tsx", "src/*.tsx"),
        "folder": ("could not find package.json here", "package.json"),
    }
    assert {one.name for one in CAUSES} > set(errors)
    for cause in CAUSES:
        said, thing = errors.get(cause.name, ("", ""))
        for arguments in (f'{{"command": "x {thing}"}}', '{"command": "other"}'):
            call = _failed(arguments, said or _sample(cause.name))
            assert cause_of(call) == cause.name, said
            plain = _failed(arguments, plain_error(call))
            assert cause_of(plain) == cause.name, (cause.name, error_line(plain))
            is_own = bool(thing) and thing in arguments
            assert subject_of_error(cause.name, error_line(plain)) == (thing if is_own else None), cause.name
    # A secret in a result stays there; a failing test stays one.
    assert plain_error(_failed("{}", "panic at swordfish")) == ""
    assert is_finding(_failed("{}", plain_error(_failed("{}", "3 failed, 2 passed"))))


def _failed(arguments: str, reason: str) -> JudgedCall:
    return JudgedCall(0, 0, "Bash", "shell", "failed", "failed", "agent", raw_arguments=arguments, reason=reason)


def _sample(cause: str) -> str:
    """Words of an error without a thing in them."""
    return {
        "unread": "File has not been read yet. Read it first",
        "stale": "File has been modified since read, either by the user",
        "no match": "String to replace not found in file",
        "several matches": "Found 3 matches of the string",
        "bad patch": "apply_patch: invalid hunk at line 2",
        "too large": "File content exceeds maximum allowed tokens",
        "directory": "EISDIR: illegal operation on a directory",
        "no tool": "No such tool available",
        "service": "dial tcp: connection refused",
        "equals": "zsh: == not found",
        "here document": "zsh: can't create temp file for here document: operation not permitted",
        "unsaved": "error: cannot pull with rebase: You have unstaged changes",
        "dependencies": "ERR_PNPM_OUTDATED_LOCKFILE Cannot install",
        "module": "ModuleNotFoundError: No module named 'yaml'",
        "login": "gh: not logged in to any hosts",
        "access": "fatal: Could not read from remote repository",
        "permission": "mkdir: Permission denied",
        "time": "Command timed out after 2m",
        "network": "curl: (6) Could not resolve host: example.org",
        "conflict": "CONFLICT (content): Merge conflict in a.txt",
        "no pull request": "no pull requests found for branch",
        "missing file": "cat: a.txt: No such file or directory",
        "argument": "error: missing required argument",
        "no test": "No tests found, exiting",
        "remote": "npm error code E404",
    }[cause]
