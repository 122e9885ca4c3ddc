"""What a model will see, in files that a person can read. `python -m tests.example.render.test_golden` writes them."""

from __future__ import annotations

import json
from pathlib import Path

from seasoned.example.block import FORMATS, FORMS, Form, Format
from seasoned.example.render import Rendered, render
from tests.each_case import each_case
from tests.example.blocks import SMALL

FOLDER = Path(__file__).parent / "golden"


def _readable(rendered: Rendered) -> str:
    if rendered.format == "text":
        return rendered.content.decode()
    return json.dumps(json.loads(rendered.content), ensure_ascii=False, indent=2) + "\n"


def _place(format: Format, form: Form) -> Path:
    suffix = "txt" if format == "text" else "json"
    return FOLDER / f"{format}-{form}.{suffix}"


@each_case("format", FORMATS)
def test_a_small_block_looks_as_it_did(format: Format) -> None:
    for form in FORMS:
        assert _readable(render(SMALL, format, form)) == _place(format, form).read_text("utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each_format in FORMATS:
        for each_form in FORMS:
            _place(each_format, each_form).write_text(_readable(render(SMALL, each_format, each_form)), "utf-8")
