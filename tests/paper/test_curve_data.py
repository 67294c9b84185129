"""What a figure shows goes to JSON and back, and a file that was cut or edited is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gwn.errors import GWNError
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, figure_from_json, numbers, read_figure, write_figure

SERIES = Series(label="a", key="gwn-sym", x=(1.0, 2.0), y=(3.0, None), marks=("", "diverged"))
PANEL = Panel(title="p", kind="lines", x=Axis(label="t", unit="s"), y=Axis(label="u", scale="log"), series=(SERIES,))
DATA = CurveData(name="roots", title="t", place="figure 7", caption="c", panels=(PANEL,), provenance={"source": "test"})


def test_json_and_back(tmp_path: Path) -> None:
    write_figure(DATA, tmp_path / "roots.json")
    assert read_figure(tmp_path / "roots.json") == DATA


def test_numbers_have_few_digits_and_no_nan() -> None:
    assert numbers([1 / 3, np.nan, np.inf, None, 123456.7]) == (0.33333, None, None, None, 123460.0)


def test_a_missing_file_names_its_command(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"does not exist; compute it with gwn reproduce figure-roots$"):
        read_figure(tmp_path / "roots.json")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_cut_file_is_one_line(tmp_path: Path, share: float) -> None:
    path = tmp_path / "roots.json"
    write_figure(DATA, path)
    whole = path.read_text()
    path.write_text(whole[: int(share * len(whole))])
    with pytest.raises(GWNError, match=r"was cut or edited .*gwn reproduce figure-roots --recompute$") as error:
        read_figure(path)
    assert "\n" not in str(error.value)


def _edited(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(DATA.to_json()))
    return {**data, **changes}


def _edited_panel(**changes: Any) -> dict[str, Any]:
    panel = json.loads(json.dumps(DATA.to_json()))["panels"][0]
    return _edited(panels=[{**panel, **changes}])


@pytest.mark.parametrize(
    "data",
    [
        _edited(format=None),
        _edited(panels=[]),
        _edited(columns=0),
        _edited(title=3),
        _edited(provenance=None),
        _edited(colour="red"),
        {name: value for name, value in _edited().items() if name != "caption"},
        _edited_panel(kind="pie"),
        _edited_panel(x=None),
        _edited_panel(y={"label": "u", "scale": "cubic"}),
        _edited_panel(series=[{"label": "a", "x": [1, 2], "y": [1]}]),
        _edited_panel(series=[{"label": "a", "x": [1], "y": ["one"]}]),
        _edited_panel(series=[{"label": "a", "x": 1, "y": [1]}]),
        _edited_panel(series="none"),
    ],
)
def test_an_edited_record_is_refused(tmp_path: Path, data: dict[str, Any]) -> None:
    path = tmp_path / "roots.json"
    path.write_text(json.dumps(data))
    with pytest.raises(GWNError, match="was cut or edited"):
        read_figure(path)


def test_a_newer_file_is_refused_by_that_name(tmp_path: Path) -> None:
    path = tmp_path / "roots.json"
    path.write_text(json.dumps(_edited(format=99)))
    with pytest.raises(GWNError, match=r"written by a newer version of gwn \(format 99\)"):
        read_figure(path)


def test_defaults_may_be_left_out() -> None:
    assert figure_from_json(_edited_panel(series=[{"label": "a", "x": [1], "y": [2]}])).panels[0].series[0].marks == ()
