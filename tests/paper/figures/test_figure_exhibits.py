"""Every figure on the shelf: computed on a toy graph, kept, read again, resumed, and refused where it must be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import gwn.training.experiment
from gwn.errors import GWNError
from gwn.paper.figures import FIGURES, FigureContext, figure_data, figure_from_json, figure_path

COMPUTED = [name for name in FIGURES if name != "runtime"]


@pytest.mark.parametrize("name", COMPUTED)
def test_a_figure_is_computed_once(
    name: str, figure_context: FigureContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = figure_data(FIGURES[name], figure_context)
    assert first.name == name
    assert first.caption
    assert first.provenance["command"] == f"gwn reproduce figure-{name}"
    assert all(panel.series and panel.x.text and panel.title for panel in first.panels)
    assert figure_from_json(json.loads(json.dumps(first.to_json()))) == figure_data(FIGURES[name], figure_context)

    def no_training(*_: object, **__: object) -> None:
        raise AssertionError("a run that is there was trained again")

    monkeypatch.setattr(gwn.training.experiment, "fit", no_training)
    again = figure_data(FIGURES[name], replace(figure_context, results=tmp_path))
    assert again.panels == first.panels


def test_names_and_places() -> None:
    for name, exhibit in FIGURES.items():
        assert exhibit.name == name
        assert exhibit.place.startswith("figure ")


def test_an_edited_figure_is_refused_until_it_is_computed_again(figure_context: FigureContext, tmp_path: Path) -> None:
    context = replace(figure_context, results=tmp_path)
    figure_path("roots", tmp_path).parent.mkdir(parents=True)
    figure_path("roots", tmp_path).write_text("{}")
    with pytest.raises(GWNError, match="--recompute"):
        figure_data(FIGURES["roots"], context)
    data = figure_data(FIGURES["roots"], context, recompute=True)
    assert figure_data(FIGURES["roots"], context) == data


@pytest.mark.parametrize("name", ["depth", "stability"])
def test_without_time_only_what_is_there_is_shown(name: str, figure_context: FigureContext, tmp_path: Path) -> None:
    said: list[str] = []
    context = replace(figure_context, runs=tmp_path / "none", results=tmp_path, seconds=-1.0, say=said.append)
    data = FIGURES[name].compute(context)
    assert len(said) == 1
    assert said[0].startswith("out of time: ")
    assert not any(series.x for panel in data.panels for series in panel.series)
    assert data.provenance["not run"]
    assert not (tmp_path / "none").exists()


def test_progress_is_told(figure_context: FigureContext, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    context = replace(figure_context, results=tmp_path, advance=lambda *part: told.append(part))
    FIGURES["depth"].compute(context)
    assert all(0 <= done <= total and text for done, total, text in told)
    assert told
