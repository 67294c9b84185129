"""Four pairs of tables that were not made for this project's models, as a user would bring them.

Two are datasets of the catalogue written as CSV, with the dirt of real tables:

  products   Amazon Photo: its 40 most frequent words as columns of yes and no, in three spellings (yes, Yes, YES), 3 %
             of the cells empty; how many words a product has, with a decimal point; the article number is the third
             column and written 28.0; every tenth pair is listed twice, once in either direction, and some products are
             joined to themselves
  papers     PubMed: the 40 numbers of largest spread, 5 % of the cells empty or "NA"; a date of entry drawn at random,
             which says nothing; the id is the last column

Two are tables of the package `bokeh-sampledata` (`pip install bokeh-sampledata`), taken as they are:

  airports   airports.csv and routes.csv of the United States: which are large, medium and small; three empty columns,
             one route a line and airline
  movies     the database of movies: omdb and tomatoes side by side, with dates, languages and countries, eight empty
             columns; the first genre is the class, where at least 200 movies share it. Two movies are joined where they
             have a director or at least two of the cast in common.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from gwn.data import load_dataset
from gwn.errors import GWNError

WORDS = 40
NUMBERS = 40
MOST_IN_COMMON = 200
"""A name that more movies share than this is not a person ("Various", an empty cell)."""

Tables = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True, kw_only=True)
class OwnTable:
    """How to make a pair of tables, and what a user would say about them on the command line."""

    make: Callable[[], Tables]
    label: str
    options: tuple[str, ...] = ()

    def drops(self) -> list[str]:
        """The columns that the user leaves out."""
        return [value for name, value in zip(self.options, self.options[1:], strict=False) if name == "--drop-column"]


def products() -> Tables:
    graph = load_dataset("photo").graph
    rng = np.random.default_rng(0)
    words = graph.x.to_dense().numpy() > 0
    frequent = np.sort(np.argsort(-words.sum(0), kind="stable")[:WORDS])
    spellings = np.array([["no", "No", "NO"], ["yes", "Yes", "YES"]], dtype=object)
    cells = spellings[words[:, frequent].astype(int), rng.integers(0, 3, (len(words), WORDS))]
    cells[rng.random(cells.shape) < 0.03] = ""
    nodes = pd.DataFrame(cells, columns=[f"word_{number}" for number in frequent])
    numbers = rng.permutation(len(words)) + 1000
    nodes.insert(0, "words", [f"{count}.0" for count in words.sum(1)])
    nodes.insert(2, "article", [f"{number}.0" for number in numbers])
    nodes["category"] = [f"shelf {label}" for label in graph.labels.tolist()]
    a, b = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].numpy()
    again = np.arange(0, len(a), 10)
    loops = np.arange(0, len(words), 500)
    source, target = np.concatenate([a, b[again], loops]), np.concatenate([b, a[again], loops])
    return nodes, pd.DataFrame({"bought": numbers[source], "also_bought": numbers[target]})


def papers() -> Tables:
    graph = load_dataset("pubmed").graph
    rng = np.random.default_rng(1)
    x = graph.x.to_dense().numpy()
    widest = np.sort(np.argsort(-x.std(0), kind="stable")[:NUMBERS])
    cells = np.char.mod("%.4f", x[:, widest]).astype(object)
    empty = rng.random(cells.shape) < 0.05
    cells[empty] = np.where(rng.random(int(empty.sum())) < 0.5, "", "NA")
    nodes = pd.DataFrame(cells, columns=[f"term_{number}" for number in widest])
    days = pd.Timestamp("2001-01-01") + pd.to_timedelta(rng.integers(0, 5000, len(x)), unit="D")
    nodes.insert(0, "entered", days.strftime("%Y-%m-%d"))
    nodes["diabetes"] = [f"type {label}" for label in graph.labels.tolist()]
    nodes["pmid"] = [f"P{number:05d}" for number in range(len(x))]
    a, b = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].numpy()
    return nodes, pd.DataFrame({"citing": nodes.pmid.to_numpy()[a], "cited": nodes.pmid.to_numpy()[b]})


def airports() -> Tables:
    folder = sample_data()
    return (
        pd.read_csv(folder / "airports.csv", dtype=str, keep_default_na=False),
        pd.read_csv(folder / "routes.csv.gz", dtype=str, keep_default_na=False),
    )


def movies() -> Tables:
    with sqlite3.connect(f"file:{sample_data() / 'movies.db'}?mode=ro", uri=True) as database:
        omdb, tomatoes = (pd.read_sql(f"select * from {name}", database) for name in ("omdb", "tomatoes"))
    nodes = omdb.merge(tomatoes, on="ID", suffixes=("", "_tomatoes"))
    first = nodes["Genre"].str.split(",").str[0].str.strip()
    common = [genre for genre, count in first.value_counts().items() if genre and count >= 200]
    nodes["Genre"] = first
    nodes = nodes[first.isin(common)].reset_index(drop=True)
    shared: Counter[tuple[int, int]] = Counter()
    for column, worth in (("Director", 2), ("Cast", 1)):
        for pair in _in_common(nodes[column].fillna("").tolist()):
            shared[pair] += worth
    pairs = np.array([pair for pair, worth in shared.items() if worth >= 2])
    ids = nodes["ID"].to_numpy()
    return nodes, pd.DataFrame({"movie": ids[pairs[:, 0]], "other": ids[pairs[:, 1]]})


def _in_common(lists: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs of rows that name the same person, once for each."""
    rows = defaultdict(set)
    for row, names in enumerate(lists):
        for name in names.split(","):
            if name.strip():
                rows[name.strip()].add(row)
    for found in rows.values():
        if len(found) <= MOST_IN_COMMON:
            yield from combinations(sorted(found), 2)


def sample_data() -> Path:
    """Where `bokeh-sampledata` keeps its tables."""
    found = find_spec("bokeh_sampledata")
    if found is None or not found.submodule_search_locations:
        raise GWNError("bokeh-sampledata is not installed: pip install bokeh-sampledata")
    return Path(next(iter(found.submodule_search_locations))) / "_data"


def dropped(*columns: str) -> tuple[str, ...]:
    return tuple(word for column in columns for word in ("--drop-column", column))


OWN_TABLES: dict[str, OwnTable] = {
    "products": OwnTable(make=products, label="category"),
    "papers": OwnTable(make=papers, label="diabetes"),
    "airports": OwnTable(
        make=airports,
        label="Type",
        options=(
            *("--id-column", "IATA", "--source-column", "Source", "--target-column", "Destination"),
            *("--features", "structure"),
            *dropped("Name", "City", "ICAO", "AirportID", "Timezone", "DST", "TZ"),
        ),
    ),
    "movies": OwnTable(
        make=movies,
        label="Genre",
        options=(
            *("--id-column", "ID"),
            *dropped("imdbID", "Title", "Director", "Writer", "Cast", "Awards", "Production"),
            *dropped("Image", "Consensus", "userMeter", "userRating", "userReviews", "DVD", "Website"),
            *dropped("imdbRating", "imdbVotes", "lastUpdated", "lastUpdated_tomatoes"),
        ),
    ),
}
