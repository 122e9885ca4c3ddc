"""What a call changed is shown as a diff, whichever agent made it."""

from __future__ import annotations

from typing import Any

from seasoned.redact.redactor import Redactor
from seasoned.web.view.conversation import edits_of
from tests.web.hostile import SECRET

_PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-old\n+new\n*** Delete File: b.py\n*** End Patch"


def test_edits_of_every_agent_are_recognised_by_their_form() -> None:
    redactor = Redactor(b"key")
    old_and_new = [("stayed", "x"), ("went", "old"), ("came", "new")]
    before, after = "x\nold", "x\nnew"
    cases: list[tuple[dict[str, Any], list[tuple[str, list[tuple[str, str]]]]]] = [
        ({"file_path": "a", "old_string": before, "new_string": after}, [("a", old_and_new)]),
        ({"filePath": "a", "oldString": before, "newString": after}, [("a", old_and_new)]),
        ({"path": "a", "command": "str_replace", "old_str": before, "new_str": after}, [("a", old_and_new)]),
        ({"path": "a", "edits": [{"oldText": before, "newText": after}, "odd"]}, [("a", old_and_new)]),
        ({"file_path": "a", "content": "new"}, [("a", [("came", "new")])]),
        ({"input": _PATCH}, [("a.py", old_and_new), ("b.py (deleted)", [])]),
        ({"command": ["apply_patch", _PATCH]}, [("a.py", old_and_new), ("b.py (deleted)", [])]),
        ({"file_path": "a", "old_string": "", "new_string": f"key = {SECRET}"}, [("a", [("came", "")])]),
        # Not edits: a message has content but names no file, a search names a file but no new text.
        ({"content": "hello"}, []),
        ({"path": "a", "old_string": "x"}, []),
        ({"command": "ls", "edits": "none"}, []),
        ({"new_string": 3, "old_string": None}, []),
    ]
    for arguments, expected in cases:
        found = edits_of(arguments, redactor)
        assert [one.path for one in found] == [path for path, _ in expected], arguments
        if SECRET in str(arguments):
            assert SECRET not in str(found)
        else:
            assert [one.lines for one in found] == [lines for _, lines in expected], arguments


def test_a_long_edit_is_cut_and_says_so() -> None:
    text = "\n".join(map(str, range(3000)))
    (found,) = edits_of({"path": "a", "old_string": text, "new_string": text + "\nx"}, Redactor(b"key"))
    assert found.is_cut and not found.is_open and len(found.lines) == 400 and found.removed == 3000
