"""A session leaves as one HTML file that is redacted, loads nothing and does nothing."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.run import seasoned
from tests.web import hostile
from tests.web.filled import store_of


def test_a_hostile_session_is_one_harmless_file(tmp_path: Path) -> None:
    home, to = tmp_path / "home", tmp_path / "session.html"
    home.mkdir()
    hostile.fill_hostile(home, tmp_path / "histories")
    seasoned("show", hostile.REF, "--html", to, SEASONED_HOME=str(home))
    page = to.read_text("utf-8")
    assert to.stat().st_mode & 0o777 == 0o600
    assert hostile.SECRET not in page and "default-src &#39;none&#39;" in page
    assert re.findall(r"<(?:script|img|svg|iframe|link|form|object)\b", page) == []
    assert set(re.findall(r'href="([^"]*)"', page)) <= {f"#call-{number}" for number in range(9)}
    assert "Thinking, " in page and 'id="call-3"' in page
    # A file of the user's own is never overwritten, an older export is.
    seasoned("show", hostile.REF, "-o", to, SEASONED_HOME=str(home))
    (mine := tmp_path / "mine.html").write_text("mine")
    assert (
        "is not a session of Seasoned"
        in seasoned("show", hostile.REF, "-o", mine, expect=2, SEASONED_HOME=str(home)).stderr
    )
    # Where the source is gone, the calls of the store are written.
    with store_of(home) as store:
        source = Path(store.rows("source.all")[0]["path"])
    source.unlink()
    seasoned("show", hostile.REF, "-o", to, SEASONED_HOME=str(home))
    assert "These are its calls from the store." in to.read_text("utf-8")
