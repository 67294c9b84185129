"""The networks in the manners of scikit-learn: fit on the nodes whose class or number is known, predict the others.

What `fit` is given becomes the two tables of the command line (`gwn.data.in_memory`), is read, split and trained by the
same code, and is saved as the same run folder: `gwn predict` reads what `save` wrote, `load` what `gwn train` wrote.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gwn.data.dataset import Dataset, make_splits
from gwn.data.describe import (
    class_counts,
    describe,
    in_words,
    left_out,
    reading_in_words,
    suspicious_classes,
)
from gwn.data.edge_columns import WEIGHTS
from gwn.data.given_targets import (
    as_text,
    classes_in,
    classes_of,
    graph_argument,
    is_column,
    is_unknown,
    numbers_of_nodes,
    positions,
    require_same_order,
    spread,
    with_classes,
    with_numbers,
    words_for_nothing,
)
from gwn.data.in_memory import TablePair, in_python, load_pair, parquet_bytes, table_pair
from gwn.data.origin import open_origin
from gwn.data.schema import ASKED, WHOLE_NUMBER, FeatureSchema, column_summary
from gwn.data.tables import read_table
from gwn.data.telling import suspicious_column, telling_columns
from gwn.errors import GWNError, require_extra
from gwn.graph import Graph
from gwn.io import read_json, require_shape, write_atomic, write_json
from gwn.models import ModelSpec, model_spec
from gwn.registry import require_known
from gwn.training import Experiment, TrainConfig, TrainedModel, load_trained, run_experiment
from gwn.training.config import effective_settings
from gwn.training.predict import OWN, answers, changed_files, find_run_folder

NODES_FILE, EDGES_FILE = OWN
ESTIMATOR_FILE = "estimator.json"
AUTO = "auto"
MOST_SAID = 5
LOSES = r"missing therefore|which no cell proves|^(?!every cell is |it is empty|no two ).*left out"
"""What notes about columns say where something is lost or guessed."""

WHOLE, NUMBER = (int, np.integer), (int, float, np.integer, np.floating)
PARAMETERS: dict[str, tuple[tuple[type[Any], ...], str]] = {
    "epochs": ((*WHOLE, type(None)), "a whole number, or None for the usual one"),
    "runs": (WHOLE, "a whole number"),
    "time": (NUMBER, "a number of seconds"),
    "validation": (NUMBER, "a share, between 0 and 1"),
    "settings": ((Mapping, type(None)), "a dictionary, or None"),
    "device": ((str,), "a name such as 'cpu'"),
}
"""Parameter of an estimator -> the types it may have, and that in words."""

Estimator = TypeVar("Estimator", bound="NodeEstimator")


class NodeEstimator(BaseEstimator):  # type: ignore[misc]
    """What `WaveClassifier` and `WaveRegressor` share.

    model         a name of `gwn models`, or "auto": the best on validation of a comparison within `time`
    graph         nodes and edges for `fit(ids, y)` and `predict(ids)`, as `cross_val_score` calls them: a pair, or a
                  dictionary of what `fit` takes ("nodes", "edges", "id", "weight", ...); the nodes without their class
    time          seconds for "auto"
    runs          so many networks, each with its own seed and validation nodes; probabilities are their mean
    validation    share of the labelled nodes on which the epoch is chosen; all others are trained on
    prior         "em", "validation" or "calibrated": correct for classes that are not as frequent elsewhere as among
                  the training nodes (see `gwn.training.prior`); "none": leave the answers as they are
    settings      settings of the model and of its training by name: see `gwn models NAME`
    epochs        at most this many; None for the usual number
    random_state  the same number gives the same predictions; with "auto" only where the time allows the same trials
    device        "auto", "cpu", "cuda" or "mps"
    dtype         "float32" or "float64"
    verbose       1 prints how the tables were read and what was chosen; 0 warns, once, of what was lost or guessed

    After `fit`: `n_features_in_`, `feature_names_in_` (of a table), `model_` and `settings_` (what was trained),
    `graph_` (a `Graph`, as it was read), `columns_` (what every column of the nodes became), `result_` (the record of
    the runs), `comparison_` (of "auto").
    """

    task: ClassVar[str]

    def __init__(
        self,
        model: str = AUTO,
        *,
        graph: Any = None,
        time: float = 60.0,
        runs: int = 1,
        validation: float = 0.2,
        prior: str = "none",
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
        self.prior = prior
        self.settings = settings
        self.epochs = epochs
        self.random_state = random_state
        self.device = device
        self.dtype = dtype
        self.verbose = verbose

    def fit(
        self: Estimator,
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
        skip_unknown: bool = False,
    ) -> Estimator:
        """Train on the nodes whose class or number is known.

        `fit(nodes, edges, label="topic")` takes it from a column, `fit(X, y, edges=edges)` from `y`. It is unknown
        where the cell is empty and where `y` is NaN, None or ""; a class also where `y` is -1, with a warning. In a
        column -1 is a class, as it is on the command line.

        X       nodes: a pandas or polars data frame or any other Arrow table, a NumPy, PyTorch or SciPy matrix, a path
                to CSV or Parquet; or a networkx graph or PyG `Data`, which bring their edges. Node ids with `graph`
        y       one class or number a node; the edges, where `label` is given
        edges   a table or path likewise, node pairs [2, E] or [E, 2], or a SciPy adjacency matrix; None for none
        label, id, weight, source, target, drop, text, features, directed, skip_unknown   as in `Graph.from_tables`
        """
        names = ("id", "weight", "source", "target", "drop", "text", "features", "directed", "skip_unknown")
        given = (id, weight, source, target, drop, text, features, directed, skip_unknown)
        reading: dict[str, Any] = dict(zip(names, given, strict=True))
        self._require_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31)) if self._draws else self.random_state
        if label is not None and edges is None:
            y, edges = None, y
        if self.graph is not None:
            if edges is not None or label is not None:
                raise GWNError("the graph was given to the constructor; fit takes node ids and y alone")
            nodes, edges, reading = graph_argument(self.graph)
            pair = table_pair(nodes, edges, self.task)
            y = spread(load_pair(pair, **reading)[0].graph, X, y)
        else:
            pair = table_pair(X, edges, self.task)
            if edges is None and not pair.edges.rows:
                warnings.warn("no edges were given: every node is predicted from its own features", stacklevel=2)
            require_same_order(X, y)
            if label is not None:
                require_known("label column", label, pair.nodes.columns)
        dropped = reading.get("drop") or ()
        self.pair_ = self._with_targets(pair, y, label, [dropped] if isinstance(dropped, str) else dropped)
        self.reading_ = {**reading, "task": self.task}
        try:
            dataset, self.schema_ = load_pair(self.pair_, **self.reading_)
        except GWNError as error:  # the task is the class itself
            said = str(error).replace("leave out task='regression'", "use WaveClassifier")
            raise GWNError(said.replace("say task='regression'", "use WaveRegressor")) from None
        self._remember(dataset)
        telling = [] if dataset.tables is None else telling_columns(dataset.tables, dataset.graph)
        columns = [in_python(suspicious_column(name, self.task)) for name in telling]
        for line in [*suspicious_classes(class_counts(dataset.graph)), *columns]:
            warnings.warn(line, stacklevel=2)
        weights = [name for name in self.schema_.unused_of_edges if name.lower() in WEIGHTS]
        if weights and self.schema_.weight_column is None:
            warnings.warn(
                f"column {weights[0]!r} of the edges is not used; weight={weights[0]!r} uses it", stacklevel=2
            )
        if not self.verbose and (lost := _lost(dataset, self.schema_)):
            some = "; ".join(lost[:MOST_SAID]) + (f"; and {len(lost) - MOST_SAID} more" if lost[MOST_SAID:] else "")
            warnings.warn(f"not everything was read as it stands: {some} (verbose=1 prints all of it)", stacklevel=2)
        if self.verbose:
            print(in_python(reading_in_words(self.schema_, pair.nodes.path.name, pair.edges.path.name)))
            print(self.columns_.to_string(index=False))
            print(*map(in_python, in_words(describe(dataset))), sep="\n")
        with torch.random.fork_rng(devices=[]):
            self._train(dataset, int(seed))
        return self

    def _require_parameters(self) -> None:
        """Refuse a parameter of a wrong type by its name, before the tables are read."""
        for name, (kinds, allowed) in PARAMETERS.items():
            if not isinstance(value := getattr(self, name), kinds):
                raise GWNError(f"{name} is {allowed}; got {str(value)[:40]!r}, {type(value).__name__}")
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise GWNError(
                f"random_state is a whole number from 0, a RandomState or None; got {str(self.random_state)[:40]!r}"
            ) from None

    @property
    def _draws(self) -> bool:
        """Whether the seed has to be drawn."""
        return not isinstance(self.random_state, (int, np.integer))

    @abstractmethod
    def _with_targets(self, pair: TablePair, y: Any, label: str | None, drop: Sequence[str]) -> TablePair:
        """The tables with a column of what is to be learnt, from `y` or from the column of this name."""

    @abstractmethod
    def _in_order(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """The networks' answers [n, c] as the estimator gives them."""

    def _answers(self, X: Any, edges: Any, nodes: Any, skip_unknown: bool) -> NDArray[np.float64]:
        """The mean of the runs' answers, [n, c], about the nodes asked for: see `WaveClassifier.predict_proba`."""
        check_is_fitted(self, "trained_")
        X = nodes if nodes is not None else X
        if X is None and edges is not None:
            raise GWNError("edges alone were given; give the nodes too: predict(nodes=..., edges=...)")
        if X is None:
            return self._mean_of_runs(None)
        if edges is None and (self.graph is not None or is_column(X)):
            return self._mean_of_runs(None)[positions(self.graph_, X)]
        return self._mean_of_runs(self._other_graph(X, edges), skip_unknown)

    def save(self, folder: str | Path) -> Path:
        """Write the run folder that `gwn predict` and `load` read; tables that were in memory are part of it."""
        check_is_fitted(self, "trained_")
        for name, content in self.files_.items():
            write_atomic(Path(folder) / name, content)
        return Path(folder)

    @classmethod
    def load(cls: type[Estimator], folder: str | Path) -> Estimator:
        """A fitted estimator from the folder of `save` or of `gwn train`; all its runs answer together.

        The folder of `gwn compare` stands for its best model.
        """
        folder = find_run_folder(str(folder), Path("runs"))
        first = load_trained(folder)
        if first.task != cls.task:
            what, use = ("numbers", WaveRegressor) if first.task == "regression" else ("classes", WaveClassifier)
            raise GWNError(f"{folder} predicts {what}; use {use.__name__}.load")
        origin, training = first.origin, first.config["training"]
        about: dict[str, Any] = {"classes": first.class_names, "reading": {}, "matrix": False}
        if (folder / ESTIMATOR_FILE).is_file():
            about = _read_about(folder / ESTIMATOR_FILE, cls._get_param_names(), first.class_names)
        of_training = {name: value for name, value in training.items() if name not in ("epochs", "device", "dtype")}
        given = {"model": first.config["model"], "prior": of_training.pop("prior", "none")}
        given |= {"settings": {**first.config["settings"], **of_training}}  # a clone trains as the run did
        given |= {"epochs": training["epochs"], "random_state": first.config["seed"], "dtype": training["dtype"]}
        found = cls(**about.get("parameters", given))
        found._require_parameters()
        if first.task == "classification":
            found.classes_ = np.array(about["classes"])
        dataset = open_origin(origin)
        if changed := changed_files(first.config, dataset):
            warnings.warn(changed, stacklevel=2)
        if dataset.tables is not None:
            found.schema_ = dataset.tables.schema
            headed = "edges" not in found.schema_.no_header
            nodes, edges = dataset.tables.table, read_table(Path(origin["edges"]), header=headed)
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
        summary = column_summary(schema, table)
        self.columns_ = pd.DataFrame([{**row, "note": in_python(row["note"])} for row in summary])
        used = [name for name in table.columns if name not in _special(schema)]
        self.n_features_in_ = len(used)
        if not self.pair_.matrix:
            self.feature_names_in_ = np.array(used, dtype=object)

    def _train(self, dataset: Dataset, seed: int) -> None:
        """Choose the model where that is asked for, train all runs, and keep what they wrote."""
        spec, of_model, of_training = self._chosen(dataset, seed)
        machine = {"device": self.device, "dtype": self.dtype}
        if self.epochs is not None:
            of_training = {**of_training, "epochs": _plain(self.epochs)}
        self.model_, self.settings_ = spec.name, effective_settings(spec, of_model)
        if not 0 < self.validation < 1:
            raise GWNError(f"validation is the share of nodes to validate on, between 0 and 1; got {self.validation}")
        percent = min(99, max(1, round(100 * self.validation)))
        tables = {NODES_FILE: parquet_bytes(self.pair_.nodes), EDGES_FILE: parquet_bytes(self.pair_.edges)}
        origin = {"nodes": NODES_FILE, "edges": EDGES_FILE, "directed": dataset.directed}
        experiment = Experiment(
            dataset=replace(dataset, files={name: sha256(content).hexdigest() for name, content in tables.items()}),
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
            for name, content in tables.items():
                write_atomic(folder / name, content)
            about = {"matrix": self.pair_.matrix, "reading": self.reading_}
            if self.task == "classification":
                about["classes"] = self.classes_.tolist()
            parameters = {name: _plain(value) for name, value in self.get_params().items() if name != "graph"}
            write_json(folder / ESTIMATOR_FILE, {**about, "parameters": {**parameters, "random_state": seed}})
            self._take(folder)
        if self.verbose:
            print(f"{spec.title}: validation {self.result_['summary']['val']['mean']:.3f}, {self.runs} run(s)")

    def _chosen(self, dataset: Dataset, seed: int) -> tuple[ModelSpec, dict[str, Any], dict[str, Any]]:
        """The model, its settings, and those of its training."""
        given = {**({} if self.prior == "none" else {"prior": self.prior}), **_plain(self.settings or {})}
        if self.epochs is not None and "epochs" in given:
            raise GWNError("epochs is given twice, by itself and in settings; leave one of them out")
        if self.model == AUTO:
            require_extra(f'{type(self).__name__}(model="auto")', "optuna")
            from gwn.compare import compare

            with tempfile.TemporaryDirectory() as root:
                fixed = [f"{name}={value}" for name, value in given.items()]
                self.comparison_ = compare(
                    dataset, seconds=float(self.time), seed=seed, root=Path(root), settings=fixed
                )
            best = self.comparison_.best_model
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

    def _mean_of_runs(self, pair: TablePair | None, skip_unknown: bool = False) -> NDArray[np.float64]:
        """The mean over the runs, each of which encodes the tables as it learnt to; None for the fitted graph."""
        seen = (self._seen_by(trained, pair, skip_unknown) for trained in self.trained_)
        found = [answers(trained, graph, self.device) for trained, graph in zip(self.trained_, seen, strict=True)]
        for line in [] if pair is None else [*self.schema_.unlike(pair.nodes), *self.schema_.lost_cells(pair.nodes)]:
            warnings.warn(line, stacklevel=3)
        return self._in_order(np.mean(found, axis=0))

    def _seen_by(self, trained: TrainedModel, pair: TablePair | None, skip_unknown: bool) -> Graph:
        """The graph as a run sees it."""
        schema = None if trained.schema is None else FeatureSchema.from_json(trained.schema)
        if pair is not None:
            if schema is None:
                raise GWNError("this model was not trained on tables, so it cannot read others; call predict()")
            directed = self.dataset_.directed
            return load_pair(pair, directed=directed, schema=schema, skip_unknown=skip_unknown)[0].graph
        tables = self.dataset_.tables
        return self.graph_ if tables is None or schema is None else tables.encode(self.graph_, schema)

    def _other_graph(self, X: Any, edges: Any) -> TablePair | None:
        """Nodes and edges as tables; None where they are those of the fitted graph."""
        pair = table_pair(X, edges, self.task)
        if self.pair_.matrix:
            width = len(pair.nodes.columns) - 1
            if not pair.matrix or width != self.n_features_in_:
                raise GWNError(
                    f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                    f"input"
                )
        if edges is not None or pair.edges.rows or not self.pair_.edges.rows:
            return pair
        names = [column.name for column in self.schema_.columns]
        if (ids := self.schema_.id_column) is not None and ids in pair.nodes.columns:
            names.append(ids)  # rows of other ids are other nodes, whatever their features
        same = all(
            name in pair.nodes.columns and pair.nodes.columns[name].equals(self.pair_.nodes.columns[name])
            for name in names
        )
        if not same or pair.nodes.rows != self.pair_.nodes.rows:
            raise GWNError(
                "these nodes are not the ones that it was fitted on, and no edges were given; give them with "
                "edges=..., edges=[] for none, or ask for nodes of the fitted graph by their ids"
            )
        return None


class WaveClassifier(ClassifierMixin, NodeEstimator):  # type: ignore[misc]
    """Node classification as a scikit-learn estimator; its settings are those of `NodeEstimator`.

    After `fit` there is also `classes_`.
    """

    task = "classification"

    def predict(
        self, X: Any = None, edges: Any = None, *, nodes: Any = None, skip_unknown: bool = False
    ) -> NDArray[Any]:
        """The class of every node asked for: see `predict_proba`."""
        best = self.predict_proba(X, edges, nodes=nodes, skip_unknown=skip_unknown).argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def predict_proba(
        self, X: Any = None, edges: Any = None, *, nodes: Any = None, skip_unknown: bool = False
    ) -> NDArray[np.float64]:
        """Probabilities [n, classes] in the order of `classes_`.

        X, nodes       nothing: every node of the graph that it was fitted on; one-dimensional: these ids of it; a
                       table or matrix: these nodes, which with `edges` are a graph of their own
        edges          of a new graph; `edges=[]` says that it has none
        skip_unknown   leave out edges of the new graph that name nodes which it does not have
        """
        return self._answers(X, edges, nodes, skip_unknown)

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over those of the nodes whose class in `y` is known."""
        whole = not any(WHOLE_NUMBER.match(as_text(kind)) for kind in self.classes_)
        learnt = "-1" in map(as_text, self.classes_)
        predicted, values = self.predict(X), classes_of(y, whole=whole, minus_one=learnt)
        known = _known(predicted, ~is_unknown(values, minus_one=learnt))
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        true, found = ([as_text(value) for value in some] for some in (values[known], predicted[known]))
        return float(accuracy_score(true, found, sample_weight=weights))

    def _with_targets(self, pair: TablePair, y: Any, label: str | None, drop: Sequence[str]) -> TablePair:
        name = label or pair.label_column
        given = classes_in(pair.nodes, name) if name and y is None else y
        from_column = given is not y  # there -1 is a class, as it is on the command line
        if words := words_for_nothing(given, minus_one=from_column):
            warnings.warn(words, stacklevel=3)
        values = classes_of(given, minus_one=from_column)
        self.classes_, found = with_classes(pair, values, label, drop, minus_one=from_column)
        return found

    def _in_order(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        names = self.trained_[0].class_names
        in_order: NDArray[np.float64] = found[:, [names.index(as_text(kind)) for kind in self.classes_]]
        return in_order


class WaveRegressor(RegressorMixin, NodeEstimator):  # type: ignore[misc]
    """Numbers of nodes as a scikit-learn estimator; its settings are those of `NodeEstimator`."""

    task = "regression"

    def predict(
        self, X: Any = None, edges: Any = None, *, nodes: Any = None, skip_unknown: bool = False
    ) -> NDArray[np.float64]:
        """The number of every node asked for, in the units of `y`: asked as in `WaveClassifier.predict_proba`."""
        found: NDArray[np.float64] = self._answers(X, edges, nodes, skip_unknown)[:, 0]
        return found

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """R² over those of the nodes whose number in `y` is known."""
        predicted, values = self.predict(X), numbers_of_nodes(y)
        known = _known(predicted, ~np.isnan(values))
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(values[known], predicted[known], sample_weight=weights))

    def _with_targets(self, pair: TablePair, y: Any, label: str | None, drop: Sequence[str]) -> TablePair:
        if y is None and (label or pair.label_column):
            return replace(pair, label_column=label or pair.label_column)  # read as any column of numbers is
        return with_numbers(pair, numbers_of_nodes(y), label, drop)

    def _in_order(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        return found


def _read_about(path: Path, parameters: Sequence[str], class_names: Sequence[str]) -> dict[str, Any]:
    """What `save` wrote beside the run, refused where it is of another estimator or run."""
    about = read_json(path, again="save the model again")
    require_shape(about, {"reading": dict, "matrix": bool, "parameters": dict}, str(path))
    require_shape(about.get("classes", []), [(str, int, float)], f"classes in {path}")
    for name in about["parameters"]:
        require_known(f"parameter in {path}", name, parameters)
    if {as_text(kind) for kind in about.get("classes", [])} != set(class_names):
        raise GWNError(f"{path} has other classes than config.json beside it; it was edited: save the model again")
    return about


def _lost(dataset: Dataset, schema: FeatureSchema) -> list[str]:
    """Decisions about the tables by which something is lost or guessed, in Python's words.

    A column of one value says nothing, and an edge that is given in both directions is one edge: nothing is lost there.
    """
    notes = {column.name: column.note for column in schema.columns if column.note != ASKED}
    for name, note in ((schema.label_column, schema.label_note), (schema.weight_column, schema.weight_note)):
        if name is not None:
            notes[name] = note
    said = [in_python(f"column {name!r}: {note}") for name, note in notes.items() if re.search(LOSES, note)]
    counts = {what: count for what, count in dataset.dropped.items() if count and not what.startswith("repeated")}
    return said + ([left_out(counts)] if counts else [])


def _known(predicted: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which nodes count for a score; refuses a `y` of another length."""
    if len(known) != len(predicted):
        raise GWNError(f"{len(predicted)} nodes but {len(known)} values of y were given")
    return known


def _plain(value: Any) -> Any:
    """A parameter without the types of NumPy, in which a grid search gives it and JSON does not take it."""
    if isinstance(value, Mapping):
        return {name: _plain(held) for name, held in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _special(schema: FeatureSchema) -> set[str | None]:
    """Columns of the node table that are not features; the index of a data frame is left out as a column is."""
    return {schema.id_column, schema.label_column, *(column.name for column in schema.columns if column.note == ASKED)}
