"""Figures on the report's page: drawn from their stored data, each with its caption, command and provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gwn.errors import GWNError
from gwn.experiments.figures.data import CurveData
from gwn.experiments.figures.reading import read_figure
from gwn.report.figures import draw_figure
from gwn.report.html import Markup, fill, join

FIGURE = """<section class="card exhibit" id="figure-$name" aria-labelledby="figure-$name-title">
<h3 id="figure-$name-title">$title</h3>
<figure>
<div class="scroll" role="region" aria-labelledby="figure-$name-title" tabindex="0">
<img src="figures/$name.svg" alt="$title. $caption">
</div>
<figcaption>$caption</figcaption>
</figure>
<p class="soft">In the paper: $place. Made by <code>$command</code> · <a href="figures/$name.svg">as SVG</a></p>
<details><summary>Settings and runs behind it</summary><pre><code>$provenance</code></pre></details>
</section>"""
MISSING = """<section class="card exhibit" id="figure-$name"><h3>$title</h3>
<p>Not available: $reason. This creates it: <code>$command</code></p></section>"""


def figure_sections(titles: Mapping[str, str], results: Path, out: Path) -> tuple[Markup, list[tuple[str, str]]]:
    """Every figure of `titles`, and (anchor, title) of each for the contents; one without data says how to get it."""
    parts, contents = [], []
    for name, title in titles.items():
        path = results / "figures" / f"{name}.json"
        command = f"gwn reproduce figure-{name}"
        try:
            if not path.exists():
                raise GWNError(f"its data, {path.name}, is not there")
            data = read_figure(path)
            draw_figure(data, out / "figures" / f"{name}.svg", caption=False)
            parts.append(_section(name, data, command))
        except GWNError as error:
            parts.append(fill(MISSING, name=name, title=title, reason=error, command=command))
        contents.append((f"figure-{name}", title))
    return join(parts), contents


def _section(name: str, data: CurveData, command: str) -> Markup:
    return fill(
        FIGURE,
        name=name,
        title=data.title,
        caption=data.caption,
        place=data.place,
        command=data.provenance.get("command", command),
        provenance=json.dumps(data.provenance, indent=1, ensure_ascii=False),
    )
