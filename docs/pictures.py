"""The pictures of README and of these pages: `make images` makes those that are stale, from what they are made from.

    python docs/pictures.py              what is stale, and says so
    python docs/pictures.py NAME ...     these, stale or not
    python docs/pictures.py --check      names the stale ones, and fails if there is one

`images/made_from.json` has, for every picture, the hash of its inputs when it was made, and its own. A new picture: a
line in `PICTURES`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
RECORD = IMAGES / "made_from.json"


DRAWING = tuple(f"src/gwn/paper/drawing/{part}.py" for part in ("figure", "names", "panels", "style"))


class Picture(NamedTuple):
    """How a picture is made, into the file it is given, and what it is made from.

    inputs   files or patterns below the root; FILE#a/b is the part b of the part a of a JSON file
    slow     it trains or opens a browser, so it is made only when it is named
    """

    make: Callable[[Path], None]
    inputs: tuple[str, ...]
    slow: bool = False


def _figure(name: str) -> Picture:
    """A figure of the paper, from its data; the caption stands on the page."""

    def make(target: Path) -> None:
        from gwn.paper.curve_data import read_figure
        from gwn.paper.drawing import draw_figure

        draw_figure(read_figure(ROOT / "results" / "figures" / f"{name}.json"), target, caption=False)
        _fewer_colours(target)

    data = f"results/figures/{name}.json"
    return Picture(make, (f"{data}#columns", f"{data}#panels", *DRAWING))


def _finding(name: str) -> Picture:
    """A figure of docs/findings.md, from the measured cells. They are many, so the picture goes stale with the page,
    whose numbers are from the same cells and are tested, and with its code."""

    def make(target: Path) -> None:
        from gwn.paper import findings
        from gwn.paper.drawing import draw_figure

        (figure,) = (one for one in (each(ROOT / "results") for each in findings.FIGURES) if one.name == name)
        draw_figure(figure, target, caption=False)
        _fewer_colours(target)

    return Picture(make, ("docs/findings.md", "src/gwn/paper/findings.py", *DRAWING))


def _fewer_colours(target: Path) -> None:
    """A third of the bytes, and nothing that can be seen: the most frequent colours as they are, and those that come
    nearest to all others, also to the few at a scale's ends, which a palette by frequency alone breaks into steps."""
    import numpy as np
    from PIL import Image

    with Image.open(target) as image:
        whole = image.convert("RGB")
    pixels = np.asarray(whole)
    colours, place, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    near = whole.quantize(256 - FREQUENT, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = np.vstack([colours[np.argsort(-counts, kind="stable")[:FREQUENT]], np.reshape(near, (-1, 3))])[:256]
    # Pillow's own search is a rough one: white became a light grey
    far = np.square(palette.astype(int)).sum(axis=1) - 2 * (colours.astype(float) @ palette.T.astype(float))
    small = Image.fromarray(far.argmin(axis=1).astype(np.uint8)[place.ravel()].reshape(pixels.shape[:2]), "P")
    small.putpalette(palette.astype(np.uint8).ravel().tolist())
    small.save(target, optimize=True)


FREQUENT = 64
"""Of the 256 colours of a picture, those that are kept as they are."""


def _benchmark(record: str) -> Picture:
    """The growth of a training step, as it was measured."""

    def make(target: Path) -> None:
        sys.path.insert(0, str(ROOT))
        from benchmarks import growth
        from gwn.io import read_json

        parts = read_json(ROOT / record)["parts"]
        growth.draw([row for name in ("growth", "edges") if name in parts for row in parts[name]["rows"]], target)

    return Picture(make, (f"{record}#parts/growth", f"{record}#parts/edges", "benchmarks/growth.py"))


def _script(*command: str, inputs: tuple[str, ...], slow: bool = False) -> Picture:
    """A command that writes the picture to the path which is its last argument."""

    def make(target: Path) -> None:
        subprocess.run([sys.executable, *command, str(target)], cwd=ROOT, check=True)

    return Picture(make, inputs, slow)


def _demo(target: Path) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "gwn", "demo", "--out", folder], cwd=ROOT, check=True)
        target.write_bytes((Path(folder) / "digits.png").read_bytes())


FIGURES = tuple(sorted(path.stem for path in (ROOT / "results" / "figures").glob("*.json")))

PICTURES: dict[str, Picture] = {
    **{f"{name}.png": _figure(name) for name in FIGURES},
    **{f"finding-{name}.png": _finding(f"finding-{name}") for name in ("shift", "filters", "webkb", "twin")},
    "growth.png": _benchmark("results/bench/growth.json"),
    "scale.png": _benchmark("results/bench/scale.json"),
    "wave.gif": _script("-m", "gwn", "explore", "cora", "--animate", inputs=("src/gwn/explore/animate.py",), slow=True),
    "explore.png": _script(
        "docs/photograph.py", inputs=("docs/photograph.py", "src/gwn/templates/explore*"), slow=True
    ),
    "digits.png": Picture(_demo, ("src/gwn/paper/drawing/comparison.py",), slow=True),
}
BY_HAND = ("logo.svg",)


def hash_of(inputs: Iterable[str]) -> str:
    """Of the names and contents of all that a picture is made from."""
    whole = hashlib.sha256()
    for name in sorted(inputs):
        pattern, _, part = name.partition("#")
        for path in sorted(ROOT.glob(pattern)):
            content = _part(path, part) if part else path.read_bytes()
            whole.update(f"{path.relative_to(ROOT).as_posix()} {part} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def _part(path: Path, name: str) -> bytes:
    data: Any = json.loads(path.read_bytes())
    for step in name.split("/"):
        data = data.get(step) if isinstance(data, dict) else None
    return json.dumps(data, sort_keys=True).encode()


def record() -> dict[str, Any]:
    """What was noted when the pictures were made."""
    from gwn.io import read_json

    return read_json(RECORD)["pictures"] if RECORD.exists() else {}


def why_stale(name: str) -> str:
    """Why a picture has to be made again; "" where it is current."""
    noted, path = record().get(name), IMAGES / name
    if noted is None or not path.exists():
        return "it was never made"
    if noted["inputs"] != hash_of(PICTURES[name].inputs):
        return f"what it is made from has changed ({', '.join(PICTURES[name].inputs)})"
    # one that trains or opens a browser is never the same twice, and may have been made without this file
    if not PICTURES[name].slow and noted["picture"] != hashlib.sha256(path.read_bytes()).hexdigest():
        return "the file is not the one that was made"
    return ""


def note(name: str) -> None:
    """Note the picture that is there as made from the inputs that are there."""
    from gwn.io import write_json

    picture = hashlib.sha256((IMAGES / name).read_bytes()).hexdigest()
    noted = {**record(), name: {"inputs": hash_of(PICTURES[name].inputs), "picture": picture}}
    kept = {known: noted[known] for known in sorted(noted) if known in PICTURES}
    write_json(RECORD, {"made_by": "python docs/pictures.py", "pictures": kept}, sealed=False)


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if not name.startswith("-")]
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        print(f"there is no picture {unknown[0]!r}; known are {', '.join(sorted(PICTURES))}", file=sys.stderr)
        return 2
    stale = {name: reason for name in PICTURES if (reason := why_stale(name))}
    if "--check" in arguments:
        print("\n".join(f"{name}: {reason}" for name, reason in stale.items()) or "every picture is current")
        return 1 if stale else 0
    for name in names or stale:
        if PICTURES[name].slow and name not in names:
            print(f"{name} is stale: {stale[name]}; make it with `python docs/pictures.py {name}`")
            continue
        PICTURES[name].make(IMAGES / name)
        note(name)
        print(f"docs/images/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
