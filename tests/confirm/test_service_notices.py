"""The service tells people and hears them: notifications go out beside it, and what comes in wakes those who wait."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from seasoned.confirm.policy import Channel, Policy
from tests.confirm.other_side import OtherSide
from tests.confirm.serving import serving


def _policy(folder: Path, url: str) -> Policy:
    (folder / "secret").write_text("a secret of thirty-two characters", "utf-8")
    hook = Channel(kind="webhook", to=url, token_file=folder / "secret", people={"p1": "alice"})
    return Policy(channel={"hook": hook})


def _wait_for(other: OtherSide, count: int) -> None:
    ends = time.monotonic() + 60
    while len(other.heard) < count:
        assert time.monotonic() < ends, f"{len(other.heard)} of {count} were heard"
        time.sleep(0.02)


def test_a_submission_and_its_decision_are_told_by_webhook(tmp_path: Path) -> None:
    other = OtherSide()
    with serving(tmp_path / "home", policy=_policy(tmp_path, f"{other.url}/in")) as found:
        made = found.ask()
        _wait_for(other, 1)
        found.decide(made["id"], "deny")
        _wait_for(other, 2)
    told = [heard.value for heard in other.heard]
    assert [one["type"] for one in told] == ["confirm.submitted", "confirm.decided"]
    assert {one["data"]["id"] for one in told} == {made["id"]}
    other.close()


def test_admins_see_in_health_what_has_not_arrived(tmp_path: Path) -> None:
    with serving(tmp_path / "home", policy=_policy(tmp_path, "http://127.0.0.1:9/nobody")) as found:
        made = found.ask()
        with found.client("root") as admin, found.client("alice") as approver:
            ends = time.monotonic() + 60
            # An attempt is counted when it begins; its error is known when it ends.
            while not (unsent := admin.get("/health").json()["unsent"])[0]["last_error"]:
                assert time.monotonic() < ends
                time.sleep(0.02)
            assert "unsent" not in approver.get("/health").json()
    (left,) = unsent
    assert (left["request_id"], left["channel"], left["event"]) == (made["id"], "hook", "submitted")
    assert left["attempts"] == 1


def test_a_log_that_cannot_be_written_covers_nothing_with_tracebacks(tmp_path: Path) -> None:
    """A process that may not write a byte meets the same error as on a full disk."""
    code = f"""
import resource
from pathlib import Path
from seasoned.app.stores import open_log
from seasoned.config import Config
from seasoned.redact.key import Secrecy
log = open_log(Config(home=Path({str(tmp_path / "home")!r})), Secrecy(b"k" * 32))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
log.warning("nowhere to write this")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""
