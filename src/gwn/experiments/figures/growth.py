"""Growth per step of trained networks: what their spectrum predicts, and what their states did."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from gwn.experiments.figures.data import Axis, Panel, Series, numbers
from gwn.experiments.figures.stability_plan import Cell
from gwn.experiments.figures.trained import Trained
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.stability import analyse
from gwn.training import TrainedModel, load_trained

STEPS = 40
"""Of a measured run, at least."""


def growth_panel(title: str, found: Mapping[Cell, Trained]) -> Panel:
    """Lines for what is predicted, markers for what was measured, and a line at 1 = bounded."""
    series: list[Series] = []
    for key in dict.fromkeys(cell.model.key for cell in found):
        here = sorted((cell for cell in found if cell.model.key == key), key=lambda cell: cell.tau)
        taus = numbers([cell.tau for cell in here])
        both = [growth(found[cell]) for cell in here]
        if any(predicted is not None for predicted, _ in both):
            label = here[0].model.label
            series.append(Series(label=label, key=f"{key} predicted", x=taus, y=numbers([a for a, _ in both])))
            series.append(Series(label="", key=f"{key} measured", x=taus, y=numbers([b for _, b in both])))
    taus = numbers(sorted({cell.tau for cell in found}))
    series.append(Series(label="", key="reference", x=taus, y=numbers([1.0] * len(taus))))
    return Panel(
        title=f"{title}: growth per step",
        kind="lines",
        x=Axis(label="step length tau", scale="log"),
        y=Axis(label="growth per step", scale="log"),
        series=tuple(series),
    )


def growth(trained: Trained) -> tuple[float | None, float | None]:
    """(predicted, measured) factor of one step; None for a network without a wave, or where no run finished."""
    if not trained.finished:
        return None, None
    best, graph = load_trained(trained.folder), trained.dataset.graph
    if not isinstance(best.network, GWN):
        return None, None
    network, wide = _longer(best, best.network).double(), graph.to(dtype=torch.float64)
    states = network.trajectory(wide.x, wide.edge_index, wide.edge_weight)
    return analyse(best.network, graph).growth, measured_growth(states)


def _longer(best: TrainedModel, network: GWN) -> GWN:
    """The same weights for more steps, where a fixed operator allows it: over two steps a growth cannot be measured."""
    if not network.laplacian.fixed or network.num_steps >= STEPS:
        return network
    settings = {**best.config["settings"], "time": STEPS * network.scheme.tau}
    facts = best.config["dataset"]
    longer = model_spec(best.config["model"]).build(facts["features"], facts["classes"], **settings)
    longer.load_state_dict(network.state_dict())
    assert isinstance(longer, GWN)
    return longer


def measured_growth(states: Tensor) -> float:
    """The mean factor by which the norm grew in a step, over the second half of the trajectory [n + 1, N, d]."""
    norms = states.double().flatten(1).norm(dim=1)
    half = (len(norms) - 1) // 2
    return float((norms[-1] / norms[half]) ** (1 / (len(norms) - 1 - half)))
