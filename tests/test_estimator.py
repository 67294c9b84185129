"""The estimator keeps scikit-learn's manners, and shares its tables and its folders with the command line."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gwn import GWNError, WaveClassifier, WaveRegressor
from gwn.cli.main import main
from gwn.data.in_memory import in_python
from gwn.io import read_json, write_json

SIZE = 60
RNG = np.random.default_rng(7)
Y = np.arange(SIZE) % 3
X = np.column_stack([Y, np.roll(Y, 0) == 1, np.zeros(SIZE)]) + 0.7 * RNG.standard_normal((SIZE, 3))
EDGES = np.array([[a, b] for a in range(SIZE) for b in range(a) if (a - b) % 3 == 0 and RNG.random() < 0.15]).T
NAMES = np.array(["ant", "bee", "cat"])
NODES = pd.DataFrame({"key": [f"n{row}" for row in range(SIZE)], "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
PAIRS = pd.DataFrame({"from": NODES.key[EDGES[0]].to_numpy(), "to": NODES.key[EDGES[1]].to_numpy()})
MASKED = np.where(np.arange(SIZE) % 5 == 0, -1, Y)
TOPICS = pd.Series([None if kind < 0 else str(NAMES[kind]) for kind in MASKED], dtype="object")


STRAY = pd.concat([PAIRS, pd.DataFrame({"from": ["n0"], "to": ["nobody"]})])


def small(**options: Any) -> Any:
    """An estimator that learns in a moment."""
    return WaveClassifier(**{"model": "gwn-sym", "epochs": 30, "settings": {"hidden_channels": 8}, **options})


def fitted(**options: Any) -> Any:
    return small(**options).fit(NODES.assign(topic=TOPICS), PAIRS, label="topic")


def test_a_table_with_empty_classes_is_fitted_and_filled() -> None:
    model = fitted()
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert model.schema_.id_column == "key"
    assert dict(zip(model.columns_.column, model.columns_.role, strict=True))["topic"] == "label"
    unknown = NODES.key[MASKED < 0]
    assert model.score(unknown, NAMES[Y[MASKED < 0]]) > 0.8
    proba = model.predict_proba()
    assert proba.shape == (SIZE, 3)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (model.predict(unknown) == model.predict()[MASKED < 0]).all()
    assert model.score(y=TOPICS) == model.score(NODES.key[MASKED >= 0], NAMES[Y[MASKED >= 0]])


@pytest.mark.parametrize(
    "y",
    [
        MASKED,
        MASKED.astype(float),
        np.where(MASKED < 0, np.nan, Y),
        TOPICS,
        TOPICS.fillna("").tolist(),
        torch.as_tensor(MASKED),
    ],
    ids=["-1", "-1.0", "NaN", "None", "empty", "tensor"],
)
def test_unknown_classes_in_y(y: Any) -> None:
    model = small(epochs=2).fit(X, y, edges=EDGES)
    assert [str(kind).removesuffix(".0") for kind in model.classes_] in (["0", "1", "2"], ["ant", "bee", "cat"])
    train, val, test = model.result_["runs"][0]["split_sizes"]
    assert (train + val, test) == (48, 0)
    assert val in (9, 10)  # a fifth
    assert model.predict().dtype == model.classes_.dtype


@pytest.mark.parametrize("held", ["file", "column", "list", "array"])
def test_classes_that_are_written_as_numbers_are_those_of_the_commands(held: str, tmp_path: Path) -> None:
    written = ["" if kind < 0 else f"{kind}.0" for kind in MASKED]
    nodes = NODES.assign(topic=written)
    if held == "file":
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        PAIRS.to_csv(tmp_path / "edges.csv", index=False)
        model = small(epochs=2).fit(tmp_path / "nodes.csv", tmp_path / "edges.csv", label="topic")
    elif held == "column":
        model = small(epochs=2).fit(nodes, PAIRS, label="topic")
    else:
        model = small(epochs=2).fit(X, written if held == "list" else np.array(written), edges=EDGES)
    assert model.classes_.tolist() == model.trained_[0].class_names == ["0", "1", "2"]
    assert set(model.predict()) <= {"0", "1", "2"}
    assert model.score(y=written) == model.score(y=MASKED) == model.score(y=MASKED.astype(str).tolist())


def test_words_for_nothing_are_no_classes_and_that_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", message="Sparse CSR")  # PyTorch says so once, in whichever test comes first
        whole = small(epochs=2).fit(
            X, ["ant" if kind == 0 else "bee" if kind == 1 else float("nan") for kind in Y], edges=EDGES
        )
    for nothing in ("NA", "nan"):
        with pytest.warns(UserWarning, match=rf"Read as not known, so to be predicted: '{nothing}' \(20\)"):
            model = small(epochs=2).fit(X, _with(nothing), edges=EDGES)
        assert model.classes_.tolist() == whole.classes_.tolist() == ["ant", "bee"]
        assert (model.predict_proba() == whole.predict_proba()).all()
    with pytest.warns(UserWarning, match="Learnt as a class: '-1' \\(20\\)"):
        small(epochs=2).fit(NODES.assign(topic=_with("-1")), PAIRS, label="topic")
    with pytest.raises(GWNError, match=r"only one class, '1'.* -1, NaN, None and '' are none"):
        small().fit(X, np.where(Y == 1, "1", "-1"), edges=EDGES)


def test_minus_one_is_a_class_in_a_column_and_counted_in_y() -> None:
    """In silence a class was dropped that the command line learns."""
    with pytest.warns(UserWarning, match=r"Read as not known, so to be predicted: '-1' \(12\)\. Where it is a class"):
        assert small(epochs=2).fit(X, MASKED, edges=EDGES).classes_.tolist() == [0, 1, 2]
    for column in (MASKED, MASKED.astype(str), MASKED.astype(float)):
        with pytest.warns(UserWarning, match=r"Learnt as a class: '-1' \(12\)"):
            model = small(epochs=2).fit(NODES.assign(topic=column), PAIRS, label="topic")
        assert sorted(int(kind) for kind in model.classes_) == [-1, 0, 1, 2]
        assert model.score(y=column) == np.mean(model.predict() == column.astype(model.classes_.dtype))


def test_predict_leaves_out_edges_of_unknown_nodes_where_that_is_said() -> None:
    model = small(epochs=2).fit(NODES.assign(topic=TOPICS), PAIRS, label="topic")
    strange = pd.concat([PAIRS, pd.DataFrame([["nobody", *PAIRS.iloc[0, 1:]]], columns=PAIRS.columns)])
    with pytest.raises(GWNError, match=r"leave these edges out with skip_unknown=True; node ids are") as error:
        model.predict(NODES, strange)
    assert "id=" not in str(error.value)
    assert "source=" not in str(error.value)
    assert (model.predict(NODES, strange, skip_unknown=True) == model.predict(NODES, PAIRS)).all()


def test_what_is_lost_or_guessed_is_one_warning() -> None:
    """Without verbose=1 nothing was said of it."""
    nodes = NODES.assign(
        topic=TOPICS,
        prose=[f"text {i} of its own" for i in range(SIZE)],
        seen=[f"0{i % 9 + 1}-0{i % 5 + 1}-2020" for i in range(SIZE)],
        age=["old", *map(str, range(20, 19 + SIZE))],
        same=1,
    )
    loop = pd.DataFrame([[PAIRS.iloc[0, 0], PAIRS.iloc[0, 0], *PAIRS.iloc[0, 2:]]], columns=PAIRS.columns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        small(epochs=2).fit(nodes, pd.concat([PAIRS, loop]), label="topic")
        small(epochs=2).fit(NODES.assign(topic=TOPICS, same=1), PAIRS, label="topic")
    (said,) = [str(one.message) for one in caught if "not everything" in str(one.message)]
    for part in (
        "'prose': it has 60 different texts: left out; text=['prose'] uses its words; ",
        "'seen': dates are read as day-month-year, which no cell proves",
        "'age': 'old' in row 1 is no number and missing therefore; ",
        "left out: 1 self-loop (verbose=1 prints all of it)",
    ):
        assert part in said
    assert "same" not in said


def test_what_is_guessed_of_the_numbers_to_learn_and_of_weights_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only features were looked at: that 1.234 people were learnt as one and a bit was said by the commands alone."""
    monkeypatch.chdir(tmp_path)
    NODES.assign(people=[f"{row + 1}.234" for row in range(SIZE)]).to_csv("nodes.csv", sep=";", index=False)
    PAIRS.assign(trips=[f"{row + 1}.500" for row in range(len(PAIRS))], road="A1").to_csv(
        "edges.csv", sep=";", index=False
    )
    model = WaveRegressor("gwn-sym", epochs=1)
    tables: dict[str, Any] = {"X": "nodes.csv", "edges": "edges.csv", "label": "people"}
    guess = "is read with decimals, as less than a thousand, which no cell proves"
    with pytest.warns(UserWarning, match=f"'people': 1.234 {guess}; column 'trips': 1.500 {guess}"):
        model.fit(**tables, weight="trips")
    model.set_params(verbose=1).fit(**tables)
    said = capsys.readouterr().out
    assert f"the number to predict is in 'people' (1.234 {guess})" in said
    assert "not used: 'trips', 'road' (name weights with weight=...)\n" in said


@pytest.mark.parametrize("dates", [pd.date_range("2020", periods=SIZE), [datetime.date(2020, 1, 1)] * SIZE])
def test_dates_are_no_numbers_to_learn(dates: Any) -> None:
    """They were learnt as nanoseconds."""
    with pytest.raises(GWNError, match="y holds dates or durations, which are no numbers; give numbers"):
        WaveRegressor("gcn").fit(X, dates, edges=EDGES)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("epochs", "5", "epochs is a whole number, or None for the usual one; got '5', str"),
        ("time", "1m", "time is a number of seconds; got '1m', str"),
        ("runs", 1.5, "runs is a whole number; got '1.5', float"),
        ("settings", "lr=1", "settings is a dictionary, or None; got 'lr=1', str"),
        ("random_state", -1, "random_state is a whole number from 0, a RandomState or None; got '-1'"),
        ("random_state", "x", "random_state is a whole number from 0"),
    ],
)
def test_a_parameter_of_a_wrong_type_is_named(name: str, value: Any, said: str) -> None:
    with pytest.raises(GWNError, match=said):
        small(**{name: value}).fit(X, Y, edges=EDGES)


def _with(nothing: str) -> Any:
    """The classes, of which the last is called something else."""
    return np.array(["ant", "bee", nothing])[Y]


def test_the_order_of_a_series_is_that_of_the_nodes_or_it_is_refused() -> None:
    shuffled = TOPICS.sample(frac=1, random_state=0)
    with pytest.raises(GWNError, match=r"in another order; give y\.loc\[nodes\.index\]"):
        small().fit(NODES, shuffled, edges=PAIRS)
    advised = small(epochs=2).fit(NODES, shuffled.loc[NODES.index], edges=PAIRS)
    assert (advised.predict_proba() == small(epochs=2).fit(NODES, TOPICS, edges=PAIRS).predict_proba()).all()


@pytest.mark.parametrize("written", [np.float32, np.float64, str])
def test_a_column_of_the_numbers_is_refused_until_it_is_dropped(written: type) -> None:
    price = np.where(MASKED < 0, np.nan, 10 + X[:, 0])
    nodes = NODES.assign(copied=(10 + X[:, 0]).astype(written))
    model = WaveRegressor("gwn-sym", epochs=2)
    with pytest.raises(GWNError, match=r"holds the very numbers to be learnt; leave it out with drop=\['copied'\]"):
        model.fit(nodes, price, edges=PAIRS)
    assert model.fit(nodes, price, edges=PAIRS, drop=["copied"]).feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("held", [TOPICS, MASKED, MASKED.astype(float)], ids=["text", "whole", "floating"])
def test_a_column_of_the_classes_is_refused_until_it_is_dropped(held: Any) -> None:
    nodes = NODES.assign(copied=held)
    y = TOPICS if held is TOPICS else MASKED
    with pytest.raises(GWNError, match=r"holds the very classes to be learnt; leave it out with drop=\['copied'\]"):
        small().fit(nodes, y, edges=PAIRS)
    advised = small(epochs=2).fit(nodes, y, edges=PAIRS, drop=["copied"])
    assert (advised.predict_proba() == small(epochs=2).fit(NODES, y, edges=PAIRS).predict_proba()).all()
    known = MASKED >= 0
    small(epochs=2, graph={"nodes": nodes, "edges": PAIRS, "drop": "copied"}).fit(
        NODES.key[known], np.asarray(y)[known]
    )


def test_weights_of_edges_are_used_or_that_is_said() -> None:
    weighted = PAIRS.assign(weight=2.0)
    with pytest.warns(UserWarning, match="column 'weight' of the edges is not used; weight='weight' uses it"):
        assert small(epochs=2).fit(NODES.assign(topic=TOPICS), weighted, label="topic").graph_.edge_weight is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", message="Sparse CSR")  # PyTorch says so once, in whichever test comes first
        model = small(epochs=2).fit(NODES.assign(topic=TOPICS), weighted, label="topic", weight="weight")
    assert (model.graph_.edge_weight == 2).all()
    graph = nx.from_pandas_edgelist(weighted, "from", "to", edge_attr=True)
    nx.set_node_attributes(graph, NODES.assign(topic=TOPICS).set_index("key").to_dict("index"))
    of_graph = small(epochs=2).fit(graph, label="topic")
    assert (of_graph.graph_.edge_weight == 2).all()
    del graph.edges[PAIRS["from"][0], PAIRS["to"][0]]["weight"]
    assert sorted(set(small(epochs=2).fit(graph, label="topic").graph_.edge_weight.tolist())) == [1, 2]


def test_a_model_of_weighted_edges_reads_a_matrix_of_ones_and_no_edges() -> None:
    """Ones in a SciPy matrix are no weights in its table; a graph without edges has none either."""
    ends = EDGES[1], EDGES[0]
    ones, twos = (sp.coo_array((np.full(EDGES.shape[1], w), ends), shape=(SIZE, SIZE)) for w in (1.0, 2.0))
    model = small(epochs=2).fit(X, MASKED, edges=twos)
    assert np.allclose(model.predict_proba(X, edges=ones), model.predict_proba(), atol=1e-6)
    alone = small(epochs=2).fit(NODES.assign(topic=TOPICS), PAIRS.assign(w=2.0), label="topic", weight="w")
    assert np.isfinite(alone.predict_proba(NODES, edges=[])).all()
    assert np.allclose(model.predict_proba(X[:3], edges=[]), model.predict_proba(X, edges=[])[:3], atol=1e-6)


def test_edges_without_column_names_are_read_whatever_the_ends_were_called() -> None:
    nodes = NODES.assign(topic=TOPICS)
    model = small(epochs=2).fit(nodes, PAIRS.assign(kind=1), label="topic", source="from", target="to")
    graph = nx.from_pandas_edgelist(PAIRS, "from", "to")
    for edges in (list(PAIRS.itertuples(index=False, name=None)), PAIRS.to_numpy(), graph):
        assert np.array_equal(model.predict_proba(NODES, edges=edges), model.predict_proba())
    assert np.isfinite(model.predict_proba(NODES, edges=[])).all()
    with pytest.raises(GWNError, match="unknown source column 'from'"):
        model.predict(NODES, edges=PAIRS.set_axis(["source", "target"], axis=1))


def test_what_was_read_is_printed_where_one_asks(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = NODES.assign(topic=TOPICS.where(MASKED >= 0), prose=[f"text {i} of its own" for i in range(SIZE)])
    model = small(epochs=1, verbose=1).fit(nodes, PAIRS, label="topic")
    said = capsys.readouterr().out
    assert said.startswith("nodes: the id is column 'key', the class is in ")
    assert "; edges: edges go from 'from' to 'to'\n" in said
    assert "48 labelled nodes in 3 classes" in said
    assert "of the edges join equal classes" in said
    assert "--" not in said, "advice has the arguments of Python"
    assert "use runs=10 and believe the interval." in said
    assert "left out; text=['prose'] uses its words" in model.columns_.set_index("column").note["prose"]
    assert in_python("try --features spectral, or --class-weights balanced.") == (
        "try features='spectral', or settings={'class_weights': 'balanced'}."
    )


def test_nullable_booleans_are_classes_and_edges_of_unknown_nodes_can_be_skipped() -> None:
    y = pd.array([None if kind < 0 else bool(kind) for kind in MASKED], dtype="boolean")
    model = small(epochs=2).fit(NODES, y, edges=STRAY, skip_unknown=True)
    assert model.classes_.tolist() == [False, True]
    assert model.graph_.labelled.sum() == 48
    assert model.dataset_.dropped["edges of unknown nodes"] == 1


def test_the_same_graph_gives_the_same_answer_whatever_holds_it() -> None:
    expected = small().fit(X, MASKED, edges=EDGES).predict_proba()
    adjacency = sp.coo_array((np.ones(EDGES.shape[1]), (EDGES[1], EDGES[0])), shape=(SIZE, SIZE))
    graph = nx.Graph()
    graph.add_nodes_from((row, dict(zip("abc", X[row], strict=True), topic=TOPICS[row])) for row in range(SIZE))
    graph.add_edges_from(EDGES.T.tolist())
    found = [
        small().fit(sp.csr_array(X), MASKED, edges=adjacency),
        small().fit(NODES.set_index("key"), TOPICS, edges=PAIRS),
        small().fit(graph, label="topic"),
        small(graph=(X, EDGES)).fit(np.flatnonzero(MASKED >= 0), Y[MASKED >= 0]),
    ]
    for model in found:
        assert np.allclose(model.predict_proba(), expected, atol=1e-4)


def test_the_same_seed_gives_the_same_answer_and_leaves_the_random_numbers_of_others_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = fitted(random_state=5).predict_proba()
    assert torch.equal(torch.get_rng_state(), before)
    assert (fitted(random_state=5).predict_proba() == first).all()
    assert (fitted(random_state=6).predict_proba() != first).any()


def test_auto_trains_what_the_comparison_found_best(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def compare(dataset: Any, **options: Any) -> Any:
        asked.update(options, nodes=dataset.graph.num_nodes)
        best = SimpleNamespace(model="gcn", settings={"num_layers": 2}, training={"lr": 0.02})
        return SimpleNamespace(best_model=best)

    monkeypatch.setattr("gwn.compare.compare", compare)
    model = fitted(model="auto", time=7, random_state=3, epochs=2)
    assert (asked["seconds"], asked["seed"], asked["nodes"], asked["settings"]) == (7, 3, SIZE, ["hidden_channels=8"])
    assert (model.model_, model.result_["training"]["lr"], model.result_["training"]["epochs"]) == ("gcn", 0.02, 2)


def test_several_runs_answer_together() -> None:
    model = fitted(runs=2, epochs=5)
    assert len(model.trained_) == 2
    both = model.predict_proba()
    model.trained_ = model.trained_[:1]
    assert not np.allclose(model.predict_proba(), both)


def test_manners_of_an_estimator() -> None:
    model = small(runs=2)
    assert repr(model.set_params(settings=None)) == "WaveClassifier(epochs=30, model='gwn-sym', runs=2)"
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(epochs=3).epochs == 3
    for ask in (model.predict, model.predict_proba, lambda: model.save("nowhere")):
        with pytest.raises(NotFittedError):
            ask()
    again = pickle.loads(pickle.dumps(small(epochs=2).fit(X, Y, edges=EDGES)))
    assert again.predict().shape == (SIZE,)


def test_cross_validation_leaves_nodes_unknown_and_keeps_the_graph_whole() -> None:
    scores = []
    for train, test in StratifiedKFold(3).split(X, Y):
        y = np.full(SIZE, -1)
        y[train] = Y[train]
        scores.append(small().fit(X, y, edges=EDGES).score(test, Y[test]))
    by_ids = cross_val_score(small(graph={"nodes": NODES, "edges": PAIRS}), NODES.key, Y, cv=StratifiedKFold(3))
    assert by_ids.tolist() == pytest.approx(scores)
    assert np.mean(scores) > 0.6  # a third by chance


def test_new_nodes_are_read_as_the_old_ones_were() -> None:
    model = fitted()
    new = pd.DataFrame({"c": X[:9, 2], "key": [f"m{row}" for row in range(9)], "a": X[:9, 0], "b": X[:9, 1]})
    edges = pd.DataFrame({"from": ["m0", "m1"], "to": ["m3", "m4"]})
    assert model.predict(nodes=new, edges=edges).shape == (9,)
    with pytest.warns(UserWarning, match=r"column 'a': its numbers are about 1e\+04, far from those of the training"):
        model.predict(nodes=new.assign(a=1e4 + new.a), edges=edges)
    assert (model.predict_proba(new, edges=[])[5:] == model.predict_proba(new, edges=edges)[5:]).all()
    assert (model.predict(NODES) == model.predict()).all()
    with pytest.raises(GWNError, match=r"no edges were given; give them with edges=\.\.\."):
        model.predict(new)
    with pytest.raises(GWNError, match="give the nodes too"):
        model.predict(edges=edges)
    with pytest.raises(GWNError, match="the graph has no node 'm0'"):
        model.predict(["m0"])


def test_nodes_in_another_order_are_not_taken_for_the_fitted_ones() -> None:
    """Rows whose features are the same, or that have none, are told apart by their ids."""
    nodes = NODES[["key"]].assign(topic=TOPICS)
    for table in (nodes, nodes.set_index("key")):
        model = small(epochs=2).fit(table, PAIRS, label="topic", features="structure")
        assert (model.predict(table) == model.predict()).all()
        with pytest.raises(GWNError, match="these nodes are not the ones that it was fitted on"):
            model.predict(table.iloc[::-1].reset_index(drop=table is nodes))


def test_y_alone_says_what_is_learnt_on_a_graph() -> None:
    """A label column named beside `y` would be learnt in its place, of the nodes to be scored too."""
    price = pd.Series(X[:, 0] + 2, dtype=object)
    graph = {"nodes": NODES.drop(columns="a").assign(price=price), "edges": PAIRS, "label": "price"}
    model = WaveRegressor("gwn-sym", graph={**graph, "task": "regression"}, epochs=2)
    with pytest.raises(GWNError, match=r"y says what is to be learnt; give drop=\['price'\] instead"):
        model.fit(NODES.key[:30], price[:30])
    del graph["label"]
    model = WaveRegressor("gwn-sym", graph={**graph, "drop": ["price"]}, epochs=2).fit(NODES.key[:30], price[:30])
    assert int(model.graph_.labelled.sum()) == 30


def test_a_node_has_one_class() -> None:
    model, ids = small(epochs=2, graph={"nodes": NODES, "edges": PAIRS}), [*NODES.key, "n0"]
    assert model.fit(ids, [*Y, Y[0]]).graph_.y[0] == Y[0]
    with pytest.raises(GWNError, match="node 'n0' has two values of y, '0' and '2'"):
        model.fit(ids, [*Y, 2])
    with pytest.raises(GWNError, match=r"y holds dates; give classes as text, for example y.astype\(str\)"):
        small().fit(X, np.datetime64("2024-01-01") + Y, edges=EDGES)


def test_parameters_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    """As a grid search gives them."""
    settings = {"hidden_channels": np.int64(8), "lr": np.float32(0.5)}
    model = small(epochs=np.int64(2), validation=np.float32(0.25), settings=settings).fit(X, Y, edges=EDGES)
    again = clone(WaveClassifier.load(model.save(tmp_path))).fit(X, Y, edges=EDGES)
    assert (again.predict_proba() == model.predict_proba()).all()


def test_a_clone_of_a_loaded_run_trains_as_the_run_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    NODES.assign(topic=TOPICS).to_csv("nodes.csv", index=False)
    PAIRS.to_csv("edges.csv", index=False)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--label-column", "topic"]
    chosen = ["--prior", "em", "--set", "lr=0.05", "--set", "hidden_channels=8", "--set", "epochs=5"]
    with pytest.raises(SystemExit):
        main(["train", *tables, *chosen, "--runs", "1", "--split", "validate-20", "-q"])
    (folder,) = Path("runs").iterdir()
    loaded = WaveClassifier.load(folder)
    assert loaded.prior == "em"
    assert {**(loaded.settings or {})}["lr"] == 0.05
    again = clone(loaded).fit("nodes.csv", "edges.csv", label="topic")
    assert np.allclose(again.predict_proba(), loaded.predict_proba())


def test_both_read_what_the_other_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(epochs=5, runs=1)
    model.save(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    assert (WaveClassifier.load(tmp_path / "moved").predict_proba() == model.predict_proba()).all()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["predict", "moved", "--out", "predictions.csv"])
    assert not ended.value.code
    written = pd.read_csv("predictions.csv")
    assert np.allclose(written[["p_ant", "p_bee", "p_cat"]], model.predict_proba())
    assert written.node.tolist() == NODES.key.tolist()
    for command in (["explain", "moved", "--node", "n1"], ["report", "moved"]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert not ended.value.code
    page = Path("moved/report.html").read_text()
    assert "No node was kept for testing" in page
    assert "test nodes" not in page

    NODES.assign(topic=TOPICS).to_csv("nodes.csv", index=False)
    PAIRS.to_csv("edges.csv", index=False)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--label-column", "topic"]
    with pytest.raises(SystemExit):
        main(["train", *tables, "--runs", "2", "--set", "epochs=5", "--set", "hidden_channels=8", "-q"])
    (folder,) = Path("runs").iterdir()
    loaded = WaveClassifier.load(folder)
    assert len(loaded.trained_) == 2
    assert loaded.classes_.tolist() == ["ant", "bee", "cat"]
    assert loaded.predict(["n1", "n0"]).tolist() == loaded.predict()[[1, 0]].tolist()
    assert (loaded.predict(NODES, PAIRS) == loaded.predict()).all()
    NODES.assign(topic=TOPICS, a=10 * NODES.a).to_csv("nodes.csv", index=False)
    with pytest.warns(UserWarning, match=r"nodes\.csv changed since training"):
        WaveClassifier.load(folder)


def test_decimal_commas_mean_in_python_what_they_mean_to_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the copy that is saved: there 1.234 beside 987,5 is more than a thousand, and 3,4 may be a category."""
    monkeypatch.chdir(tmp_path)
    amounts = [f"{row + 1}.234" if row % 2 else f"{987 - row},5" for row in range(SIZE)]
    words = np.array(["3,4", "1,2", "plain"])[RNG.integers(0, 3, SIZE)]
    nodes = NODES.assign(amount=amounts, euros=[f"€{row + 1}.234" for row in range(SIZE)], words=words, topic=TOPICS)
    nodes.to_csv("nodes.csv", sep=";", decimal=",", index=False)
    PAIRS.to_csv("edges.csv", sep=";", index=False)
    model = small(epochs=2).fit("nodes.csv", "edges.csv", label="topic")
    notes = dict(zip(model.columns_.column, model.columns_.note, strict=True))
    assert notes["amount"].startswith("numbers are read as 1.234,5: 2.234 is 2234")
    model.save("saved")
    assert np.array_equal(WaveClassifier.load("saved").predict_proba(), model.predict_proba())
    for tables in ([], ["--nodes", "nodes.csv", "--edges", "edges.csv"]):
        with pytest.raises(SystemExit):
            main(["predict", "saved", *tables, "--out", "predictions.csv"])
        written = pd.read_csv("predictions.csv")[["p_ant", "p_bee", "p_cat"]]
        assert np.allclose(written, model.predict_proba(), atol=1e-6)


def test_a_loaded_model_knows_which_columns_are_features(tmp_path: Path) -> None:
    nodes = NODES.assign(topic=TOPICS, copied=Y).set_axis([f"row {row}" for row in range(SIZE)])
    model = small(epochs=2).fit(nodes, PAIRS, label="topic", drop=["copied"])
    loaded = WaveClassifier.load(model.save(tmp_path / "model"))
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert loaded.n_features_in_ == model.n_features_in_ == 3


def test_no_flipped_bit_of_a_saved_model_is_silent(tmp_path: Path) -> None:
    """`load` refuses what is not as it was saved, its tables too, or nobody reads what was changed."""
    folder = small(epochs=2).fit(X, Y, edges=EDGES).save(tmp_path / "model")
    expected = WaveClassifier.load(folder)._mean_of_runs(None)
    for path in sorted(folder.iterdir()):
        whole, size = path.read_bytes(), path.stat().st_size
        for place in (0, size // 3, size // 2, size - 9):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            if path.name in ("MODEL_CARD.md", "history-00.json", "result.json"):  # for people, and for `gwn report`
                assert np.array_equal(WaveClassifier.load(folder)._mean_of_runs(None), expected)
                continue
            with pytest.raises(GWNError):
                WaveClassifier.load(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("table", ["nodes.parquet", "edges.parquet"])
@pytest.mark.parametrize("how", ["cut", "gone"])
def test_damaged_tables_of_a_saved_model_are_restored_or_saved_again(
    table: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = fitted(epochs=2)
    path = model.save("saved") / table
    whole = path.read_bytes()
    mends = {"restore it": lambda: path.write_bytes(whole), "save the model again": lambda: model.save("saved")}
    for advice, mend in mends.items():
        path.write_bytes(whole[: len(whole) // 2]) if how == "cut" else path.unlink()
        with pytest.raises(GWNError) as refused:
            WaveClassifier.load("saved")
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["predict", "saved"])
        said = capsys.readouterr()
        assert (stop.value.code, said.out, said.err) == (2, "", f"gwn: {refused.value}\n")
        assert advice in said.err
        mend()
        assert (WaveClassifier.load("saved").predict() == model.predict()).all()
        with pytest.raises(SystemExit) as stop:
            main(["predict", "saved"])
        assert not stop.value.code


def test_numbers_are_fitted_scored_saved_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    price = 100 + 30 * X[:, 0]
    known = np.where(MASKED < 0, np.nan, price)
    options: Any = {"model": "mlp", "epochs": 60, "settings": {"hidden_channels": 8}}
    written = ["" if np.isnan(value) else f"{value:.2f}".replace(".", ",") for value in known]  # as a person may
    of_column = WaveRegressor(**options).fit(NODES.assign(price=written), PAIRS, label="price")
    model = WaveRegressor(**options).fit(NODES, known, edges=PAIRS)
    for one in (of_column, model):
        assert one.score(NODES.key[MASKED < 0], price[MASKED < 0]) > 0.5
    assert model.score(y=np.where(MASKED < 0, price, np.nan)) == model.score(NODES.key[MASKED < 0], price[MASKED < 0])
    model.save("run")
    assert (WaveRegressor.load("run").predict() == model.predict()).all()
    with pytest.raises(GWNError, match=r"predicts numbers; use WaveRegressor\.load"):
        WaveClassifier.load("run")
    with pytest.raises(SystemExit) as stop:
        main(("predict", "run"))
    assert stop.value.code == 0
    assert pd.read_csv("predictions.csv").predicted.to_numpy() == pytest.approx(model.predict())
    data = SimpleNamespace(x=torch.tensor(X).float(), edge_index=torch.tensor(EDGES), y=torch.tensor(known))
    data.num_nodes = SIZE
    assert WaveRegressor(**options).fit(data).predict([0]) == pytest.approx(model.predict(["n0"]), rel=1e-3)
    with pytest.raises(GWNError, match="use WaveClassifier to predict classes"):
        WaveRegressor(**options).fit(X, NAMES[Y], edges=EDGES)
    assert WaveRegressor(**{**options, "epochs": 2}).fit(X[:10], price[:10], edges=[]).predict().shape == (10,)


def test_blanks_around_a_class_are_none_of_it_in_a_column_as_in_the_commands() -> None:
    """A table that the commands read was refused, without the names of the two classes."""
    padded = TOPICS.where(np.arange(SIZE) % 2 == 0, " " + TOPICS + " ")
    model = small(epochs=2).fit(NODES.assign(topic=padded), PAIRS, label="topic")
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert np.array_equal(
        model.predict(), small(epochs=2).fit(NODES.assign(topic=TOPICS), PAIRS, label="topic").predict()
    )
    with pytest.raises(
        GWNError, match=r"the classes ' ant ' and 'ant' of y look the same in a table; write them alike"
    ):
        small().fit(NODES, padded, edges=PAIRS)


def test_classes_keep_their_type(tmp_path: Path) -> None:
    small(epochs=2).fit(X, Y * 10, edges=EDGES).save(tmp_path)
    assert WaveClassifier.load(tmp_path).classes_.tolist() == [0, 10, 20]
    assert WaveClassifier.load(tmp_path).predict().dtype.kind == "i"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: small().fit(X, edges=EDGES), "give y, or name the column with label"),
        (lambda: small().fit(NODES, PAIRS), "edges are given as fit(nodes, edges, label=...)"),
        (lambda: small().fit(NODES.assign(topic=TOPICS), PAIRS, label="topc"), "did you mean 'topic'"),
        (lambda: small().fit(X, Y[:9], edges=EDGES), "60 nodes but 9 values of y"),
        (lambda: small().fit(X, np.zeros(SIZE), edges=EDGES), "only one class, '0'"),
        (lambda: small().fit(X, X[:, 0], edges=EDGES), "continuous"),
        (lambda: WaveRegressor("gcn").fit(X, np.ones(SIZE), edges=EDGES), "y has no two different numbers to learn"),
        (lambda: small().fit(X, NAMES[Y].astype(bytes), edges=EDGES), "y holds bytes; give classes as text"),
        (lambda: small().fit(X, Y.astype("timedelta64[D]"), edges=EDGES), "y holds durations; give classes as text"),
        (lambda: small().fit(X, [Decimal(int(kind)) for kind in Y], edges=EDGES), "y holds Decimal; give classes as"),
        (lambda: small().fit(X, [datetime.date(2020, 1, 1 + kind) for kind in Y], edges=EDGES), "y holds date; give"),
        (lambda: small().fit(X, np.column_stack([Y, Y]), edges=EDGES), "several classes a node"),
        (lambda: small().fit(NODES.assign(topic=TOPICS), TOPICS, edges=PAIRS), "leave it out with drop"),
        (lambda: small(validation=2).fit(X, Y, edges=EDGES), "between 0 and 1"),
        (lambda: small(settings={"hiden": 3}).fit(X, Y, edges=EDGES), "unknown setting of gwn-sym 'hiden'"),
        (lambda: small(model="gwm").fit(X, Y, edges=EDGES), "unknown model 'gwm'"),
        (lambda: small(graph=(X, EDGES)).fit([0, 1], [0, 1], EDGES), "the graph was given to the constructor"),
        (lambda: small(graph=(X, EDGES)).fit([[0, 1], [2, 3]], [0, 1]), "ids of nodes are one column"),
        (lambda: small(epochs=2).fit(X, Y, edges=EDGES).predict(X[:, :2]), "X has 2 features"),
        (lambda: small(epochs=2, settings={"epochs": 3}).fit(X, Y, edges=EDGES), "epochs is given twice"),
        (lambda: WaveRegressor("mlp").fit(NODES.assign(topic=TOPICS), PAIRS, label="topic"), "use WaveClassifier"),
        (lambda: WaveClassifier.load("nowhere"), "no run 'nowhere'"),
        (lambda: small().fit(NODES.assign(topic=TOPICS), STRAY, label="topic"), "skip_unknown=True"),
    ],
)
def test_mistakes_are_said(call: Any, said: str) -> None:
    with pytest.raises(GWNError) as refused:
        call()
    assert said in str(refused.value)


@pytest.mark.parametrize("masked", ["X", "y", "column", "number"])
def test_a_mask_is_not_lost_in_silence(masked: str) -> None:
    cells = np.ma.masked_array(np.where(np.arange(SIZE) < 20, 9.0, Y), mask=np.arange(SIZE) < 20)
    call = {
        "X": lambda: small().fit(np.ma.column_stack([X, cells]), Y, edges=EDGES),
        "y": lambda: small().fit(X, cells, edges=EDGES),
        "column": lambda: small().fit({"a": X[:, 0], "b": cells}, Y, edges=EDGES),
        "number": lambda: WaveRegressor("gwn-sym", epochs=1).fit(X, cells, edges=EDGES),
    }[masked]
    with pytest.raises(GWNError, match=r"a masked array of shape \(60,.*fill it first: NaN for a number"):
        call()
    assert small(epochs=2).fit(X, np.ma.masked_array(Y), edges=EDGES).graph_.labelled.all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"classes": ["ant", "bee"]}, "has other classes than config.json beside it"),
        ({"classes": 3}, "which does not belong there"),
        ({"reading": 1}, "which does not belong there"),
        ({"parameters": {"speed": 1}}, "unknown parameter in"),
        ({"parameters": {"device": 1}}, "device is a name such as 'cpu'"),
    ],
)
def test_what_is_beside_a_saved_run_belongs_to_it(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    fitted(epochs=1).save(tmp_path)
    write_json(tmp_path / "estimator.json", {**read_json(tmp_path / "estimator.json"), **change})
    with pytest.raises(GWNError, match=said):
        WaveClassifier.load(tmp_path)


def test_a_column_that_tells_the_answer_is_warned_of() -> None:
    codes = NODES.assign(topic=TOPICS, code=[f"code {kind}" for kind in Y])
    with pytest.warns(UserWarning, match=r"'code' alone tells the class .*; leave it out with drop=\['code'\] if it"):
        small(epochs=1).fit(codes, PAIRS, label="topic")
    prices = NODES.assign(price=2.5 * Y, cents=250 * Y)
    with pytest.warns(UserWarning, match=r"'cents' alone tells the number .* drop=\['cents'\] if it was made"):
        WaveRegressor("gwn-sym", epochs=1).fit(prices, PAIRS, label="price")


@pytest.mark.parametrize("kind", ["sparse", "bfloat16"])
def test_a_tensor_of_any_kind_is_read_as_an_array(kind: str) -> None:
    """NumPy has no bfloat16, in which language models give their features."""
    given = torch.tensor(X).bfloat16() if kind == "bfloat16" else torch.tensor(X).to_sparse_csr()
    found, dense = (small(epochs=2).fit(x, Y, edges=EDGES) for x in (given, given.to_dense().double().numpy()))
    assert np.array_equal(found.predict_proba(), dense.predict_proba())


def test_numbers_beyond_64_bits_are_numbers() -> None:
    """Python's own, which no column of whole numbers holds."""
    model = small(epochs=2).fit(NODES.assign(large=[2**70 * (row + 1) for row in range(SIZE)]), NAMES[Y], edges=PAIRS)
    assert dict(zip(model.columns_.column, model.columns_.role, strict=True))["large"] == "number"


def test_importing_gwn_waits_for_nothing_heavy() -> None:
    code = (
        "import sys, gwn; assert 'WaveClassifier' in dir(gwn); print({'torch', 'sklearn', 'pandas'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


SKIPPED = {
    "check_classifiers_classes": "labels -1 and 1: here -1 is a node to predict, as in scikit-learn's semi-supervised",
}
"""Checks that ask for something else than an estimator of nodes does."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no edges were given")
@parametrize_with_checks([WaveClassifier("gcn", epochs=30)], expected_failed_checks=lambda estimator: SKIPPED)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
