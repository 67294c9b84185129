"""The pictures of README and docs/: each is made by one command, and one that is stale is found."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pictures"] = module
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_current(pictures: ModuleType) -> None:
    """If this fails: `make images`, and commit."""
    stale = {name: reason for name in pictures.PICTURES if (reason := pictures.why_stale(name))}
    assert stale == {}


def test_every_picture_is_known_and_shown(pictures: ModuleType) -> None:
    there = {path.name for path in (ROOT / "docs" / "images").iterdir() if path.suffix != ".json"}
    assert there == {*pictures.PICTURES, *pictures.BY_HAND}
    pages = [ROOT / "README.md", ROOT / "mkdocs.yml", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+)", page.read_text(encoding="utf-8"))}
    assert there <= shown


def test_a_picture_goes_stale_with_what_it_is_made_from(
    pictures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    monkeypatch.setattr(pictures, "RECORD", tmp_path / "made_from.json")
    data, code = tmp_path / "data.json", tmp_path / "draw.py"
    data.write_text('{"created": 1, "panels": [1, 2]}')
    code.write_text("draw")
    made = pictures.Picture(lambda target: target.write_text(data.read_text()), ("data.json#panels", "*.py"))
    monkeypatch.setattr(pictures, "PICTURES", {"one.png": made})
    assert pictures.main(["--check"]) == 1
    assert pictures.main([]) == 0
    assert pictures.main(["--check"]) == 0
    data.write_text('{"created": 2, "panels": [1, 2]}')
    assert pictures.why_stale("one.png") == ""
    data.write_text('{"created": 2, "panels": [1, 3]}')
    assert "has changed (data.json#panels, *.py)" in pictures.why_stale("one.png")
    assert pictures.main([]) == 0
    code.write_text("draw otherwise")
    assert pictures.main(["--check"]) == 1
    assert pictures.main(["one.png"]) == 0
    (tmp_path / "one.png").write_text("by hand")
    assert pictures.why_stale("one.png") == "the file is not the one that was made"
    capsys.readouterr()
    assert pictures.main(["two.png"]) == 2
    assert "known are one.png" in capsys.readouterr().err


def test_fewer_colours_keep_the_shades_of_a_scale(pictures: ModuleType, tmp_path: Path) -> None:
    """A palette by frequency drew the thin bar beside the maps in steps, and took nodes for darker than they are."""
    image = pytest.importorskip("PIL.Image")
    colours = pytest.importorskip("matplotlib").colormaps["RdBu_r"](np.linspace(0, 1, 400))[:, :3]
    picture = np.full((400, 900, 3), 255, dtype=np.uint8)
    picture[:, 20:40] = (255 * colours).astype(np.uint8)[:, None]
    path = tmp_path / "scale.png"
    picture[:, 100:] = (255 * colours[200:300]).astype(np.uint8).repeat(8, 0)[None, :800]
    image.fromarray(picture).save(path)
    pictures._fewer_colours(path)
    seen = np.asarray(image.open(path).convert("RGB")).astype(int)
    assert np.abs(seen - picture).max() <= 16
    assert (seen[:, 50:90] == 255).all(), "what is frequent keeps its colour"
