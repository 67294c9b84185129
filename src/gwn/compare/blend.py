"""What a comparison saves: one model or a few, each as the mean of its final runs, weighed by validation alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from gwn.compare.verdict import listed
from gwn.data import Dataset, Split
from gwn.training.metrics import METRICS
from gwn.training.outputs import Floats
from gwn.training.predict import answers, load_trained
from gwn.training.result import paired_gain, summarise

Classes = NDArray[np.int64]
BLEND = "blend"
"""Its name among the models."""
CANDIDATES = 4
"""So many models may be blended: the best on validation."""
ROUNDS = 12
"""Each gives a twelfth of the weight to one model."""


@dataclass(frozen=True, kw_only=True)
class Blend:
    """Weights by model, the largest first, and what they earn; a single model has all the weight.

    val, test   a score for each final split: of validation with the weights that the other splits choose, of test with
                those that the validation nodes choose which are not among its test nodes
    together    the score of all runs together and its 95 % interval: on the labelled nodes that no split has, if there
                are any (`aside`); else each of the `tested` nodes is answered by the mean of those runs that had it
                among their test nodes, which are fewer than all and so answer worse, with weights as for `test`
                (`weighed_apart`; records of before have no such entry, and one choice of weights for all nodes)
    """

    weights: Mapping[str, float]
    val: tuple[float, ...]
    test: tuple[float, ...]
    together: Mapping[str, Any]

    def title(self, titles: Mapping[str, str]) -> str:
        names = [titles[name] for name in self.weights]
        return names[0] if len(names) == 1 else f"Blend of {listed(names)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """What every candidate says about the nodes of one final split that it did not learn from: model -> [n, c].

    aside   about the labelled nodes that are in no part of any split
    """

    val: Mapping[str, Floats]
    test: Mapping[str, Floats]
    aside: Mapping[str, Floats]
    y_val: Classes
    y_test: Classes


def nodes_aside(dataset: Dataset, splits: Sequence[Split]) -> Classes:
    """The labelled nodes that no split has."""
    left = dataset.graph.labelled.cpu().clone()
    for split in splits:
        left[torch.cat([split.train, split.val, split.test])] = False
    return left.nonzero().flatten().numpy()


def listen(dataset: Dataset, splits: Sequence[Split], folders: Mapping[str, Path]) -> list[Said]:
    """The answers of the final runs in these folders, by model."""
    found, y = [], dataset.graph.labels.cpu().numpy()
    aside = nodes_aside(dataset, splits)
    for number, split in enumerate(splits):
        graph = dataset.on(split)
        said = {name: answers(load_trained(folder, number), graph) for name, folder in folders.items()}
        val, test = split.val.numpy(), split.test.numpy()
        found.append(
            Said(
                val={name: answer[val] for name, answer in said.items()},
                test={name: answer[test] for name, answer in said.items()},
                aside={name: answer[aside] for name, answer in said.items()},
                y_val=y[val],
                y_test=y[test],
            )
        )
    return found


def make_blend(dataset: Dataset, splits: Sequence[Split], folders: Mapping[str, Path]) -> Blend:
    """The weights that validation likes; all on the best model, where that is told apart as better there.

    The best of many models on validation owes a part of its score there to luck and to its epochs, which were chosen on
    the same nodes: a blend that is not told apart from it is taken.

    splits    final splits that every candidate was trained on
    folders   run folders of the candidates, the best on validation first
    """
    said, best = listen(dataset, splits, folders), {next(iter(folders)): 1.0}
    alone = _scores(dataset, said, [best] * len(said))
    weights = choose_weights(said)
    others = [choose_weights([*said[:place], *said[place + 1 :]] or said) for place in range(len(said))]
    blended = _scores(dataset, said, others)
    lost = paired_gain(alone, blended)
    if len(weights) == 1 or lost.kept or (lost.count == 1 and lost.mean > 0):
        weights, blended = best, alone
        unseen = [best] * len(said)
    else:
        unseen = [choose_weights(without_tested(said, splits, place)) for place in range(len(said))]
    y, asked = dataset.graph.labels.cpu().numpy(), np.zeros(dataset.graph.num_nodes)
    total, aside = np.zeros((asked.size, dataset.graph.num_classes)), nodes_aside(dataset, splits)
    for one, split, apart in zip(said, splits, unseen, strict=True):
        nodes = aside if aside.size else split.test.numpy()
        total[nodes] += mixed(one.aside, weights) if aside.size else mixed(one.test, apart)
        asked[nodes] += 1
    tested = np.flatnonzero(asked)
    mean = _score(dataset, total[tested] / asked[tested, None], y[tested])
    low, high = interval_of(dataset.metric, mean, y[tested])
    return Blend(
        weights=weights,
        val=tuple(blended),
        test=tuple(
            _score(dataset, mixed(one.test, apart), one.y_test) for one, apart in zip(said, unseen, strict=True)
        ),
        together={
            "mean": mean,
            "low": low,
            "high": high,
            "tested": int(tested.size),
            "aside": bool(aside.size),
            "weighed_apart": True,
        },
    )


def without_tested(said: Sequence[Said], splits: Sequence[Split], place: int) -> list[Said]:
    """What is said about validation, without the test nodes of split `place`: other splits validate on some of them.

    Its own validation nodes are left in any case, as a split tests none of them.
    """
    found = []
    for one, split in zip(said, splits, strict=True):
        kept = ~torch.isin(split.val, splits[place].test).numpy()
        val = {name: answer[kept] for name, answer in one.val.items()}
        found.append(replace(one, val=val, y_val=one.y_val[kept]))
    return found


def _scores(dataset: Dataset, said: Sequence[Said], weights: Sequence[Mapping[str, float]]) -> list[float]:
    """On the validation nodes of every split."""
    return [_score(dataset, mixed(one.val, chosen), one.y_val) for one, chosen in zip(said, weights, strict=True)]


def _score(dataset: Dataset, shares: Floats, y: Classes) -> float:
    return METRICS[dataset.metric](torch.from_numpy(shares).clamp_min(1e-300).log(), torch.from_numpy(y))


def interval_of(metric: str, score: float, y: Classes) -> tuple[float, float]:
    """The 95 % interval of one score on nodes of these classes; an area under the ROC curve is no share of them."""
    if metric == "roc-auc":
        first, second = np.bincount(y, minlength=2).tolist()
        return area_interval(score, first, second)
    of_shares = summarise([score, score], [y.size])
    assert of_shares is not None
    assert of_shares.low is not None
    assert of_shares.high is not None
    return of_shares.low, of_shares.high


def area_interval(area: float, first: int, second: int) -> tuple[float, float]:
    """The 95 % interval of an area A under the ROC curve, by the nodes of either class: all a with (A - a)² <= z² V(a).

    The variance is that of Hanley and McNeil (1982), with m nodes of the rarer class and n of the other:

        V(a) = (a (1 - a) + (m - 1) min(P, Q) + (n - 1) max(P, Q)) / (m n),
        P = a / (2 - a) - a²,   Q = 2 a² / (1 + a) - a²

    They have P with the positives, which is right for scores of exponential distributions. For normal ones and few
    negatives that covers as rarely as 56 %: here the rarer class is always the one that decides more. V at `a` and not
    at A gives a width to an area of 1, as in Wilson's interval of a share. On simulated scores of both kinds, 5 to 1980
    nodes of a class and areas of 0.6 to 0.995, it covers 92 to 100 %. On the logit of the area, this variance and
    DeLong's cover 46 and 29 % of areas of 0.995 with 20 positives of 2000.
    """
    rarer, other, z = min(first, second), max(first, second), float(ndtri(0.975))

    def beyond(guess: float, found: float) -> float:
        p, q = guess / (2 - guess) - guess**2, 2 * guess**2 / (1 + guess) - guess**2
        variance = guess * (1 - guess) + (rarer - 1) * min(p, q) + (other - 1) * max(p, q)
        return (found - guess) ** 2 - z**2 * variance / (rarer * other)

    def lower(found: float) -> float:  # just below it, as V is 0 at an area of 1
        return float(brentq(beyond, 0.0, found * (1 - 1e-9), args=(found,))) if found > 0 else 0.0

    return lower(area), 1 - lower(1 - area)  # V(a) = V(1 - a)


def choose_weights(said: Sequence[Said]) -> dict[str, float]:
    """Greedy selection with replacement (Caruana et al., 2004): a round adds the model that lowers the log loss most.

    The log loss is that of all validation nodes, of every split with the runs that were trained on it.
    """
    names = list(said[0].val)
    right = np.stack(
        [np.concatenate([one.val[name][np.arange(one.y_val.size), one.y_val] for one in said]) for name in names]
    )
    count = np.zeros(len(names))
    for _ in range(ROUNDS):
        so_far = count @ right
        losses = [-np.log(np.clip((so_far + each) / (count.sum() + 1), 1e-12, None)).mean() for each in right]
        count[int(np.argmin(losses))] += 1
    order = sorted((place for place in range(len(names)) if count[place]), key=lambda place: -count[place])
    return {names[place]: float(count[place] / ROUNDS) for place in order}


def mixed(said: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """The weighted mean of the models' answers."""
    found: Floats = np.tensordot(list(weights.values()), np.stack([said[name] for name in weights]), axes=1)
    return found
