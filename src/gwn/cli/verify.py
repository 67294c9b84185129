"""`gwn verify`: whether stored files are what was written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from gwn.errors import GWNError

Check = Callable[[Path], str]
"""Looks at one file: "" where it is sound and sealed, a remark where it is sound otherwise; GWNError where not."""

OLD = "no seal (written by version 0.1)"
UNSEALED = "no seal (settings and studies have none: they could only be read)"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found out about one file, or about the graph in one folder."""

    path: Path
    remark: str = ""
    wrong: bool = False


def verify(
    folder: Path = typer.Argument(..., help="A run, a graph folder, results, or any folder above them."),
    as_json: bool = typer.Option(False, "--json", help="Print every file as JSON."),
) -> None:
    """Read every stored file below a folder and compare it with its seal; the exit code is 2 where one does not fit.

    Examples:

      gwn verify runs

      gwn verify runs/cora-gwn-fa-0123456789ab --json
    """
    from gwn.cli.terminal import print_prose, print_table

    if not folder.is_dir():
        raise GWNError(f"{folder} is not a folder; give one that gwn wrote, for example runs")
    found = list(findings(folder))
    wrong = [each for each in found if each.wrong]
    if as_json:
        rows = [{"file": str(each.path), "sound": not each.wrong, "remark": each.remark} for each in found]
        typer.echo(json.dumps({"folder": str(folder), "files": len(found), "wrong": len(wrong), "found": rows}))
    elif found:
        print_table(("folder", "files", "sound", "without a seal", "wrong"), list(_by_folder(folder, found)))
        for each in wrong:
            print_prose(f"wrong: {each.remark}")
    if not found:
        raise GWNError(f"{folder} has no file of gwn; give a run, a graph folder, results, or a folder above them")
    if wrong:
        raise GWNError(f"{len(wrong)} of {len(found)} files in {folder} are not what was written: {wrong[0].remark}")
    if not as_json:
        old, unsealed = (sum(each.remark == remark for each in found) for remark in (OLD, UNSEALED))
        sealed = f"All {len(found)} files" if not unsealed else f"The other {len(found) - unsealed} files"
        note = f" {old} of them are from version 0.1 and have no seal: they could only be read." if old else ""
        first = f"{unsealed} settings and studies have no seal: they could only be read. " if unsealed else ""
        said = f"{sealed} are what was written.{note}" if unsealed < len(found) else ""
        print_prose(f"{first}{said}".strip())


def _by_folder(root: Path, found: list[Finding]) -> Iterator[tuple[str, ...]]:
    places: dict[Path, list[Finding]] = {}
    for each in found:
        places.setdefault(each.path.parent, []).append(each)
    for place, members in sorted(places.items()):
        wrong, old = sum(each.wrong for each in members), sum(each.remark in (OLD, UNSEALED) for each in members)
        counts = (len(members), len(members) - wrong, old, wrong)
        yield (str(place.relative_to(root.parent) if place != root else root), *map(str, counts))


def findings(root: Path) -> Iterator[Finding]:
    """Every file below `root` that this program wrote, except pages and pictures, which nothing reads."""
    checks: dict[str, Check] = {
        ".json": _json,
        ".checkpoint": _checkpoint,
        ".toml": _toml,
        ".db": _database,
        ".npy": _array,
        ".safetensors": _weights,
        ".parquet": _table,
    }
    graphs = {path.parent for path in root.rglob("meta.json")}
    for path in sorted(root.rglob("*")):
        check = checks.get(path.suffix)
        if path.name == "meta.json":
            check = _graph
        elif path.parent in graphs:
            continue  # belongs to the graph, which names its files
        if path.suffix == ".parquet" and not path.with_name("config.json").is_file():
            continue  # a table of the user's
        if check is None or any(part.startswith(".") for part in path.relative_to(root).parts):
            continue
        try:
            yield Finding(path=path, remark=check(path))
        except GWNError as error:
            yield Finding(path=path, remark=str(error), wrong=True)
        except (KeyError, TypeError, AttributeError) as error:
            yield Finding(path=path, remark=f"{path} lacks what belongs into it ({error!r})", wrong=True)
        except OSError as error:
            yield Finding(path=path, remark=f"{path} cannot be read: {error.strerror or error}", wrong=True)


def _json(path: Path) -> str:
    from gwn.io import is_sealed, json_sha256, read_json
    from gwn.training import RunResult

    data = read_json(path)
    if "cell" in data:
        seal = data.pop("sha256", None)
        if seal != json_sha256(data):
            raise GWNError(f"{path} is not what was written (its checksum does not fit)")
        return ""
    if _is_run(path):
        _run(path, RunResult.from_json(data))
    if path.name == "result.json":
        for run in data["runs"]:
            record = path.with_name(f"run-{run['run']:02d}.json")
            if not record.is_file() or _measured(read_json(record)) != _measured(run):
                raise GWNError(f"{path} speaks of a {record.name} that is gone or was replaced; train again")
    return "" if is_sealed(path) else OLD


def _measured(run: dict[str, Any]) -> dict[str, Any]:
    """A run's record without what a clock says: of two processes that computed it, each has its own."""
    return {name: value for name, value in run.items() if name not in ("seconds", "peak_memory_mib")}


def _is_run(path: Path) -> bool:
    return path.stem.startswith("run-") and path.stem[4:].isdecimal()


def _run(path: Path, result: object) -> None:
    from gwn.io import read_weights
    from gwn.training import RunResult

    assert isinstance(result, RunResult)
    if result.status == "ok":
        read_weights(path.with_suffix(".safetensors"), result.weights_sha256)


def _weights(path: Path) -> str:
    """Those of a run are looked at with its record; others have their hash in a file beside them."""
    from gwn.io import read_json, read_weights

    record = path.with_suffix(".json")
    if not record.is_file():
        return "of a run that was not finished"
    if not _is_run(path):
        read_weights(path, str(read_json(record)["sha256"]))
    return ""


def _table(path: Path) -> str:
    """The tables of a saved estimator have their hashes in its configuration."""
    from gwn.io import read_json
    from gwn.training.predict import check_own_file

    check_own_file(path, read_json(path.with_name("config.json")))
    return ""


def _array(path: Path) -> str:
    from gwn.data.folders.arrays import check_array
    from gwn.io import read_json

    record = path.with_suffix(".json")
    if not record.is_file():
        return "not finished"
    check_array(path, read_json(record))
    return ""


def _graph(path: Path) -> str:
    from gwn.data.folders.folder import GraphFolder
    from gwn.io import is_sealed

    GraphFolder.open(path.parent).verify()
    return "" if is_sealed(path) else OLD


def _checkpoint(path: Path) -> str:
    from gwn.training.checkpoint import verify_checkpoint

    return "" if verify_checkpoint(path) else OLD


def _toml(path: Path) -> str:
    from gwn.io import read_toml

    read_toml(path)
    return UNSEALED


def _database(path: Path) -> str:
    alone = not path.with_name(f"{path.name}-wal").exists()  # nobody works in it: leave no file beside it
    options = "immutable=1" if alone else "mode=ro"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True)) as study:
        try:
            (answer,) = study.execute("PRAGMA integrity_check").fetchone()
        except sqlite3.DatabaseError as error:
            answer = str(error)
    if answer != "ok":
        raise GWNError(f"{path} is damaged: {answer}; restore it or delete it and search again")
    return UNSEALED
