"""Numbers and pictures of docs/findings.md, from the measured results: `python -m gwn.paper.findings`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from scipy import stats
from torch import nn

from gwn.data.homophily import homophily
from gwn.io import write_atomic
from gwn.models import model_spec
from gwn.pages.markdown import fill, markdown_table
from gwn.paper.budget import heading
from gwn.paper.cell import BEST, ROWS, TAUS, Cell
from gwn.paper.compare import View, outcome, paired, view
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibits.accuracy import COLUMNS, WEBKB
from gwn.paper.exhibits.beyond import COLUMNS as BEYOND
from gwn.paper.exhibits.shift import COLUMNS as SHIFTED
from gwn.paper.exhibits.shift import CORRECTED, corrected_cells
from gwn.paper.records import RESULTS
from gwn.schemes import Leapfrog, count_steps

PAGE, COMMAND = Path("docs/findings.md"), "python -m gwn.paper.findings"
TIME = 10.0
LOOKS = {"validation": "first measured", "em": "second measured", "calibrated": "physical measured"}
FEWEST = 10
"""Models that a rank correlation is taken over."""


def growth_block(results: Path) -> str:
    """Of the constant signal, by step length: how the paper's wave grows in a step and in all, and the physical one."""
    rows = [["tau", f"steps to T = {TIME:g}", "L_a = S: a step", f"until T = {TIME:g}", "L_a = S - I: a step"]]
    for tau in TAUS:
        scheme, steps = Leapfrog(tau), count_steps(TIME, tau)
        physical = max(scheme.growth(mu) for mu in (-2.0, 0.0))
        grown = scheme.growth(1.0)
        rows.append([f"{tau:g}", str(steps), f"{grown:.3f}", f"{grown**steps:.3g}", f"{physical:.3f}"])
    return markdown_table(rows)


def shift_block(results: Path) -> str:
    """By column and prior: how many models a correction lifts, and the mean of the paired differences."""
    rows = [["column", "prior", "models", "mean gain", "least", "most", "wins / ties / losses"]]
    cells = corrected_cells(results)
    for column in SHIFTED:
        for prior in CORRECTED:
            found = {row: paired(of_row[column][prior], of_row[column]["none"]) for row, of_row in cells.items()}
            known = {row: difference for row, difference in found.items() if difference is not None}
            if not known:
                continue
            gains = {row: difference.mean for row, difference in known.items()}
            least, most = min(gains, key=lambda row: gains[row]), max(gains, key=lambda row: gains[row])
            counts = [outcome(difference) for difference in known.values()]
            rows.append(
                [
                    *(heading(column), prior, str(len(known)), f"{np.mean(list(gains.values())):+.2f}"),
                    *(f"{gains[row]:+.2f} ({ROWS[row].title})" for row in (least, most)),
                    " / ".join(str(counts.count(kind)) for kind in ("win", "tie", "loss")),
                ]
            )
    return markdown_table(rows)


def shift_figure(results: Path) -> CurveData:
    """Every corrected model against itself uncorrected."""
    cells, panels = corrected_cells(results), []
    for column in SHIFTED:
        series = []
        for prior in CORRECTED:
            both = [(of_row[column]["none"].test, of_row[column][prior].test) for of_row in cells.values()]
            known = [(plain["mean"], fixed["mean"]) for plain, fixed in both if plain is not None and fixed is not None]
            series.append(_cloud(f"prior {prior}", known, LOOKS[prior]))
        everything = [value for one in series for value in (*one.x, *one.y) if value is not None]
        low, high = min(everything, default=0.0), max(everything, default=1.0)
        line = numbers([low, high])
        same = Series(label="no difference", x=line, y=line, key="reference")
        panels.append(
            Panel(
                title=heading(column),
                kind="lines",
                x=Axis(label="as everybody reports", unit="%"),
                y=Axis(label="shift corrected", unit="%"),
                series=(*series, same),
            )
        )
    return _figure("shift", "Correcting the label shift", panels, 3)


def peers_block(results: Path) -> str:
    """How far apart peers and banks with the same weights are: of one step of sqrt 2, which they are, and of others."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(60, 12, dtype=torch.float64, generator=generator)
    edges = torch.randint(0, 60, (2, 200), generator=generator)
    root, width = math.sqrt(2), 16
    alone = {"hidden_channels": width, "encoder": False, "ego": False, "states": "last"}
    gated = {**alone, "head": False, "residual": False, "norm": "none", "structure": "channel"}
    summed = {**alone, "gate": "sum", "norm": "layer", "num_layers": 3}
    rows = [["peer", "bank with its weights", "largest difference of the logits"]]
    for name, settings, copy in (
        ("acm-gcn-plus", gated, _copy_acm),
        ("gcn-tuned", {**summed, "laplacian": "physical"}, _copy_tuned),
        ("sage-tuned", summed, _copy_tuned),
    ):
        peer = _built(name, x, edges, hidden_channels=width, **({} if "gate" not in settings else {"norm": "layer"}))
        for steps, tau, said in ((1, root, "sqrt 2"), (1, 1.0, "1"), (2, 1.0, "1"), (3, 1.0, "1")):
            bank = _built("gwn-bank", x, edges, time=steps * tau, tau=tau, **settings)
            copy(bank, peer)
            gap = float((bank(x, edges) - peer(x, edges)).detach().abs().max())
            shown = "less than 1e-12" if gap < 1e-12 else f"{gap:.2f}"
            rows.append([ROWS[name].title, f"{steps} step{'s' * (steps > 1)}, tau = {said}", shown])
    return markdown_table(rows)


def _copy_acm(bank: nn.Module, peer: nn.Module) -> None:
    for mine, theirs in zip(bank.banks, peer.layers, strict=True):  # type: ignore[arg-type]
        mine.linear.load_state_dict(theirs.linear.state_dict())
        mine.edges.load_state_dict(theirs.structure.state_dict())
        mine.gate.norms.load_state_dict(theirs.norms.state_dict())
        mine.gate.score.data, mine.gate.mix.data = theirs.score.data, theirs.mix.data


def _copy_tuned(bank: nn.Module, peer: nn.Module) -> None:
    """What the convolution maps before it is carried, and what it and the residual keep of the node itself."""
    for mine, conv, residual in zip(bank.banks, peer.convs, peer.residuals, strict=True):  # type: ignore[arg-type]
        weights = conv.state_dict()
        carried = weights["lin_l.weight" if "lin_l.weight" in weights else "lin.weight"]
        kept = weights.get("lin_r.weight", residual.weight.data)
        mine.linear.weight.data = torch.cat([carried, kept], 1)
        mine.bias.data = residual.bias.data
        if mine.residual is not None:
            mine.residual.data = residual.weight.data
    bank.head.load_state_dict(peer.head.state_dict())  # type: ignore[union-attr]


def _built(name: str, x: torch.Tensor, edges: torch.Tensor, **settings: object) -> nn.Module:
    torch.manual_seed(0)
    made = model_spec(name).build(x.shape[1], 4, **settings).double().eval()
    made(x, edges)  # weights for nodes are made in the first pass
    return made


def filter_figure(results: Path) -> CurveData:
    """`cos(n arccos(1 + tau² (lambda - 1) / 2))`: what is left of an eigenvector of the random walk after n steps."""
    eigenvalues = np.linspace(-1, 1, 201)
    curves = []
    for steps, tau, label in (
        (1, math.sqrt(2), "1 step, tau = √2: ACM-GCN+"),
        (1, 1.0, "1 step, tau = 1"),
        (2, 1.0, "2 steps, tau = 1"),
        (3, 1.0, "3 steps, tau = 1"),
    ):
        response = np.cos(steps * np.arccos(np.clip(1 + tau**2 * (eigenvalues - 1) / 2, -1, 1)))
        curves.append((label, response))
    panels = [
        Panel(
            title=title,
            kind="lines",
            x=Axis(label="eigenvalue of the random walk"),
            y=Axis(label="factor"),
            series=tuple(
                Series(label=label, x=numbers(eigenvalues), y=numbers(sign * response + (1 - sign) / 2))
                for label, response in curves
            ),
        )
        for title, sign in (("low channel: what the wave carries", 1), ("high channel: what it leaves over", -1))
    ]
    return _figure("filters", "ACM-GCN+ is a wave of one step", panels, 2)


def _validation(cell: View) -> float | None:
    """The mean validation score of a cell's final runs: what designs could be ranked by."""
    runs = [] if cell.record is None else [run["val"] for run in cell.record["runs"] if run["status"] == "ok"]
    return 100 * float(np.mean(runs)) if runs else None


def _ranked(results: Path, column: str) -> list[tuple[float, float]]:
    """Validation and test of every model with a search that was measured in a column."""
    cells = [view(results, Cell.of(column, row)) for row in ROWS if row != "majority"]
    seen = [(_validation(cell), cell.test) for cell in cells]
    return [(score, test["mean"]) for score, test in seen if score is not None and test is not None]


def _correlation(known: Sequence[tuple[float, float]]) -> float:
    """Spearman's."""
    return float(stats.spearmanr(*zip(*known, strict=True)).statistic)


def webkb_block(results: Path) -> str:
    """By column: the rank correlation of validation and test over all models, and what choosing by validation costs."""
    head = ["column", "test nodes", "models", "rank correlation", f"of the best {FEWEST} on validation"]
    rows = [[*head, "best test", "test of the best on validation"]]
    for column in (column for of_table in COLUMNS.values() for column in of_table):
        known = _ranked(results, column)
        if len(known) < FEWEST:
            continue
        record = next(found for row in ROWS if (found := view(results, Cell.of(column, row)).record) is not None)
        correlations = [_correlation(some) for some in (known, sorted(known)[-FEWEST:])]
        rows.append(
            [
                *(heading(column), str(record["runs"][0]["split_sizes"][2]), str(len(known))),
                *(f"{correlation:.2f}" for correlation in correlations),
                *(f"{score:.1f}" for score in (max(test for _, test in known), max(known)[1])),
            ]
        )
    if len(rows) == 1:
        return markdown_table(rows)
    by_chance = (
        f"One in twenty orders at random of {FEWEST} models has a rank correlation above {_by_chance(FEWEST):.2f}."
    )
    return f"{markdown_table(rows)}\n\n{by_chance}"


def _by_chance(count: int, orders: int = 100_000) -> float:
    """The rank correlation with a fixed order that one order in twenty of so many models exceeds."""
    ranks = np.arange(count)
    drawn = np.random.default_rng(0).permuted(np.tile(ranks, (orders, 1)), axis=1)
    squares = ((drawn - ranks) ** 2).sum(1)
    return float(np.quantile(1 - 6 * squares / (count * (count**2 - 1)), 0.95))


def webkb_figure(results: Path) -> CurveData:
    """Every model as a point: its validation and its test score."""
    panels = []
    for column in (*(f"{name}.geom" for name in WEBKB), "cora.per-class", "citeseer.per-class", "actor.per-class"):
        known = _ranked(results, column)
        panels.append(
            Panel(
                title=heading(column),
                kind="points",
                x=Axis(label="validation", unit="%"),
                y=Axis(label="test", unit="%"),
                series=(_cloud("", known, "measured"),),
                note=f"rank correlation {_correlation(known):.2f}" if len(known) > 2 else "",
            )
        )
    return _figure("webkb", "What validation knows of test, model by model", panels, 3)


def twin_columns(results: Path) -> dict[str, tuple[View, View]]:
    """The columns in which both our entry and its graph-free twin were measured."""
    columns = (*(column for of_table in COLUMNS.values() for column in of_table), *BEYOND)
    found = {}
    for column in columns:
        wave, twin = (view(results, Cell.of(column, row)) for row in (BEST, "gwn-twin"))
        if wave.test is not None and twin.test is not None:
            found[column] = (wave, twin)
    return found


def twin_block(results: Path) -> str:
    """By column: how alike neighbours are, our entry, its twin without edges, and the paired difference."""
    rows = [["column", "adjusted homophily", ROWS[BEST].title, ROWS["gwn-twin"].title, "the graph is worth"]]
    alike = homophily()
    for column, (wave, twin) in twin_columns(results).items():
        difference = paired(wave, twin)
        if difference is None or difference.low is None or difference.high is None:
            continue
        worth = f"{difference.mean:+.2f} ({difference.low:+.1f} to {difference.high:+.1f}), {outcome(difference)}"
        adjusted = f"{alike[wave.cell.dataset]['adjusted_homophily']:.2f}"
        ours = wave.shown().lines[0] + ("\\*" if wave.sees_labels else "")
        rows.append([heading(column), adjusted, ours, twin.shown().lines[0], worth])
    told = (
        "± is the standard deviation of the runs, and the brackets are the 95 % interval of the paired difference. "
        "Star: the labels of training nodes reach their neighbours, too, and that is in the difference."
    )
    return (
        f"{markdown_table(rows)}\n\n{told}"
        if len(rows) > 1
        else "Not measured yet: `gwn reproduce table-beyond` measures it."
    )


def twin_figure(results: Path) -> CurveData:
    """Both with their intervals, column by column, about as many columns in every panel."""
    found = list(twin_columns(results).items())
    each = math.ceil(len(found) / math.ceil(max(1, len(found)) / A_PANEL)) or 1
    panels = [_twin_panel(dict(found[first : first + each])) for first in range(0, len(found), each)]
    return _figure("twin", "What the graph is worth", panels, 1)


A_PANEL = 6
"""Columns whose names have room below a panel."""


def _twin_panel(found: Mapping[str, tuple[View, View]]) -> Panel:
    series = []
    for place, (row, key) in enumerate(((BEST, "first measured"), ("gwn-twin", "second measured"))):
        tests = [both[place].test or {} for both in found.values()]
        series.append(
            Series(
                label=ROWS[row].title,
                x=numbers([number + 0.1 * (place - 0.5) for number in range(len(tests))]),
                y=numbers([test["mean"] for test in tests]),
                low=numbers([test["low"] for test in tests]),
                high=numbers([test["high"] for test in tests]),
                key=key,
            )
        )
    return Panel(
        title="",
        kind="lines",
        x=Axis(label="", names=tuple(_in_lines(heading(column)) for column in found)),
        y=Axis(label="test score", unit="%"),
        series=tuple(series),
    )


def _in_lines(title: str) -> str:
    """A dataset above its split and its score; of those that have no other split, what makes them another dataset."""
    return title.replace("-Filtered published", " filtered").replace(" ", "\n")


def _cloud(label: str, known: Sequence[tuple[float, float]], key: str) -> Series:
    first, second = ([pair[place] for pair in known] for place in (0, 1))
    return Series(label=label, x=numbers(first), y=numbers(second), key=key)


def _figure(name: str, title: str, panels: Sequence[Panel], columns: int) -> CurveData:
    return CurveData(
        name=f"finding-{name}", title=title, place="docs/findings.md", caption="", panels=tuple(panels), columns=columns
    )


# drawn by docs/pictures.py
FIGURES = (shift_figure, filter_figure, webkb_figure, twin_figure)
BLOCKS = {"growth": growth_block, "shift": shift_block, "peers": peers_block, "webkb": webkb_block, "twin": twin_block}


def rewritten(text: str, results: Path = RESULTS) -> str:
    """The page with its generated parts made anew."""
    for name, make in BLOCKS.items():
        text = fill(text, COMMAND, name, make(results))
    return text


if __name__ == "__main__":
    write_atomic(PAGE, rewritten(PAGE.read_text(encoding="utf-8")).encode())
