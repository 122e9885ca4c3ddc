"""Interactive plots: a click highlights a row, dragging over dates or positions adds up a span."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.insight.page import charts
from seasoned.insight.page.plots import Plot

_DIM = 0.25
_SUM = (
    "format(datum.calls, ',') + (datum.calls === 1 ? ' call' : ' calls') + ' chosen, '"
    " + (datum.calls > 0 ? format(100 * datum.failed / datum.calls, '.1f') : '–') + ' % failed'"
)


def with_interaction(plot: Plot) -> Plot:
    """The plot with a selection, if it has something to select."""
    spec = plot.spec
    if spec is None:
        return plot
    # Plots over dates or positions are stacked panels; those by tool or agent have a row for each.
    if "vconcat" in spec and "calls" in _first_row(spec):
        return msgspec.structs.replace(plot, spec=_with_span(spec))
    if "layer" in spec and "y" in spec.get("encoding", {}) and "x" not in spec["encoding"]:
        return msgspec.structs.replace(plot, spec=_with_choice(spec))
    return plot


def _first_row(spec: charts.Spec) -> dict[str, Any]:
    values = spec.get("data", {}).get("values", ())
    return values[0] if values else {}


def _with_choice(spec: charts.Spec) -> charts.Spec:
    """A click highlights a row, shift-click several; a click elsewhere clears the selection."""
    chosen = {"name": "chosen", "select": {"type": "point", "fields": ["label"]}}
    dimmed = {"condition": {"param": "chosen", "value": 1}, "value": _DIM}
    layers = [_dimmed(layer, dimmed) for layer in spec["layer"]]
    layers[0] = {**layers[0], "params": [chosen]}
    return {**spec, "layer": layers}


def _dimmed(layer: charts.Spec, dimmed: charts.Spec) -> charts.Spec:
    encoding = layer.get("encoding", {})
    if "datum" in encoding.get("x", {}):
        return layer  # the line of no difference belongs to no row
    return {**layer, "encoding": {**encoding, "opacity": dimmed}}


def _with_span(spec: charts.Spec) -> charts.Spec:
    """Dragging over the plot chooses a span, and its sum is shown above the plot."""
    main, *others = spec["vconcat"]
    mark = {"fill": charts.FIRST, "fillOpacity": 0.12, "stroke": charts.FIRST, "strokeOpacity": 0.4}
    span = {"name": "span", "select": {"type": "interval", "encodings": ["x"], "mark": mark}}
    layers = list(main["layer"])
    # A selection belongs to one layer, and the points are drawn in every such plot.
    place = next(number for number, layer in enumerate(layers) if layer["mark"]["type"] == "point")
    layers[place] = {**layers[place], "params": [span]}
    layers.append(
        {
            "transform": [
                {"filter": {"param": "span", "empty": False}},
                # Rates cannot be added: they become failed calls again, which are summed and divided.
                {"calculate": "isValid(datum.value) ? datum.value * datum.calls / 100 : 0", "as": "part"},
                {
                    "aggregate": [
                        {"op": "sum", "field": "calls", "as": "calls"},
                        {"op": "sum", "field": "part", "as": "failed"},
                    ]
                },
                {"filter": "datum.calls > 0"},
                {"calculate": _SUM, "as": "said"},
            ],
            "mark": {"type": "text", "align": "right", "baseline": "bottom", "fontWeight": 600, "dy": -2},
            "encoding": {
                "x": {"value": {"expr": "width"}},
                "y": {"value": 0},
                "text": {"field": "said"},
                "tooltip": None,
            },
        }
    )
    return {**spec, "vconcat": [{**main, "layer": layers}, *others]}
