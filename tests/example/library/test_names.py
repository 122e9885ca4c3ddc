"""Names of templates: whatever passes stays in its folder, on every system."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.example.example import MAX_NAME_CHARS, check_name, name_key
from tests.each_case import each_case

BAD = (
    *("", "../../x", "a..b", ".hidden", "-rf", "a\\b", "C:x", "a.", "a ", "a\x00b", "a\nb", "a\u202eb", "a\uff0fb"),
    *("\uff0e\uff0e", "x" * 65, "\U00020000" * 64, "a@1", "a\ud800"),
)


@each_case("name", BAD)
def test_a_bad_name_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(UsageError, match="use letters, digits") as caught:
        check_name(name)
    assert str(caught.value).count("\n") == 0 and len(str(caught.value)) < 250


@each_case("name", ["code", "code-2.1", "_draft", "Prüfung", "調査", "поиск", "x" * 64, "console", "com10"])
def test_a_good_name_passes(name: str) -> None:
    assert check_name(name) == name


def test_compatible_characters_become_one_name() -> None:
    assert check_name("ｃｏｄｅ") == check_name("code") == "code"
    assert check_name("u\u0308ber") == check_name("über")
    assert name_key("Straße") == name_key("STRASSE")


@given(
    st.text(max_size=80)
    | st.from_regex(r"[\w.\-]{1,70}", fullmatch=True)
    | st.text(alphabet="aA.-_/\\cC:oOnN\u00b9\u2024\uff0f0\u0130\u017f", max_size=9)
)
@example("\u0130x")
@example("ſ")
def test_whatever_passes_stays_in_its_folder(name: str) -> None:
    try:
        kept = check_name(name)
    except UsageError:
        return
    assert check_name(kept) == kept and 1 <= len(kept) <= MAX_NAME_CHARS
    for file in (kept, f"{kept}.json", f"{name_key(kept)}.json"):
        for path in (PurePosixPath("/srv/library"), PureWindowsPath("C:/library")):
            joined = path / file
            assert joined.parent == path and joined.name == file
        assert len(file.encode()) <= 255
        assert not file.startswith(("-", ".")) and file == file.strip()
    assert all(unicodedata.category(character)[0] != "C" for character in kept)
    assert Path(kept).name == kept
