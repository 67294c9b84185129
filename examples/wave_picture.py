"""README's moving picture, made by `make images`: a bounded wave on a graph of points in the plane, round an island.

Solves u_tt = (S - I) u with leapfrog from a small bump at rest. Blue is below zero, orange above. Needs matplotlib.
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial import cKDTree

from gwn import GWN

NODES, NEIGHBOURS, FRAMES, EVERY, TAU = 900, 6, 76, 4, 0.25
SIZE, START, ISLAND, RADIUS = torch.tensor([2.0, 1.0]), torch.tensor([0.3, 0.42]), torch.tensor([1.0, 0.55]), 0.16
NIGHT, LINES, COLOURS = "#0d1520", "#22303d", ("#6fd3ff", "#1f7fb8", "#1d2935", "#b8601f", "#ffc078")


def pond(generator: torch.Generator) -> torch.Tensor:
    """Points spread evenly over a rectangle with a round hole: each is the candidate farthest from the others."""
    points = START[None]
    while len(points) < NODES:
        candidates = torch.rand(2000, 2, generator=generator) * SIZE
        candidates = candidates[(candidates - ISLAND).norm(dim=1) > RADIUS]
        farthest = torch.cdist(candidates, points).amin(dim=1).argmax()
        points = torch.cat([points, candidates[farthest, None]])
    return points


def travel(points: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
    """The states that are drawn, [FRAMES, N]."""
    bump = torch.exp(-(points - START).square().sum(dim=1) / 0.008)[:, None]
    model = GWN(1, 1, 1, laplacian="physical", time=(FRAMES - 1) * EVERY * TAU, tau=TAU)
    with torch.no_grad():
        for encoder, value in ((model.phi0, 1.0), (model.phi1, 0.0)):  # X(0) is the bump, and its velocity is zero
            encoder.first.weight.fill_(value)
            encoder.first.bias.zero_()
    return model.trajectory(bump, edge_index)[::EVERY, :, 0]


def main(target: Path) -> None:
    points = pond(torch.Generator().manual_seed(1))
    neighbours = torch.as_tensor(cKDTree(points).query(points, NEIGHBOURS + 1)[1][:, 1:])
    edge_index = torch.stack([torch.arange(NODES).repeat_interleave(NEIGHBOURS), neighbours.flatten()])
    edge_index = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    wave = travel(points, edge_index)

    figure = Figure(figsize=(7.2, 3.7), dpi=100, facecolor=NIGHT)
    canvas, axes = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))
    width, height = SIZE.tolist()
    axes.set(xlim=(-0.03, width + 0.03), ylim=(-0.03, height + 0.03), aspect="equal")
    axes.axis("off")
    axes.add_collection(LineCollection(points[edge_index.T].numpy(), colors=LINES, linewidths=0.5))
    dots = axes.scatter(*points.T, c=wave[0], cmap=LinearSegmentedColormap.from_list("wave", COLOURS), zorder=2)
    frames = []
    for state in wave:
        scale = float(state.abs().quantile(0.985).clamp(min=0.05))  # a ring that widens loses height; colours follow
        dots.set_clim(-scale, scale)
        dots.set_array(state.numpy())
        dots.set_sizes((8 + 36 * (state / scale).abs().clamp(max=1)).numpy())
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
    palette = frames[len(frames) // 2].quantize(40)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=60, loop=0, optimize=True)
    print(f"{target}: {len(frames)} frames, {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(__file__).parents[1] / "docs" / "images" / "wave.gif")
