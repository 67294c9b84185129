"""The networks in the manners of scikit-learn: fit on the nodes whose class is known, predict the others.

What `fit` is given becomes the two tables of the command line (`gwn.data.in_memory`), is read, split and trained by the
same code, and is saved as the same run folder: `gwn predict` reads what `save` wrote, `load` what `gwn train` wrote.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gwn.data.dataset import Dataset, make_splits
from gwn.data.in_memory import TablePair, as_array, free_name, load_pair, parquet_bytes, table_pair, with_column
from gwn.data.origin import open_origin
from gwn.data.schema import FeatureSchema, column_summary
from gwn.data.tables import read_table
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import read_json, write_atomic, write_json
from gwn.models import ModelSpec, model_spec
from gwn.registry import require_known
from gwn.training import Experiment, TrainConfig, TrainedModel, load_trained, run_experiment
from gwn.training.config import effective_settings
from gwn.training.predict import OWN, answers

NODES_FILE, EDGES_FILE = OWN
ESTIMATOR_FILE = "estimator.json"
AUTO = "auto"


class WaveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Node classification as a scikit-learn estimator.

    model         a name of `gwn models`, or "auto": the best on validation of a comparison within `time`
    graph         nodes and edges for `fit(ids, y)` and `predict(ids)`, as `cross_val_score` calls them: a pair, or a
                  dictionary of what `fit` takes ("nodes", "edges", "id", "weight", ...); the nodes without their class
    time          seconds for "auto"
    runs          so many networks, each with its own seed and validation nodes; probabilities are their mean
    validation    share of the labelled nodes on which the epoch is chosen; all others are trained on
    settings      settings of the model and of its training by name: see `gwn models NAME`
    epochs        at most this many; None for the usual number
    random_state  the same number gives the same predictions; with "auto" only where the time allows the same trials
    device        "auto", "cpu", "cuda" or "mps"
    dtype         "float32" or "float64"
    verbose       1 prints how the tables were read and what was chosen

    After `fit`: `classes_`, `n_features_in_`, `feature_names_in_` (of a table), `model_` and `settings_` (what was
    trained), `graph_` (a `Graph`, as it was read), `columns_` (what every column of the nodes became), `result_` (the
    record of the runs), `comparison_` (of "auto").
    """

    def __init__(
        self,
        model: str = AUTO,
        *,
        graph: Any = None,
        time: float = 60.0,
        runs: int = 1,
        validation: float = 0.2,
        settings: Mapping[str, Any] | None = None,
        epochs: int | None = None,
        random_state: Any = 0,
        device: str = "auto",
        dtype: str = "float32",
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.graph = graph
        self.time = time
        self.runs = runs
        self.validation = validation
        self.settings = settings
        self.epochs = epochs
        self.random_state = random_state
        self.device = device
        self.dtype = dtype
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        edges: Any = None,
        *,
        label: str | None = None,
        id: str | None = None,
        weight: str | None = None,
        source: str | None = None,
        target: str | None = None,
        drop: Sequence[str] = (),
        text: Sequence[str] = (),
        features: str | None = None,
        directed: bool = False,
    ) -> WaveClassifier:
        """Train on the nodes whose class is known.

        `fit(nodes, edges, label="topic")` takes the class from a column, `fit(X, y, edges=edges)` from `y`. A class is
        unknown where the cell is empty, and where `y` is -1, NaN, None or "".

        X       nodes: a pandas or polars data frame or any other Arrow table, a NumPy, PyTorch or SciPy matrix, a path
                to CSV or Parquet; or a networkx graph or PyG `Data`, which bring their edges. Node ids with `graph`
        y       one class a node; the edges, where `label` is given
        edges   a table or path likewise, node pairs [2, E] or [E, 2], or a SciPy adjacency matrix; None for none
        label, id, weight, source, target, drop, text, features, directed   as in `Graph.from_tables`
        """
        names = ("id", "weight", "source", "target", "drop", "text", "features", "directed")
        given = (id, weight, source, target, drop, text, features, directed)
        reading: dict[str, Any] = dict(zip(names, given, strict=True))
        seed = int(check_random_state(self.random_state).randint(2**31)) if self._draws else self.random_state
        if label is not None and edges is None:
            y, edges = None, y
        if self.graph is not None:
            if edges is not None or label is not None:
                raise GWNError("the graph was given to the constructor; fit takes node ids and their classes alone")
            nodes, edges, reading = _graph_argument(self.graph)
            pair = table_pair(nodes, edges)
            values = _spread(load_pair(pair, **reading)[0].graph, X, y)
        else:
            pair = table_pair(X, edges)
            if edges is None and not pair.edges.rows:
                warnings.warn("no edges were given: every node is predicted from its own features", stacklevel=2)
            if label is not None:
                require_known("label column", label, pair.nodes.columns)
            values = _values(pair.nodes.columns[name] if (name := label or pair.label_column) and y is None else y)
        self.classes_, pair = _with_classes(pair, values, label)
        self.pair_, self.reading_ = pair, reading
        dataset, self.schema_ = load_pair(pair, **reading)
        self._remember(dataset)
        if self.verbose:
            ids = "the row number from 0" if self.schema_.id_column is None else repr(self.schema_.id_column)
            print(f"ids: {ids}; edges: {self.schema_.source_column!r} to {self.schema_.target_column!r}")
            print(self.columns_.to_string(index=False))
        with torch.random.fork_rng(devices=[]):
            self._train(dataset, int(seed))
        return self

    @property
    def _draws(self) -> bool:
        """Whether the seed has to be drawn."""
        return not isinstance(self.random_state, (int, np.integer))

    def predict(self, X: Any = None, edges: Any = None, *, nodes: Any = None) -> NDArray[Any]:
        """The class of every node asked for: see `predict_proba`."""
        best = self.predict_proba(X, edges, nodes=nodes).argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def predict_proba(self, X: Any = None, edges: Any = None, *, nodes: Any = None) -> NDArray[np.float64]:
        """Probabilities [n, classes] in the order of `classes_`.

        X, nodes   nothing: every node of the graph that it was fitted on; one-dimensional: these ids of it; a table or
                   matrix: these nodes, which with `edges` are a graph of their own
        edges      of a new graph; `edges=[]` says that it has none
        """
        check_is_fitted(self, "trained_")
        X = nodes if nodes is not None else X
        if X is None and edges is not None:
            raise GWNError("edges alone were given; give the nodes too: predict(nodes=..., edges=...)")
        if X is None:
            return self._probabilities(None)
        if edges is None and (self.graph is not None or _is_column(X)):
            return self._probabilities(None)[_positions(self.graph_, X)]
        return self._probabilities(self._other_graph(X, edges))

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over those of the nodes whose class in `y` is known."""
        predicted, values = self.predict(X), _values(y)
        if len(values) != len(predicted):
            raise GWNError(f"{len(predicted)} nodes but {len(values)} classes were given")
        known = ~_unknown(values)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        true, found = ([_text(value) for value in some] for some in (values[known], predicted[known]))
        return float(accuracy_score(true, found, sample_weight=weights))

    def save(self, folder: str | Path) -> Path:
        """Write the run folder that `gwn predict` and `load` read; tables that were in memory are part of it."""
        check_is_fitted(self, "trained_")
        for name, content in self.files_.items():
            write_atomic(Path(folder) / name, content)
        return Path(folder)

    @classmethod
    def load(cls, folder: str | Path) -> WaveClassifier:
        """A fitted estimator from the folder of `save` or of `gwn train`; all its runs answer together."""
        folder = Path(folder)
        first = load_trained(folder)
        if first.task != "classification":
            raise GWNError(f"{folder} predicts numbers and no classes; use gwn predict {folder}")
        origin, training = first.origin, first.config["training"]
        about: dict[str, Any] = {"classes": first.class_names, "reading": {}, "matrix": False}
        if (folder / ESTIMATOR_FILE).is_file():
            about = read_json(folder / ESTIMATOR_FILE)
        given = {"model": first.config["model"], "settings": dict(first.config["settings"])}
        given |= {"epochs": training["epochs"], "random_state": first.config["seed"], "dtype": training["dtype"]}
        found = cls(**about.get("parameters", given))
        found.classes_ = np.array(about["classes"])
        dataset = open_origin(origin)
        if dataset.tables is not None:
            found.schema_ = dataset.tables.schema
            nodes, edges = dataset.tables.table, read_table(Path(origin["edges"]))
            found.pair_ = TablePair(nodes=nodes, edges=edges, matrix=about["matrix"])
            found.reading_ = {**about["reading"], "directed": dataset.directed}
        found._remember(dataset)
        found._take(folder)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.string = True
        return tags

    def _remember(self, dataset: Dataset) -> None:
        """What scikit-learn wants to know of the features, and the graph as it was read."""
        self.dataset_, self.graph_ = dataset, dataset.graph
        self.n_features_in_ = dataset.graph.num_features
        if dataset.tables is None:
            return
        schema, table = dataset.tables.schema, dataset.tables.table
        self.columns_ = pd.DataFrame(column_summary(schema, table))
        used = [name for name in table.columns if name not in _special(schema, self.pair_, self.reading_)]
        self.n_features_in_ = len(used)
        if not self.pair_.matrix:
            self.feature_names_in_ = np.array(used, dtype=object)

    def _train(self, dataset: Dataset, seed: int) -> None:
        """Choose the model where that is asked for, train all runs, and keep what they wrote."""
        spec, of_model, of_training = self._chosen(dataset, seed)
        machine = {"device": self.device, "dtype": self.dtype}
        if self.epochs is not None:
            of_training = {**of_training, "epochs": self.epochs}
        self.model_, self.settings_ = spec.name, effective_settings(spec, of_model)
        if not 0 < self.validation < 1:
            raise GWNError(f"validation is the share of nodes to validate on, between 0 and 1; got {self.validation}")
        percent = min(99, max(1, round(100 * self.validation)))
        origin = {"nodes": NODES_FILE, "edges": EDGES_FILE, "directed": dataset.directed}
        experiment = Experiment(
            dataset=replace(
                dataset, files={NODES_FILE: self.pair_.nodes.sha256(), EDGES_FILE: self.pair_.edges.sha256()}
            ),
            model=spec,
            settings=self.settings_,
            config=TrainConfig(**{**spec.training, **machine, **of_training}),
            splits=make_splits(dataset, f"validate-{percent}", self.runs, seed),
            seed=seed,
            origin={**origin, "schema": self.schema_.to_json()},
        )
        with tempfile.TemporaryDirectory() as root:
            self.result_, folder = run_experiment(experiment, Path(root), checkpoint_seconds=float("inf"))
            if not self.result_["summary"]["finished"]:
                raise GWNError(self.result_["runs"][0]["reason"])
            for name, table in ((NODES_FILE, self.pair_.nodes), (EDGES_FILE, self.pair_.edges)):
                write_atomic(folder / name, parquet_bytes(table))
            about = {"classes": self.classes_.tolist(), "matrix": self.pair_.matrix, "reading": self.reading_}
            parameters = {name: value for name, value in self.get_params().items() if name != "graph"}
            write_json(folder / ESTIMATOR_FILE, {**about, "parameters": {**parameters, "random_state": seed}})
            self._take(folder)
        if self.verbose:
            print(f"{spec.title}: validation {self.result_['summary']['val']['mean']:.3f}, {self.runs} run(s)")

    def _chosen(self, dataset: Dataset, seed: int) -> tuple[ModelSpec, dict[str, Any], dict[str, Any]]:
        """The model, its settings, and those of its training."""
        given = dict(self.settings or {})
        if self.model == AUTO:
            from gwn.compare import compare

            with tempfile.TemporaryDirectory() as root:
                fixed = [f"{name}={value}" for name, value in given.items()]
                self.comparison_ = compare(
                    dataset, seconds=float(self.time), seed=seed, root=Path(root), settings=fixed
                )
            best = self.comparison_.rows[0]
            return model_spec(best.model), dict(best.settings), dict(best.training)
        spec, known = model_spec(self.model), {field.name for field in fields(TrainConfig)}
        for name in given:
            require_known(f"setting of {spec.name}", name, {*spec.settings(), *known})
        of_model = {name: value for name, value in given.items() if name in spec.settings()}
        return spec, of_model, {name: value for name, value in given.items() if name not in of_model}

    def _take(self, folder: Path) -> None:
        """The trained networks of a run folder, and its files to be saved again."""
        records = sorted(path.stem for path in folder.glob("run-*.json"))
        runs = [read_json(folder / f"{name}.json") for name in records]
        self.trained_ = [load_trained(folder, run["run"]) for run in runs if run["status"] == "ok"]
        self.model_, self.settings_ = self.trained_[0].config["model"], self.trained_[0].config["settings"]
        self.files_ = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}

    def _probabilities(self, pair: TablePair | None) -> NDArray[np.float64]:
        """The mean over the runs, each of which encodes the tables as it learnt to; None for the fitted graph."""
        found = [answers(trained, self._seen_by(trained, pair), self.device) for trained in self.trained_]
        names = self.trained_[0].class_names
        in_order = [names.index(_text(kind)) for kind in self.classes_]
        mean: NDArray[np.float64] = np.mean(found, axis=0)[:, in_order]
        return mean

    def _seen_by(self, trained: TrainedModel, pair: TablePair | None) -> Graph:
        """The graph as a run sees it."""
        schema = None if trained.schema is None else FeatureSchema.from_json(trained.schema)
        if pair is not None:
            if schema is None:
                raise GWNError("this model was not trained on tables, so it cannot read others; call predict()")
            return load_pair(pair, directed=self.dataset_.directed, schema=schema)[0].graph
        tables = self.dataset_.tables
        return self.graph_ if tables is None or schema is None else tables.encode(self.graph_, schema)

    def _other_graph(self, X: Any, edges: Any) -> TablePair | None:
        """Nodes and edges as tables; None where they are those of the fitted graph."""
        pair = table_pair(X, edges)
        if self.pair_.matrix:
            width = len(pair.nodes.columns) - 1
            if not pair.matrix or width != self.n_features_in_:
                raise GWNError(
                    f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                    f"input"
                )
        if edges is not None or pair.edges.rows or not self.pair_.edges.rows:
            return pair
        same = all(
            name in pair.nodes.columns and pair.nodes.columns[name].equals(self.pair_.nodes.columns[name])
            for name in (column.name for column in self.schema_.columns)
        )
        if not same or pair.nodes.rows != self.pair_.nodes.rows:
            raise GWNError(
                "these nodes are not the ones that it was fitted on, and no edges were given; give them with "
                "edges=..., edges=[] for none, or ask for nodes of the fitted graph by their ids"
            )
        return None


def _graph_argument(graph: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Nodes, edges and how to read them, from what the constructor was given."""
    if isinstance(graph, Mapping):
        rest = dict(graph)
        return rest.pop("nodes", None), rest.pop("edges", None), rest
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        return graph[0], graph[1], {}
    return graph, None, {}


def _special(schema: FeatureSchema, pair: TablePair, reading: Mapping[str, Any]) -> set[str | None]:
    """Columns of the node table that are not features."""
    dropped = reading.get("drop") or ()
    dropped = [dropped] if isinstance(dropped, str) else dropped
    return {schema.id_column, schema.label_column, pair.index_column, *dropped}


def _is_column(X: Any) -> bool:
    """Whether these are single values, such as ids, and not rows."""
    if isinstance(X, (str, Path, Mapping)) or hasattr(X, "columns") or hasattr(X, "tocsr"):
        return False
    return as_array(X).ndim == 1


def _positions(graph: Graph, ids: Any) -> NDArray[np.int64]:
    """Where these ids are among the nodes."""
    known = {name: number for number, name in enumerate(graph.node_ids or map(str, range(graph.num_nodes)))}
    wanted = [_text(value) for value in as_array(ids).reshape(-1)]
    missing = [name for name in wanted if name not in known]
    if missing:
        raise GWNError(
            f"the graph has no node {missing[0]!r}; its ids are such as {next(iter(known))!r}. "
            "Reshape your data to one row a node if these are features"
        )
    return np.array([known[name] for name in wanted], dtype=np.int64)


def _spread(graph: Graph, ids: Any, y: Any) -> NDArray[Any]:
    """The classes of some nodes as those of all, None for the others."""
    values, at = _values(y), _positions(graph, ids)
    if len(values) != len(at):
        raise GWNError(f"{len(at)} node ids but {len(values)} classes were given")
    spread = np.full(graph.num_nodes, None, dtype=object)
    spread[at] = values
    return spread


def _values(y: Any) -> NDArray[Any]:
    """Classes as a one-dimensional array; whole numbers that a missing one made floating are whole again."""
    if y is None:
        raise GWNError("requires y to be passed, but the target y is None; give y, or name the column with label=...")
    values = y.to_numpy(zero_copy_only=False) if isinstance(y, (pa.Array, pa.ChunkedArray)) else as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        expected = "A column-vector y was passed when a 1d array was expected; its only column is taken"
        warnings.warn(expected, DataConversionWarning, stacklevel=3)
        values = values[:, 0]
    if values.ndim != 1:
        raise GWNError(
            f"y has the shape {values.shape}; several classes a node are not supported, give one; "
            "edges are given as fit(nodes, edges, label=...) or fit(X, y, edges=...)"
        )
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        if np.isinf(values).any() or (finite != np.floor(finite)).any():
            raise GWNError(
                "Unknown label type: continuous; y holds numbers that are no classes. "
                "To predict numbers, use gwn train --task regression"
            )
        if finite.size < values.size:
            whole = np.full(values.size, None, dtype=object)
            whole[np.isfinite(values)] = finite.astype(np.int64)
            return whole
    return values


def _unknown(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a class is not known: -1, NaN, None or an empty text."""
    if values.dtype.kind in "iu":
        return np.asarray(values == -1, dtype=bool)
    unknown = np.asarray(pd.isna(values), dtype=bool)
    if values.dtype.kind in "OUT":
        unknown |= np.array([isinstance(value, str) and not value.strip() for value in values], dtype=bool)
        unknown |= np.array([not isinstance(value, (str, bool)) and value == -1 for value in values], dtype=bool)
    return unknown


def _text(value: Any) -> str:
    """A class or an id as it stands in a table."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _with_classes(pair: TablePair, values: NDArray[Any], label: str | None) -> tuple[NDArray[Any], TablePair]:
    """The different classes in order, and the tables with a column of them, empty where they are not known."""
    if len(values) != pair.nodes.rows:
        raise GWNError(f"{pair.nodes.rows} nodes but {len(values)} classes were given: inconsistent numbers of samples")
    known = ~_unknown(values)
    try:
        classes = np.unique(values[known] if values.dtype != object else np.array(values[known].tolist()))
    except TypeError:
        raise GWNError("the classes are of several types, such as text and numbers; make them one") from None
    if len(classes) < 2:
        held = f"only one class, {_text(classes[0])!r}" if len(classes) else "no class that is known"
        raise GWNError(f"y has {held}; the classifier needs at least two classes")
    texts = [_text(value) if is_known else None for value, is_known in zip(values, known, strict=True)]
    if len({_text(kind) for kind in classes}) < len(classes):
        raise GWNError("two classes look the same in a table, apart from blanks; rename one")
    for name, column in pair.nodes.columns.items():
        if name == label or name == pair.label_column or not pa.types.is_string(column.type):
            continue
        cells = pair.nodes.text(name).to_pylist()
        if all(cell == text for cell, text in zip(cells, texts, strict=True) if text is not None):
            raise GWNError(f"column {name!r} of the nodes holds the very classes to be learnt; leave it out with drop")
    name = label or pair.label_column or free_name(pair.nodes, "label")
    nodes = with_column(pair.nodes, name, pa.array(texts, pa.string()))
    return classes, replace(pair, nodes=nodes, label_column=name)
