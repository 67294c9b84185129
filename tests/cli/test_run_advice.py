"""What cannot be done with a run is said in one line with what to do, and doing it works."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from commands import Finished
from gwn.cli.main import main
from gwn.io import read_json, write_json
from gwn.training.result import FORMAT

TOPICS = ("art", "science", "sport")
TRAIN = "train --edges edges.csv --nodes nodes.csv --label-column topic --runs 1 --set epochs=2 -q"
WAVE_OF_FILE = "train --graph graph.npz --model gwn-sym --runs 1 --set epochs=2 -q"
COMPARE = (
    "compare --edges edges.csv --nodes nodes.csv --label-column topic --models majority,logistic --trials 1 --runs 2 "
    "--jobs 1 --time 10m --set epochs=2 -q"
)
RUNS = {
    "wave": f"{TRAIN} --model gwn-sym --runs 2",
    "gcn": f"{TRAIN} --model gcn",
    "gat": f"{TRAIN} --model gat",
    "trees": f"{TRAIN} --model boosted-hops",
    "majority": f"{TRAIN} --model majority",
    "masked": f"{TRAIN} --model gcn --labels masked",
    "smooth": f"{TRAIN} --model gcn --smooth correct",
    "solving": f"{TRAIN} --model gwn-plus --set scheme=newmark",
    "spectral": f"{TRAIN} --model gcn --features spectral",
    "numbers": f"{TRAIN} --model gcn --label-column age --task regression",
    "file": "train --graph graph.npz --model gcn --runs 1 --set epochs=2 -q",
    "folder": "train made --model gcn --runs 1 --set epochs=2 -q",
    "files": "train made --model gwn-sym --precompute --memory 8GB --runs 1 --set epochs=2 -q",
}


def gwn(line: str) -> Finished:
    """The command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main(shlex.split(line))
    return Finished(int(stop.value.code or 0), out.getvalue(), err.getvalue())


def write_tables(folder: Path) -> None:
    nodes = [f"u{i},{20 + 5 * (i % 3) + i / 100},{('Rome', 'Oslo')[i % 2]},{TOPICS[i % 3]}" for i in range(45)]
    nodes[::5] = [row[: row.rindex(",") + 1] for row in nodes[::5]]
    edges = [f"u{i},u{(i + 3 * step) % 45}" for i in range(45) for step in (1, 2, 4)]
    (folder / "nodes.csv").write_text("\n".join(["id,age,city,topic", *nodes]))
    (folder / "edges.csv").write_text("\n".join(["from,to", *edges]))
    (folder / "fewer.csv").write_text("\n".join(["from,to", *edges[:-20]]))
    (folder / "older.csv").write_text(re.sub(r",(\d\d)\.", r",1\1.", (folder / "nodes.csv").read_text()))
    pairs = np.array([[int(end[1:]) for end in edge.split(",")] for edge in edges]).T
    x = np.random.default_rng(0).random((45, 4), dtype=np.float32)
    for name, width, scale in (("graph.npz", 3, 1), ("wide.npz", 4, 1), ("huge.npz", 3, 1e33)):
        np.savez(folder / name, x=x[:, :width] * np.float32(scale), edge_index=pairs, y=np.arange(45) % 3)


@dataclass(frozen=True)
class Place:
    """The tables, a copy of all files, and the names of the runs."""

    path: Path
    kept: Path
    names: dict[str, str]

    def run(self, name: str) -> Path:
        return self.path / "runs" / self.names[name]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    path = tmp_path_factory.mktemp("advice")
    write_tables(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for out, nodes in (("made", "nodes.csv"), ("other", "older.csv")):
            said = gwn(f"data convert edges.csv --nodes {nodes} --label-column topic --out {out} --memory 8GB -q")
            assert said.returncode == 0, said.stderr
        names = {}
        for name, line in RUNS.items():
            said = gwn(f"{line} --json")
            assert said.returncode == 0, said.stderr
            names[name] = Path(json.loads(said.stdout)["folder"]).name
        assert gwn(COMPARE).returncode == 0
        (compared,) = path.glob("runs/*-compare-*/comparison.json")
        names["compared"] = compared.parent.name
        kept = tmp_path_factory.mktemp("kept") / "all"
        shutil.copytree(path, kept)
        yield Place(path, kept, names)


@pytest.fixture
def place(made: Place) -> Place:
    """Everything as it was before the last test, in the same place: runs know their tables by their paths."""
    for entry in made.path.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(made.kept, made.path, dirs_exist_ok=True)
    return made


@dataclass(frozen=True)
class Case:
    """A command line, what is said of it, and the command lines that follow the advice: {1} is what it named first.

    spoil, mend   what is done to the files before the command, and after its refusal
    """

    given: str
    says: str
    then: tuple[str, ...]
    spoil: Callable[[Place], object] | None = None
    mend: Callable[[Place], object] | None = None


def cut(run: str, file: str) -> Callable[[Place], object]:
    """Half of a file of a run is lost."""

    def spoil(place: Place) -> None:
        path = place.run(run) / file
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return spoil


def edit(run: str, file: str, old: str, new: str) -> Callable[[Place], object]:
    def spoil(place: Place) -> None:
        path = place.run(run) / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return spoil


def nodes(old: str, new: str, name: str = "new.csv") -> Callable[[Place], object]:
    """The table of nodes with other words, under another name."""

    def write(place: Place) -> None:
        text = (place.kept / "nodes.csv").read_text()
        assert re.search(old, text)
        (place.path / name).write_text(re.sub(old, new, text))

    return write


def put_back(place: Place) -> None:
    shutil.copy(place.kept / "nodes.csv", place.path / "nodes.csv")


NEW = "predict {gcn} --edges edges.csv --nodes new.csv"
TABLES = "--edges edges.csv --nodes nodes.csv"
AGAIN = (RUNS["gcn"], "predict {gcn}")
CASES = {
    "no such run": Case("predict nobody", r"no run 'nobody': .*; runs has ([\w-]+)", ("predict {1}",)),
    "no run at all": Case(
        "explain {gcn} --node u1 --runs none",
        "train one first with `gwn train`",
        (f"{RUNS['gcn']} --out none", "explain {gcn} --node u1 --runs none"),
    ),
    "no such run number": Case(
        "report {wave} --run-number 7",
        r"has no finished run number 7; it has 0, (1)",
        ("report {wave} --run-number {1}", "explain {wave} --node u1 --run-number {1}"),
    ),
    "two ways to predict": Case(
        "predict {gcn} --best --refit",
        "--best and --refit do not go together; give one of them",
        ("predict {gcn} --best", "predict {gcn} --refit"),
    ),
    "the mean within a memory": Case(
        "predict {files} --memory 8GB --ensemble",
        "--memory and --ensemble do not go together; give one",
        ("predict {files} --memory 8GB", "predict {files} --ensemble"),
    ),
    "no calibration within a memory": Case(
        "predict {files} --memory 8GB --no-calibrate",
        "--memory and --no-calibrate do not go together; give one",
        ("predict {files} --no-calibrate",),
    ),
    "one table": Case(
        "predict {gcn} --edges edges.csv",
        "--edges and --nodes go together: give both, or neither",
        (f"predict {{gcn}} {TABLES}", "predict {gcn}"),
    ),
    "a file beside tables": Case(
        f"predict {{gcn}} --graph graph.npz {TABLES}",
        "--graph and --edges do not go together; give one of them",
        (f"predict {{gcn}} {TABLES}", "predict {gcn} --graph graph.npz"),
    ),
    "a folder for a model of tables": Case(
        "predict {gcn} --graph made",
        "trained on tables.*made is a graph folder; give the tables it was made from with --edges and --nodes",
        (f"predict {{gcn}} {TABLES}",),
    ),
    "tables for a model of a file": Case(
        f"predict {{file}} {TABLES}",
        "cannot read --edges and --nodes; use --graph",
        ("predict {file} --graph graph.npz",),
    ),
    "more features": Case(
        "predict {file} --graph wide.npz",
        "trained on 3 features, the graph has 4; give the columns it was trained with",
        ("predict {file} --graph graph.npz",),
    ),
    "a memory for tables": Case(
        "predict {gcn} --memory 8GB", "name one with --graph, or leave --memory out", ("predict {gcn}",)
    ),
    "a memory for a network in memory": Case(
        "predict {folder} --memory 8GB", "trained with --precompute; leave it out", ("predict {folder}",)
    ),
    "a folder that is encoded by itself": Case(
        "predict {files} --graph other --memory 8GB",
        r"other encodes its columns by its own tables, .*; make it again with `gwn (data convert --like \S+)`",
        (
            "{1} edges.csv --nodes older.csv --out other --force --memory 8GB",
            "predict {files} --graph other --memory 8GB",
            "predict {folder} --graph other",
        ),
    ),
    "a folder that was made anew": Case(
        "predict {folder}",
        "made was made anew since training, and encodes its columns differently; train again",
        (RUNS["folder"], "predict runs/made-gcn-*"),
        spoil=lambda place: gwn(
            "data convert edges.csv --nodes older.csv --label-column topic --out made --force --memory 8GB -q"
        ),
    ),
    "a run that smooths": Case(
        "predict {smooth} --refit",
        "use --ensemble or --best",
        ("predict {smooth} --ensemble", "predict {smooth} --best"),
    ),
    "eigenvectors of another graph": Case(
        "predict {spectral} --edges fewer.csv --nodes nodes.csv",
        "or train with --features structure, which suits any graph",
        (
            f"{TRAIN} --model gcn --features structure --out any",
            "predict any/nodes-gcn-* --edges fewer.csv --nodes nodes.csv",
        ),
    ),
    "a class that nobody knows": Case(
        NEW,
        "names the class 'chess', which the model does not know .*; empty the cell to predict it",
        (NEW,),
        spoil=nodes("sport", "chess"),
        mend=nodes("sport", ""),
    ),
    "columns that are not there": Case(
        NEW,
        "lacks 1 of the 2 columns that the model was trained on: 'age'; give a table with the same columns",
        (NEW,),
        spoil=nodes("age", "years"),
        mend=nodes("age", "age"),
    ),
    "words for numbers": Case(
        NEW,
        "number column 'age' has 'old' in row 1 and 44 more; write it as a number, or leave the cell empty",
        (NEW,),
        spoil=nodes(r"\d+\.\d+", "old"),
        mend=nodes(r"\d+\.\d+", "30"),
    ),
    "a file that is no folder": Case(
        "predict {gcn} --out nodes.csv/p.csv",
        "Not a directory; choose another place with --out",
        ("predict {gcn} --out p.csv",),
    ),
    "a folder that is no file": Case(
        "explain {gcn} --node u1 --out runs",
        "runs is a folder, and a file is to be written; name one in it with --out",
        ("explain {gcn} --node u1 --out runs/why.csv",),
    ),
    "a page in place of a folder": Case(
        "report {gcn} --out runs", "name one in it with --out", ("report {gcn} --out runs/page.html",)
    ),
    "a node to explain": Case("explain {gcn} --node u99x", "the nearest is '(u9)'", ("explain {gcn} --node {1}",)),
    "a node of a page": Case("report {gcn} --node u99x", "the nearest is '(u9)'", ("report {gcn} --node {1}",)),
    "a class to explain": Case(
        "explain {gcn} --node u1 --class arts", "did you mean '(art)'", ("explain {gcn} --node u1 --class {1}",)
    ),
    "a class against itself": Case(
        "explain {gcn} --node u1 --class art --against art",
        "give another one with --against",
        ("explain {gcn} --node u1 --class art --against sport",),
    ),
    "a baseline": Case(
        "explain {gcn} --node u1 --baseline men",
        r"did you mean '(mean)'",
        ("explain {gcn} --node u1 --baseline {1}",),
    ),
    "a class of numbers": Case(
        "explain {numbers} --node u1 --class art", "leave --class and --against out", ("explain {numbers} --node u1",)
    ),
    "trees": Case("explain {trees} --node u1", "explain a run of another model", ("explain {gcn} --node u1",)),
    "no look at features": Case(
        "explain {majority} --node u1", "explain a run of another model", ("explain {gcn} --node u1",)
    ),
    "a node of no run": Case("report --node u1", "name its folder: gwn report RUN", ("report {gcn} --node u1",)),
    "a format": Case(
        "export {gcn} --format torch-exprt",
        r"did you mean '(torch-export)'",
        ("export {gcn} --format {1} --out runs/gcn.pt2",),
    ),
    "a model that cannot be exported": Case(
        "export {gat}", "gat cannot be exported; these can: .*(gcn)", ("export {{1}} --out {1}.pt2",)
    ),
    "known labels in an export": Case(
        "export {masked}",
        "export one that was trained with (--labels none) and (--smooth none)",
        (f"{TRAIN} --model gcn {{1}} {{2}}", "export {gcn} --out gcn.pt2"),
    ),
    "equations in an export": Case(
        "export {solving}",
        "train it with (--set scheme=leapfrog)",
        (f"{TRAIN} --model gwn-plus {{1}} --out explicit", "export explicit/nodes-gwn-plus-* --out wave.pt2"),
    ),
    "a table that is gone": Case(
        "explain {gcn} --node u1",
        "nodes.csv, which this run was trained on, does not exist any more; put it back",
        ("explain {gcn} --node u1", "report {gcn}"),
        spoil=lambda place: (place.path / "nodes.csv").unlink(),
        mend=put_back,
    ),
    "other labels": Case(
        "report {gcn}",
        "the labels of nodes are not those that .* was trained on, .*; put the files back, or train again",
        ("report {gcn}",),
        spoil=nodes("sport", "art", "nodes.csv"),
        mend=put_back,
    ),
    "weights that were cut": Case(
        "explain {gcn} --node u1", "train again", AGAIN, spoil=cut("gcn", "run-00.safetensors")
    ),
    "a record that was cut": Case("report {gcn}", "cut or edited: train again", AGAIN, spoil=cut("gcn", "run-00.json")),
    "an edited description": Case(
        "predict {gcn}",
        "its seal does not fit.: restore it, or train again",
        AGAIN,
        spoil=edit("gcn", "config.json", '"gcn"', '"mlp"'),
    ),
    "an encoding that was edited": Case(
        "predict {gcn}", "train again", AGAIN, spoil=edit("gcn", "schema-00.json", '"age"', '"ages"')
    ),
    "an encoding that is gone": Case(
        "explain {gcn} --node u1",
        "is gone, which says how the run read its table; train again",
        AGAIN,
        spoil=lambda place: (place.run("gcn") / "schema-00.json").unlink(),
    ),
    "curves that were cut": Case(
        "report {gcn}", "train again", (RUNS["gcn"], "report {gcn}"), spoil=cut("gcn", "history-00.json")
    ),
    "a run that diverged": Case(
        "predict lost/nodes-gwn-sym-*",
        r"has no finished run: .*; use a (smaller time) or tau \(now time=300",
        (f"{TRAIN} --model gwn-sym --set time=1 --out found", "predict found/nodes-gwn-sym-*"),
        spoil=lambda place: gwn(f"{TRAIN} --model gwn-sym --set time=300 --out lost"),
    ),
    "features that overflow": Case(
        "predict long/graph-gwn-sym-* --graph huge.npz",
        r"overflows on this graph, whose features go up to \S+e\+3\d; scale them as those of the training are, or "
        "train again with a smaller time or tau",
        (
            "predict long/graph-gwn-sym-* --graph graph.npz",
            f"{WAVE_OF_FILE} --set time=1 --out short",
            "predict short/graph-gwn-sym-* --graph huge.npz",
        ),
        spoil=lambda place: gwn(f"{WAVE_OF_FILE} --set time=24 --out long"),
    ),
    "a run of a newer version": Case(
        "predict {gcn}",
        "was written by a newer version of gwn; upgrade to read it",
        ("predict {gcn}",),
        spoil=lambda place: set_format(place, FORMAT + 1),
        mend=lambda place: set_format(place, FORMAT),  # what an upgrade does: the version that reads it is this one
    ),
    "a comparison that was edited": Case(
        "predict {compared}",
        "its seal does not fit.: restore it, or delete it and compare again",
        (COMPARE, "predict {compared}"),
        spoil=edit("compared", "comparison.json", '"weight": ', '"weight": 7'),
        mend=lambda place: (place.run("compared") / "comparison.json").unlink(),
    ),
    "a comparison without sensible weights": Case(
        "predict {compared}",
        "has no models with weights from 0 to 1; it was edited: delete comparison.json and compare again",
        (COMPARE, "predict {compared}"),
        spoil=lambda place: reweigh(place),
        mend=lambda place: (place.run("compared") / "comparison.json").unlink(),
    ),
    "a second training that was cut": Case(
        "predict {gcn} --refit",
        "delete it, and --refit trains again",
        ("predict {gcn} --refit",),
        spoil=lambda place: [gwn(f"predict {place.names['gcn']} --refit -q"), cut("gcn", "refit.json")(place)],
        mend=lambda place: (place.run("gcn") / "refit.json").unlink(),
    ),
}


def set_format(place: Place, version: int) -> None:
    path = place.run("gcn") / "config.json"
    write_json(path, {**read_json(path), "format": version})


def reweigh(place: Place) -> None:
    """Weights that no comparison gives, under a seal that fits."""
    path = place.run("compared") / "comparison.json"
    record = read_json(path)
    for member in record["result"]["predictor"]["members"]:
        member["weight"] = 7.0
    write_json(path, record)


def filled(line: str, place: Place, *named: str) -> str:
    """The names of runs, and what an advice named, in their places; * as a shell has it."""
    for number, text in enumerate(named, start=1):
        line = line.replace(f"{{{number}}}", text)
    for name, folder in place.names.items():
        line = line.replace(f"{{{name}}}", folder)
    for word in line.split():
        if "*" in word:
            found = max(place.path.glob(word), key=lambda path: path.stat().st_mtime_ns)
            line = line.replace(word, str(found.relative_to(place.path)))
    return line


@pytest.mark.parametrize("case", CASES)
def test_one_line_says_what_to_do_and_doing_it_works(case: str, place: Place) -> None:
    asked = CASES[case]
    if asked.spoil is not None:
        asked.spoil(place)
    refused = gwn(filled(asked.given, place))
    assert (refused.returncode, refused.stdout) == (2, "")
    (line,) = refused.stderr.splitlines()
    assert line.startswith("gwn: ")
    said = re.search(asked.says, line)
    assert said, line
    if asked.mend is not None:
        asked.mend(place)
    for then in asked.then:
        done = gwn(filled(then, place, *said.groups()))
        assert done.returncode == 0, done.stderr
