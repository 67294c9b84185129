"""Tuned settings: found for the right model, dataset, split and data; overridden by what is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gwn import GWNError
from gwn.io import write_toml
from gwn.models import model_spec
from gwn.settings import find_tuned

MODEL = model_spec("gwn-plus")


def write(folder: Path, data: str = "hash", **settings: Any) -> None:
    table = {"data": data, "settings": settings, "training": {"lr": 0.02}}
    write_toml(folder / "gwn-plus.toml", {"cora": {"per-class": table}})


def test_found_here_first_then_among_those_that_ship(tmp_path: Path) -> None:
    here, there = tmp_path / "settings", tmp_path / "shipped"
    folders = (here, there)
    assert find_tuned(MODEL, "cora", "per-class", "hash", folders) is None
    write(there, time=2.0)
    found = find_tuned(MODEL, "cora", "per-class", "hash", folders)
    assert found is not None
    assert found.settings == {"time": 2.0}
    write(here, time=3.0)
    found = find_tuned(MODEL, "cora", "per-class", "hash", folders)
    assert found is not None
    assert found.settings == {"time": 3.0}
    assert found.training == {"lr": 0.02}
    for other in (("cora", "geom", "hash"), ("texas", "per-class", "hash"), ("cora", "per-class", "other data")):
        assert find_tuned(MODEL, *other, folders) is None
    assert find_tuned(model_spec("mlp"), "cora", "per-class", "hash", folders) is None


def test_settings_searched_under_a_prior_are_for_answers_that_have_it(tmp_path: Path) -> None:
    of = {
        name: {"data": "hash", "settings": {"time": time}, "training": {}}
        for name, time in (("per-class", 2.0), ("per-class-em", 3.0))
    }
    write_toml(tmp_path / "gwn-plus.toml", {"cora": of})
    for prior, time in (("none", 2.0), ("em", 3.0), ("validation", 2.0)):
        found = find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path], prior=prior)
        assert found is not None
        assert found.settings == {"time": time}, prior


def test_a_file_with_the_models_former_name_is_read(tmp_path: Path) -> None:
    write(tmp_path, time=2.0)
    (tmp_path / "gwn-plus.toml").rename(tmp_path / "gwn.toml")
    found = find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path])
    assert found is not None
    assert found.file.name == "gwn.toml"
    write(tmp_path, time=3.0)
    found = find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path])
    assert found is not None
    assert found.settings == {"time": 3.0}, "the file with the present name comes first"


def test_given_settings_win_and_take_their_options_with_them(tmp_path: Path) -> None:
    write(tmp_path, laplacian="klein-gordon", mass=0.3, scheme="damped", damping=0.2, time=3.0)
    found = find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path])
    assert found is not None
    settings, training = found.merge(MODEL, {"time": 5.0}, {})
    assert (settings["time"], settings["mass"], settings["damping"]) == (5.0, 0.3, 0.2)
    assert training == {"lr": 0.02}
    settings, training = found.merge(MODEL, {"laplacian": "physical"}, {"lr": 0.1})
    assert "mass" not in settings
    assert settings["damping"] == 0.2
    assert training == {"lr": 0.1}
    MODEL.build(2, 2, **settings)
    settings, _ = found.merge(MODEL, {"laplacian": "physical", "mass": 1.0}, {})
    assert settings["mass"] == 1.0  # given by the user, so the model may say that it has no such setting


@pytest.mark.parametrize("settings", [{"tauu": 1.0}, {"tau": -1.0}, {"tau": 5.0}, {"tau": "quick"}])
def test_edited_files_are_refused_with_their_name(tmp_path: Path, settings: dict[str, Any]) -> None:
    write(tmp_path, **settings)
    with pytest.raises(GWNError, match=r"gwn-plus\.toml \[cora\.per-class\]: .*--no-tuned"):
        find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path])


@pytest.mark.parametrize("text", ["[cora]\nper-class = 3", "[cora.per-class]\nsettings = 3", "[cora.per-class]"])
def test_other_tables_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "gwn-plus.toml").write_text(text)
    with pytest.raises(GWNError, match="has no settings and training"):
        find_tuned(MODEL, "cora", "per-class", "hash", [tmp_path])
