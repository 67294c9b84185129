"""Every exhibit on the shelf: its names, and every figure computed on a toy graph, kept, read again and resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import gwn.training.experiment
from gwn.errors import GWNError
from gwn.paper.curve_data import CurveData, figure_from_json
from gwn.paper.exhibit import Context, figure_path
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.table import TableData

TABLES = [name for name, exhibit in EXHIBITS.items() if not exhibit.is_figure]
TRAINED = [name for name, exhibit in EXHIBITS.items() if exhibit.is_figure and "runtime" not in name]


def figure(name: str, context: Context, recompute: bool = False) -> CurveData:
    (data,) = EXHIBITS[name].contents(context, recompute=recompute)
    assert isinstance(data, CurveData)
    return data


@pytest.mark.parametrize("name", TRAINED)
def test_a_figure_is_computed_once(
    name: str, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = figure(name, context)
    assert f"figure-{first.name}" == name
    assert first.caption
    assert first.provenance["command"] == f"gwn reproduce {name}"
    assert all(panel.series and panel.title for panel in first.panels)
    assert all(panel.x.text for panel in first.panels if panel.kind != "graph")
    assert figure_from_json(json.loads(json.dumps(first.to_json()))) == figure(name, context)

    def no_training(*_: object, **__: object) -> None:
        raise AssertionError("a run that is there was trained again")

    monkeypatch.setattr(gwn.training.experiment, "fit", no_training)
    again = figure(name, replace(context, results=tmp_path))
    assert again.panels == first.panels


def test_names_and_places() -> None:
    for name, exhibit in EXHIBITS.items():
        assert exhibit.name == name
        assert name.startswith("figure-" if exhibit.is_figure else "table-")
        if exhibit.is_figure:
            assert exhibit.place.startswith("figure ")
    assert len({exhibit.title for exhibit in EXHIBITS.values()}) == len(EXHIBITS)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_results_is_still_a_table(name: str, context: Context, tmp_path: Path) -> None:
    """The paper's figures stand alone; every row is as long as the heading, and the main table has the name."""
    shown = EXHIBITS[name].contents(replace(context, results=tmp_path), compute=False)
    assert shown[0].name == name
    for table in shown:
        assert isinstance(table, TableData)
        assert table.command.startswith("gwn reproduce ")
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert not any(tmp_path.iterdir())


def test_a_figure_is_not_computed_where_that_is_not_wanted(context: Context, tmp_path: Path) -> None:
    with pytest.raises(GWNError, match="does not exist; compute it with gwn reproduce figure-roots"):
        EXHIBITS["figure-roots"].contents(replace(context, results=tmp_path), compute=False)
    assert not any(tmp_path.iterdir())


def test_an_edited_figure_is_refused_until_it_is_computed_again(context: Context, tmp_path: Path) -> None:
    context = replace(context, results=tmp_path)
    path = figure_path("figure-roots", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(GWNError, match="--recompute"):
        figure("figure-roots", context)
    data = figure("figure-roots", context, recompute=True)
    assert figure("figure-roots", context) == data


@pytest.mark.parametrize("name", ["figure-depth", "figure-stability"])
def test_without_time_only_what_is_there_is_shown(name: str, context: Context, tmp_path: Path) -> None:
    said: list[str] = []
    context = replace(context, runs=tmp_path / "none", results=tmp_path, seconds=-1.0, say=said.append)
    data = figure(name, context)
    assert len(said) == 1
    assert said[0].startswith("out of time: ")
    assert said[0].endswith(f"runs of {name} wait for the next call")
    assert not any(series.x for panel in data.panels for series in panel.series)
    assert data.provenance["not run"]
    assert not (tmp_path / "none").exists()


def test_progress_is_told(context: Context, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    figure("figure-depth", replace(context, results=tmp_path, advance=lambda *part: told.append(part)))
    assert all(0 <= done <= total and text for done, total, text in told)
    assert told
