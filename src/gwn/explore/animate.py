"""A film of a pulse as a GIF: the first view of the page, drawn without a browser."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gwn.adjacency import normalised_adjacency
from gwn.errors import GWNError, require_extra
from gwn.explore.layout import Drawn, choose_nodes, node_radius
from gwn.explore.page import OnProgress, place
from gwn.explore.subject import Subject
from gwn.io import write_atomic
from gwn.networks.dynamics import build_dynamics
from gwn.schemes import integrate

TAU, FRAMES, MILLISECONDS, COLOURS = 0.25, 80, 60, 40
WIDTH, HEIGHTS = 6.4, (2.8, 4.6)
"""Of the picture, in hundreds of pixels; it is as high as the graph is."""

NIGHT, EDGE, SCALE = "#12171d", "#7f92a6", ("#a6e0ff", "#3f9fe0", "#33404d", "#e8862f", "#ffd9a0")
"""The dark colours of the page; the scale goes from far below zero to far above."""


def check_film(target: Path) -> None:
    """Refuse what cannot be written, before anything is computed."""
    if target.suffix.lower() != ".gif":
        raise GWNError(f"--animate writes a GIF; got {target.name!r}: end its name in .gif")
    require_extra("gwn explore --animate", "matplotlib")


def write_film(
    subject: Subject,
    target: Path,
    *,
    limit: int = 3000,
    centre: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """The pulse at `centre` from its start to time 20, physical and by leapfrog with tau = 0.25, again and again."""
    check_film(target)
    tell = on_progress or (lambda what, done, total: None)
    drawn = choose_nodes(subject.graph, limit, centre)
    layout, wave = place(drawn, on_progress), pulse(drawn)
    write_atomic(target, _gif(drawn, layout.numpy(), wave.numpy(), tell))


def pulse(drawn: Drawn) -> Tensor:
    """[FRAMES + 1, n] displacement 1 at the centre, everything at rest."""
    count = drawn.nodes.numel()
    adjacency = normalised_adjacency(drawn.pairs, drawn.weights, count, dtype=torch.float64)
    space, scheme = build_dynamics("physical", "leapfrog", 1, FRAMES, TAU, options={})
    start = (drawn.nodes == drawn.centre).double()[:, None]
    with torch.no_grad():
        return integrate(space.on(adjacency), scheme, start, torch.zeros_like(start), FRAMES, trajectory=True)[:, :, 0]


def _gif(drawn: Drawn, places: np.ndarray, wave: np.ndarray, tell: OnProgress) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, to_rgb
    from matplotlib.figure import Figure
    from PIL import Image

    radius = node_radius(len(places))
    low, high = places.min(0) - 3 * radius, places.max(0) + 3 * radius
    size = WIDTH, float(np.clip(WIDTH * (high - low)[1] / (high - low)[0], *HEIGHTS))
    figure = Figure(figsize=size, dpi=100, facecolor=NIGHT)
    canvas, axes = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.axis("off")
    ends = drawn.pairs[:, drawn.shown].numpy()
    faint = float(np.clip(15 / np.sqrt(ends.shape[1] + 1), 0.05, 0.5))
    axes.add_collection(LineCollection(places[ends.T], colors=EDGE, linewidths=0.6, alpha=faint))
    unit = 72 * float(np.min(size / (high - low)))  # points of the picture
    disc = max(1.6, 2 * radius * unit)
    scale = LinearSegmentedColormap.from_list("wave", SCALE)
    x, y = places.T
    halo = axes.scatter(x, y, c=wave[0], cmap=scale, vmin=-1, vmax=1, linewidths=0, alpha=0.18, zorder=2)
    dots = axes.scatter(x, y, c=wave[0], cmap=scale, vmin=-1, vmax=1, linewidths=0, zorder=3)
    frames = []
    for n, state in enumerate(wave):
        end = max(np.quantile(np.abs(state), 0.99), 0.02 * np.abs(state).max())  # as the page: one node pales no other
        level = np.sqrt(np.clip(np.abs(state) / end, 0, 1))
        for layer, width in ((dots, disc * (0.75 + 1.1 * level**2)), (halo, disc * 3.2 * level * (level > 0.3))):
            layer.set_array(np.sign(state) * level)
            layer.set_sizes(width**2)
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
        tell("film", n + 1, len(wave))
    colours = scale(np.linspace(0, 1, COLOURS))[:, :3]
    night = np.array(to_rgb(NIGHT))
    dim = np.concatenate([night + weight * (colours[::2] - night) for weight in (1 / 3, 2 / 3)])  # halos and rims
    edges = night + np.linspace(0, 1, 16)[:, None] * (np.array(to_rgb(EDGE)) - night)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.rint(255 * np.concatenate([edges, colours, dim])).astype(np.uint8).ravel().tolist())
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    out = io.BytesIO()
    flat[0].save(out, "GIF", save_all=True, append_images=flat[1:], duration=MILLISECONDS, loop=0, optimize=True)
    return out.getvalue()
