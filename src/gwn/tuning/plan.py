"""What a search is: everything that decides what its trials mean, as one plain record, and the things it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from gwn.data import PUBLISHED, Dataset, Split, load_dataset, make_splits
from gwn.data.origin import open_origin
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import content_key, safe_name
from gwn.models import ModelSpec, model_spec
from gwn.training.config import TrainConfig, parse_settings
from gwn.tuning.spaces import SPACES, Space, choose_space

SEARCH_SEED = 1000
"""The first seed of a search; final runs have 0, 1, ..., which no search ever sees."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A search: equal plans are one study, whoever works on it.

    data, space_key   hashes of the graph and of the search space
    search_splits     how many splits a trial is scored on
    seed              of the sampler
    settings          fixed settings of the model
    training          fixed settings of the training
    origin            where the graph is opened again, None for a dataset by its name; what it is, `data` says
    """

    dataset: str
    data: str
    model: str
    split: str
    space: str
    space_key: str
    search_splits: int
    seed: int
    settings: Mapping[str, Any]
    training: Mapping[str, Any]
    origin: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The study's name, with the first name that the model had: a renamed model goes on with its old studies."""
        first = (*model_spec(self.model).former_names, self.model)[0]
        described = {key: value for key, value in self.describe().items() if key != "space_key"} | {"model": first}
        return f"{safe_name(self.dataset)}-{first}-{self.split}-{content_key(described)}"

    @property
    def published(self) -> bool:
        """Whether the splits are published ones, which search and final runs then have to share."""
        return self.split in PUBLISHED

    @property
    def search_seeds(self) -> range:
        return range(SEARCH_SEED, SEARCH_SEED + self.search_splits)

    def describe(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "origin"}

    @property
    def source(self) -> dict[str, Any]:
        """Where the graph is opened again, also where that is simply its name."""
        return {"dataset": self.dataset, "directed": False} if self.origin is None else dict(self.origin)


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """A plan with its data, model, space and splits at hand; made once in every process."""

    plan: Plan
    dataset: Dataset
    model: ModelSpec
    space: Space
    splits: Sequence[Split]
    graph: Graph
    """The dataset's, already where and as precise as it is trained with."""

    @property
    def fixed(self) -> dict[str, Any]:
        return {**self.plan.settings, **self.plan.training}

    def on(self, split: Split) -> Graph:
        """`graph` as a training on this split sees it."""
        seen = self.dataset.on(split)
        return self.graph if seen is self.dataset.graph else seen.to(self.graph.x.device, self.graph.x.dtype)

    def threads(self, jobs: int) -> int:
        """CPU threads for one of `jobs` workers."""
        config = TrainConfig(**self.plan.training)
        return min(config.choose_threads(self.graph), config.threads or max(1, torch.get_num_threads() // jobs))


def plan_search(
    dataset: str | Dataset,
    model: str,
    *,
    origin: Mapping[str, Any] | None = None,
    split: str | None = None,
    space: str | None = None,
    search_splits: int = 3,
    seed: int = 0,
    assignments: Sequence[str] = (),
) -> Search:
    """A new plan from what a user says, everything checked.

    dataset       its name, or itself with the `origin` from which another process opens it again
    assignments   `name=value` for settings that are fixed rather than searched
    """
    spec = model_spec(model)
    space = choose_space(spec, space).name
    settings, training = parse_settings(spec, assignments)
    TrainConfig(**training)
    if search_splits < 1 or seed < 0:
        raise GWNError(f"a search needs at least one split and a seed from 0; got {search_splits} and {seed}")
    data = load_dataset(dataset) if isinstance(dataset, str) else dataset
    chosen = SPACES[space].on(data)
    splits = make_splits(data, split, search_splits, SEARCH_SEED)
    plan = Plan(
        dataset=data.name,
        data=data.graph.content_hash(),
        model=spec.name,
        split=splits[0].kind,
        space=chosen.name,
        space_key=chosen.key(spec),
        search_splits=search_splits,
        seed=seed,
        settings=settings,
        training=training,
        origin=origin,
    )
    return _search(plan, data, splits)


def reopen_search(plan: Plan) -> Search:
    """The same search in another process."""
    data = open_origin(plan.source)
    if data.graph.content_hash() != plan.data:
        raise GWNError(f"the files of {plan.dataset} have changed since the search began; start it again")
    return _search(plan, data, make_splits(data, plan.split, plan.search_splits, SEARCH_SEED))


def _search(plan: Plan, data: Dataset, splits: Sequence[Split]) -> Search:
    config = TrainConfig(**plan.training)
    return Search(
        plan=plan,
        dataset=data,
        model=model_spec(plan.model),
        space=SPACES[plan.space].on(data),
        splits=splits,
        graph=data.graph.to(config.torch_device, config.torch_dtype),
    )
