"""Commands in forked children: PyTorch is imported once, and each child has bounds on time and memory.

The process that forks has one thread, so that no lock of another one is inherited.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SECONDS = 30
MEMORY = 6 << 30
"""Of address space beside what the parent holds: PyTorch maps a lot that it never touches."""

PRELOADED = (
    *("optuna", "optuna.storages", "optuna.samplers", "pandas", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.csv"),
    *("pydantic", "typer._adapters", "torch_geometric.data", "sklearn.model_selection", "gwn.distributed.runs"),
    *("rich._emoji_codes", "encodings.utf_8_sig", "encodings.cp437", "sqlalchemy", "alembic"),
)
CLOCK = ("seconds", "created", "peak_memory_mib", "sealed", "seal", "environment")
"""Entries of records that differ from run to run, and the seals over them."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended: its code (or minus the signal), what it said, how long it took."""

    code: int
    out: str
    err: str
    seconds: float

    def complaint(self, *, allowed: Sequence[int] = (0, 2)) -> str:
        """What breaks the contract: right answer with 0, or one line with 2; "" where nothing does."""
        said = self.err.strip()
        if self.code not in allowed:
            last = said.splitlines()[-1][:300] if said else ""
            return f"exit code {self.code}: {last}"
        if "Traceback" in said:
            return "a traceback"
        if self.code == 2 and (not said or not said.splitlines()[-1].startswith("gwn: ")):
            return f"no line that says why: {said[-200:]!r}"
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", self.out + self.err):
            return "control characters"
        return ""


def nothing() -> None:
    """What is done where nothing has to be."""


def load() -> None:
    """Import what commands need, once."""
    import gc
    from importlib import import_module

    import torch

    for name in PRELOADED:
        with suppress(ImportError):  # of other versions of these packages
            import_module(name)
    import gwn.cli.main
    import gwn.data.folders.convert
    import gwn.data.folders.generate
    import gwn.outofcore.experiment
    import gwn.paper.exhibits
    import gwn.training
    import gwn.tuning  # noqa: F401

    torch.set_num_threads(1)
    _warm_up()
    gc.collect()
    gc.freeze()


def _warm_up() -> None:
    """Do once in the parent what every command would do again, without gradients: PyTorch forbids them in a child then.

    What is kept depends on no input: which commands and options there are, versions of packages, Optuna's tables.
    """
    import alembic.util
    import torch
    import typer.main
    from optuna.storages import RDBStorage

    import gwn.training.result
    from gwn.cli.main import main
    from gwn.training.outputs import judge_classes

    kept: tuple[tuple[Any, str], ...] = (
        (typer.main, "get_command"),
        (gwn.training.result, "version"),
        (alembic.util, "load_python_file"),
    )
    for module, name in kept:
        setattr(module, name, cache(getattr(module, name)))
    with suppress(SystemExit), redirect_stdout(io.StringIO()):
        main(["models"])  # what is imported on the way to any command
    RDBStorage("sqlite://").engine.dispose()
    gwn.training.result.environment(torch.device("cpu"))
    judge_classes(torch.eye(3), torch.arange(3), 1.0)


def run(
    arguments: Sequence[str],
    folder: Path,
    *,
    prepare: Callable[[], object] = nothing,
    ended: Callable[[], object] = nothing,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    kill_after: float | None = None,
) -> Outcome:
    """`gwn ARGUMENTS` in `folder`, in a child of its own.

    prepare      called in the child before the command
    ended        called in the child after a command that ended well
    kill_after   seconds after which the child is killed without warning
    """
    started = start(arguments, folder, prepare=prepare, ended=ended, seconds=seconds, memory=memory)
    return finish(*started, kill_after, seconds)


def start(
    arguments: Sequence[str],
    folder: Path,
    *,
    prepare: Callable[[], object] = nothing,
    ended: Callable[[], object] = nothing,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> tuple[int, Path, float]:
    """Begin a command; what `finish` needs to wait for it."""
    said = Path(f"{folder}.said-{os.getpid()}-{time.monotonic_ns()}")
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        _be_the_command(arguments, folder, said, prepare, ended, seconds, memory)
    return child, said, begun


def finish(child: int, said: Path, begun: float, kill_after: float | None = None, seconds: float = SECONDS) -> Outcome:
    """Wait for a command, not longer than its bound."""
    deadline = begun + (2 * seconds + 5 if kill_after is None else kill_after)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(0.002)
    out, err = _texts(said)
    return Outcome(code=os.waitstatus_to_exitcode(status), out=out, err=err, seconds=time.monotonic() - begun)


def _texts(said: Path) -> list[str]:
    texts = []
    for name in ("out", "err"):
        path = said.with_name(f"{said.name}.{name}")
        texts.append(path.read_text(errors="replace") if path.exists() else "")
        path.unlink(missing_ok=True)
    return texts


def _be_the_command(
    arguments: Sequence[str],
    folder: Path,
    said: Path,
    prepare: Callable[[], object],
    ended: Callable[[], object],
    seconds: float,
    memory: int,
) -> None:
    whole = int(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_held() + memory, resource.RLIM_INFINITY))
    code = _call(arguments, folder, said, prepare)
    if code == 0:
        ended()
    os._exit(code)


def _call(arguments: Sequence[str], folder: Path, said: Path, prepare: Callable[[], object] = nothing) -> int:
    """The command in this process, with what it says in files; its exit code."""
    code = 99
    try:
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            handle = os.open(f"{said}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        sys.argv = ["gwn", *arguments]
        prepare()
        from gwn.cli.main import main

        try:
            main(list(arguments))
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code


def in_child(work: Callable[[], object]) -> None:
    """Do something that must not be done in this process, which has to stay without threads."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("a child failed")


def run_many(jobs: Sequence[tuple[Sequence[str], Path]], *, seconds: float = SECONDS) -> list[Outcome]:
    """Several commands one after the other in one child, which is replaced where one of them ends it."""
    done: list[Outcome] = []
    while len(done) < len(jobs):
        first = len(done)
        folder = jobs[first][1]
        said = Path(f"{folder}.said-{os.getpid()}-{time.monotonic_ns()}")
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            for number in range(first, len(jobs)):
                _one_of_many(*jobs[number], said.with_name(f"{said.name}-{number}"), seconds)
            os._exit(0)
        last = finish(child, said, begun, 2 * seconds * (len(jobs) - first) + 5, seconds)
        for number in range(first, len(jobs)):
            own = said.with_name(f"{said.name}-{number}")
            ended = own.with_name(f"{own.name}.code")
            code = int(ended.read_text()) if ended.exists() else last.code
            finished = ended.exists()
            ended.unlink(missing_ok=True)
            out, err = _texts(own)
            done.append(Outcome(code=code, out=out, err=err, seconds=time.monotonic() - begun))
            if not finished:
                break
    return done


def _one_of_many(arguments: Sequence[str], folder: Path, said: Path, seconds: float) -> None:
    used = int(sum(os.times()[:2])) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + int(seconds), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (_held() + MEMORY, resource.RLIM_INFINITY))
    code = _call(arguments, folder, said)
    Path(f"{said}.code").write_text(str(code))


def _held() -> int:
    if sys.platform != "linux":
        return 0
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def published(folder: Path) -> dict[str, Any]:
    """Every file that has its name, without what a clock or a counter decides."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in inside.parts) or path.suffix in SKIPPED:
            continue
        content = path.read_bytes()
        if path.suffix == ".json":
            try:
                found[str(inside)] = timeless(json.loads(content))
            except (ValueError, RecursionError):
                found[str(inside)] = content
        else:
            found[str(inside)] = content
    return found


def versions(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Every file that has its name, by what changes when somebody writes to it."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = os.path.join(place, name)
                state = os.stat(path)
                found[path] = state.st_ino, state.st_size, state.st_mtime_ns
    return found


SKIPPED = (".db", ".checkpoint", ".db-wal", ".db-shm", ".db-journal")


def timeless(data: Any) -> Any:
    """JSON without what differs from run to run."""
    if isinstance(data, dict):
        return {name: timeless(value) for name, value in data.items() if name not in CLOCK}
    return [timeless(value) for value in data] if isinstance(data, list) else data


def leftovers(folder: Path) -> list[str]:
    """Private names that nobody cleaned up."""
    return [
        str(path.relative_to(folder)) for path in folder.rglob(".*") if ".part" in path.name or ".old-" in path.name
    ]


def fresh(template: Path, place: Path) -> Path:
    """A copy of a folder, in the place of what was there."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(template, place, symlinks=True)
    return place
