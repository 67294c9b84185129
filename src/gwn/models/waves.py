"""The wave networks by name."""

from __future__ import annotations

from gwn.models.spec import ModelSpec
from gwn.networks.wave import GWN

_PAPER = "Yue et al., Graph Wave Networks, WWW 2025"

GWN_SYM = ModelSpec(
    name="gwn-sym",
    network=GWN,
    title="GWN-sym",
    paper=_PAPER,
    year=2025,
    kind="wave",
    origin="ours",
    fixed={"laplacian": "sym"},
)

GWN_FA = ModelSpec(
    name="gwn-fa",
    network=GWN,
    title="GWN-fa",
    paper=_PAPER,
    year=2025,
    kind="wave",
    origin="ours",
    fixed={"laplacian": "fa"},
)

GWN_ANY = ModelSpec(
    name="gwn",
    network=GWN,
    title="GWN",
    paper="ours: any Laplacian, scheme and read-out; by default the physical wave with its whole trajectory",
    year=2026,
    kind="wave",
    origin="ours",
    preset={"laplacian": "physical", "readout": "trajectory", "activation": "relu"},
)
