"""Analyses as a page: it says what the figures say, and no text of a task or an arm becomes anything but text."""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np
import pytest

from seasoned.experiment.analysis.analyse import Analysis, AnalysisPlan, analyse
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.findings import sentences
from seasoned.experiment.page import render
from seasoned.experiment.page.page import plots
from seasoned.report.page.rows import visible
from tests.experiment.simulated import run
from tests.report.test_page import Parsed

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "datum.value",
    "a\u202eb",
]
NAMES = ("cold", "warm", "placebo", "rule", HOSTILE[0])


@cache
def analysis() -> Analysis:
    """Five arms with a few turns each, one of them with a name that would like to run."""
    generator = np.random.default_rng(1)
    chances = dict(zip(NAMES, (0.2, 0.7, 0.25, 0.6, 0.1), strict=True))
    records = [
        run(
            arm,
            HOSTILE[1] if task == 3 else f"t{task}",
            repeat,
            outcomes="".join("o" if generator.random() < chance else "x" for _ in range(1 + task % 4)),
            example_ids=(f"e{repeat}",) if arm == "warm" else (),
            task_set="conventions",
            part="confirmation",
            model=HOSTILE[2],
        )
        for arm, chance in chances.items()
        for task in range(24)
        for repeat in range(2)
    ]
    contrasts = tuple(Contrast("warm", name) for name in NAMES if name != "warm")
    return analyse(records, AnalysisPlan(contrasts=contrasts, permutations=499))


@cache
def page() -> Parsed:
    return Parsed(render(HOSTILE[0], [analysis(), analysis()], made_at=0.0, versions={"seasoned": "0.1.0"}))


def test_every_element_is_closed_and_only_our_scripts_are_there() -> None:
    assert page().open == []
    assert [script.get("type") for script in page().all("script")] == ["application/json", *[None] * 4]
    assert page().all("img") == []
    ids = [attributes["id"] for _, attributes in page().elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_plot_is_there_with_its_table_its_captions_and_an_address() -> None:
    data = json.loads(page().texts["script"][0])
    names = [plot["name"] for plot in data["plots"]]
    assert names == [f"a{part}-{name}" for part in (1, 2) for name in ("forest", "arms")]
    assert {f"plot-{name}" for name in names} <= {attributes.get("id") for _, attributes in page().elements}
    for plot in plots(analysis(), "a1"):
        assert re.fullmatch(r"[A-Z].*\.", plot.shows) and re.fullmatch(r"[A-Z].*\.", plot.hides)
        assert {len(row) for row in plot.rows} == {len(plot.head)}
        assert all(cell for row in plot.rows for cell in row)


def test_the_data_cannot_end_its_script_and_hostile_text_is_shown_as_text() -> None:
    assert not set("<>&\u2028\u2029") & set(page().texts["script"][0])
    assert HOSTILE[0] in "".join(page().texts["h1"] + page().texts["bdi"])
    assert "49" not in "".join(page().texts["h2"])


def test_what_may_and_may_not_be_said_is_on_the_page() -> None:
    said = sentences(analysis())
    assert {visible(one) for one in (*said.may, *said.may_not)} <= set(page().texts["li"])


def test_the_forest_has_every_contrast_with_its_interval() -> None:
    forest, _ = plots(analysis(), "a1")
    assert forest.spec is not None
    rows = forest.spec["data"]["values"]
    assert [row["label"] for row in rows] == [visible(f"warm − {name}", 60) for name in NAMES if name != "warm"]
    for row, one in zip(rows, analysis().effects, strict=True):
        assert one.estimate.value is not None
        assert row["low"] < row["value"] < row["high"]
        assert row["value"] == pytest.approx(100 * one.estimate.value, abs=1e-3)


def test_an_experiment_without_calls_and_with_a_missing_arm_is_a_page_with_reasons() -> None:
    records = [run("cold", f"t{n}", outcomes="", check="failed") for n in range(3)]
    found = Parsed(render("x", [analyse(records, AnalysisPlan(contrasts=(Contrast("warm", "cold"),)))], made_at=0.0))
    assert found.open == []
    nothing = [text for text in found.texts["p"] if text.startswith("– ")]
    assert nothing[:2] == ["– no cluster was tried under both conditions", "– no arm has a value"]
    assert any("Arms without a run: warm" in text for text in found.texts["p"])
