"""Every table and figure of the paper by name: to add one, write its file and its line here."""

from __future__ import annotations

from gwn.paper.exhibit import Exhibit
from gwn.paper.exhibits import (
    accuracy,
    attention,
    beyond,
    counts,
    depth,
    peers,
    roots,
    runtime,
    shift,
    spectrum,
    stability,
    tau,
    waves,
)

EXHIBITS: dict[str, Exhibit] = {
    "table-homophilic": accuracy.HOMOPHILIC,
    "table-heterophilic": accuracy.HETEROPHILIC,
    "table-base-models": accuracy.BASE_MODELS,
    "table-tau-homophilic": tau.HOMOPHILIC,
    "table-tau-heterophilic": tau.HETEROPHILIC,
    "table-shift": shift.EXHIBIT,
    "table-beyond": beyond.EXHIBIT,
    "table-peers": peers.EXHIBIT,
    "table-datasets": counts.DATASETS_COUNTED,
    "table-parameters": counts.PARAMETERS,
    "figure-spectrum": spectrum.EXHIBIT,
    "figure-attention": attention.EXHIBIT,
    "figure-depth": depth.EXHIBIT,
    "figure-stability": stability.EXHIBIT,
    "figure-waveform": waves.WAVEFORM,
    "figure-time-view": waves.TIME_VIEW,
    "figure-node-view": waves.NODE_VIEW,
    "figure-roots": roots.EXHIBIT,
    "figure-runtime": runtime.EXHIBIT,
    "figure-runtime-rest": runtime.APPENDIX,
}
"""In the order of the paper; `gwn reproduce NAME` computes and shows one."""
