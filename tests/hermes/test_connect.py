"""`seasoned connect hermes`: the plugin is enabled in Hermes' own settings, and every other byte stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import load
from seasoned.connect.hermes import plan, remove_ours, with_plugin
from seasoned.errors import CannotDo
from tests.connect.connecting import connect, connect_json
from tests.connect.test_json_text import is_kept

PATH = Path("config.yaml")
WRITTEN = {
    "nothing": ("", "plugins:\n  enabled:\n    - seasoned\n"),
    "comments only": ("# mine\n", "# mine\nplugins:\n  enabled:\n    - seasoned\n"),
    "no end of line": ("model:   x # fast", "model:   x # fast\nplugins:\n  enabled:\n    - seasoned\n"),
    "other line ends": ("model: x\r\n", "model: x\r\nplugins:\r\n  enabled:\r\n    - seasoned\r\n"),
    "empty section": ("plugins: # none\na: 1\n", "plugins: # none\n  enabled:\n    - seasoned\na: 1\n"),
    "no list": (
        "plugins:\n   # which\n   disabled: [x]\n",
        "plugins:\n   enabled:\n     - seasoned\n   # which\n   disabled: [x]\n",
    ),
    "empty list": ("plugins:\n  enabled: []  # all off\n", "plugins:\n  enabled: [seasoned]  # all off\n"),
    "no value": ("plugins:\n  enabled:   # later\n", "plugins:\n  enabled:   # later\n    - seasoned\n"),
    "list in a line": ("plugins:\n  enabled: [ a,  b ]\n", "plugins:\n  enabled: [ a,  b, seasoned ]\n"),
    "list in lines": (
        "plugins:\n  enabled:\n  - a  # first\n\n  - 'b' # second\n# end\nz: |\n  text\n",
        "plugins:\n  enabled:\n  - a  # first\n\n  - 'b' # second\n  - seasoned\n# end\nz: |\n  text\n",
    ),
}
REFUSED = {
    "no YAML": ("a: [1\n", "is not valid YAML"),
    "a list": ("- a\n", "is not a mapping"),
    "in braces": ("{model: x}\n", "is not valid YAML"),
    "a section in a line": ("plugins: {enabled: [a]}\n", "run `hermes plugins enable"),
    "a word for a list": ("plugins:\n  enabled: all\n", "run `hermes plugins enable"),
    "a word for the section": ("plugins: all\n", "run `hermes plugins enable"),
    "disabled by a person": ("plugins:\n  disabled: [seasoned]\n", "run `hermes plugins enable"),
    "two documents": ("a: 1\n---\nb: 2\n", "is not valid YAML"),
    "a list that stands elsewhere": ("other: &x [a]\nplugins:\n  enabled: *x\n", "run `hermes plugins enable"),
}


@pytest.mark.parametrize(("before", "after"), WRITTEN.values(), ids=WRITTEN)
def test_the_plugin_is_enabled_and_nothing_else_changes(before: str, after: str) -> None:
    assert with_plugin(before.encode(), PATH).decode() == after
    assert with_plugin(after.encode(), PATH).decode() == after, "a second time changes nothing"


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_settings_that_cannot_be_understood_are_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(CannotDo, match=f"(?i){why}"):
        with_plugin(text.encode(), PATH)
    with pytest.raises(CannotDo, match="UTF-8"):
        with_plugin(b"a: \xff\n", PATH)


PIECES = st.sampled_from(
    [
        "# a comment\n",
        "\n",
        "model:   scripted   # fast\n",
        "agent:\n    max_turns: 90\n    personalities: {kind: 'be kind'}\n",
        "notes: |\n  plugins:\n    enabled: [not this]\n",
        "quoted: \"a # b: 'c'\"\n",
        "list:\n- one\n-   two\n",
    ]
)
SECTIONS = st.sampled_from(
    [before for before, _ in WRITTEN.values() if before.startswith("plugins") and "\r" not in before]
)


@given(st.lists(PIECES, unique=True), SECTIONS, st.lists(PIECES, unique=True), st.booleans())
def test_what_was_there_stays_in_its_order_whatever_is_around_it(
    above: list[str], section: str, below: list[str], is_cut: bool
) -> None:
    text = "".join([*above, section, *[one for one in below if one not in above]])
    before = text.rstrip("\n") if is_cut else text
    after = with_plugin(before.encode(), PATH).decode()
    assert yaml.safe_load(after)["plugins"]["enabled"][-1] == "seasoned"
    assert is_kept(before, after)
    assert with_plugin(after.encode(), PATH).decode() == after
    gone = remove_ours(PATH, after.encode(), None)
    assert gone is not None
    assert "seasoned" not in str(yaml.safe_load(gone).get("plugins"))


@pytest.fixture
def hermes(home: Path) -> Path:
    made = home / ".hermes"
    made.mkdir()
    return made


def test_connecting_shows_its_change_keeps_it_and_takes_it_back(hermes: Path) -> None:
    file = hermes / "config.yaml"
    written = b"# my Hermes\nmodel:\n    default:   x   # fast\nplugins:\n  enabled: [ disk-cleanup ]\n"
    file.write_bytes(written)
    looked = connect("hermes", "--dry-run")
    assert "+  enabled: [ disk-cleanup, seasoned ]" in looked.stdout
    assert file.read_bytes() == written
    assert connect_json("hermes", "--yes")["state"] == "connected"
    assert file.read_bytes() == written.replace(b"cleanup ]", b"cleanup, seasoned ]")
    assert connect_json("hermes", "--yes")["state"] == "unchanged"
    assert connect_json("hermes", "--undo", "--yes")["state"] == "undone"
    assert file.read_bytes() == written


def test_where_there_is_no_hermes_nothing_is_made(home: Path) -> None:
    with pytest.raises(CannotDo, match="Hermes was not found"):
        plan(load(), programs=Path("/"))
    assert not (home / ".hermes").exists()


def test_it_says_what_only_a_person_can_do(hermes: Path) -> None:
    steps = " ".join(plan(load(), programs=Path("/")).steps)
    assert "pip install seasoned" in steps
    assert "SEASONED_HOME=" in steps
    assert "Restart Hermes" in steps
