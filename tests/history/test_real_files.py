"""Real files of the smaller formats, where they lie beside the checkout: known by the right reader, and read whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.history.formats import ORDER, named, take_sample

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDERS = {
    "gemini": "gemini",
    "hermes/Sinity-polylogue": "hermes_file",
    "inspect": "inspect_log",
    "mini-swe-agent": "mini_swe_agent",
    "swe-agent": "swe_agent",
    "tau-bench": "tau_bench",
}
WITHOUT_CALLS = ("29eb990e", "no-samples", "popularity", "security-guide", "mmlu", "log_formats", "read_sample")
ALSO_WITHOUT = ("log_streaming", "test_list_logs")
FILES = [
    (folder, path)
    for folder in FOLDERS
    for path in sorted((DATA / folder).rglob("*"))
    if path.suffix and path.is_file()
]

pytestmark = pytest.mark.skipif(
    not FILES, reason=f"no real files beside the checkout at {DATA.parent.name}/{DATA.name}"
)


@pytest.mark.parametrize(("folder", "path"), FILES, ids=[path.name[-60:] for _, path in FILES])
def test_a_real_file_is_known_and_read(folder: str, path: Path) -> None:
    reader = named("atif" if "_atif_" in path.name else FOLDERS[folder])
    sample = take_sample(path)
    assert next((other.NAME for other in map(named, ORDER) if other.recognises(sample)), None) == reader.NAME
    sessions = list(reader.read(path))
    calls = [call for session in sessions for call in session.calls()]
    assert [lost for session in sessions for lost in session.unreadable] == []
    assert len({session.ref for session in sessions}) == len(sessions)
    assert len({(call.id, session.ref) for session in sessions for call in session.calls()}) == len(calls)
    if not any(word in path.name for word in WITHOUT_CALLS + ALSO_WITHOUT):
        assert calls
        # Almost every call of a finished run was answered.
        assert sum([call.result is not None for call in calls]) >= 0.95 * len(calls)
