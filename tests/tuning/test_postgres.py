"""Two workers, as if on two machines, share one search through a PostgreSQL server."""

from __future__ import annotations

import json
import multiprocessing
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from gwn import GWNError
from gwn.tuning import SearchJob, plan_search
from gwn.tuning.storage import open_storage

PASSWORD = "not-to-be-shown"
ROUNDS = 10


def program(name: str) -> str | None:
    """A program of PostgreSQL: on the path, or where Debian's package puts it."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(debian[-1]) if debian else None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a database on a server that lives as long as this file's tests."""
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed: pip install graph-wave-networks[postgres]")
    initdb, postgres = program("initdb"), program("postgres")
    if initdb is None or postgres is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="gwn-postgres-") as name:
        folder, owner = Path(name), {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            account = pwd.getpwnam("nobody")
            os.chown(folder, account.pw_uid, account.pw_gid)
            owner = {"user": account.pw_uid, "group": account.pw_gid}
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, **owner}
        data, sockets = str(folder / "data"), f"unix_socket_directories={folder}"
        made = [initdb, "-D", data, "-U", "gwn", "-A", "md5", f"--pwfile={secret}", "--no-sync"]
        subprocess.run(made, check=True, **options)
        listening = ["-c", "listen_addresses=", "-c", sockets, "-c", "fsync=off"]  # a port might be taken meanwhile
        with subprocess.Popen([postgres, "-D", data, *listening], stderr=subprocess.DEVNULL, **options) as running:
            try:
                url = f"postgresql+psycopg2://gwn:{PASSWORD}@/postgres?host={folder}"
                _wait_for(url, running)
                yield url
            finally:
                running.send_signal(signal.SIGQUIT)  # its data are thrown away: no checkpoint, no waiting for clients


def _wait_for(url: str, running: subprocess.Popen[bytes]) -> None:
    import sqlalchemy

    for _ in range(3000):
        try:
            sqlalchemy.create_engine(url).connect().close()
            return
        except sqlalchemy.exc.OperationalError:
            if running.poll() is not None:
                break
            time.sleep(0.1)
    pytest.fail("the PostgreSQL server did not start")


@pytest.mark.slow
def test_four_machines_start_at_once_on_an_empty_database(server: str, tmp_path: Path) -> None:
    """Ten times: whoever comes second finds the tables and the study of the first."""
    plan, context = plan_search("csbm", "gwn-sym").plan, multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gwn.tuning", "psycopg2"])
    together, answers = context.Barrier(5), context.SimpleQueue()
    machines = []
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = SearchJob(plan=plan, url=server, name=plan.name, trials=1)
        machines.append(context.Process(target=_machine, args=(job, folder, together, answers), daemon=True))
        machines[-1].start()
    for _ in range(ROUNDS):
        _empty(server)
        together.wait()
        together.wait()
    assert [answers.get() for _ in machines] == [[plan.name] * ROUNDS] * 4
    for machine in machines:
        machine.join()


def _machine(job: SearchJob, folder: Path, together: Barrier, answers: SimpleQueue[list[str]]) -> None:
    """A process that shares no lock files with the others; answers with the studies that it opened, or with why not."""
    tempfile.tempdir = str(folder)
    found = []
    for _ in range(ROUNDS):
        together.wait()
        try:
            found.append(job.open_study().study_name)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        together.wait()
    answers.put(found)


def _empty(server: str) -> None:
    """Leave no table and no connection."""
    import sqlalchemy

    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' "
    with sqlalchemy.create_engine(server).begin() as connection:
        connection.execute(sqlalchemy.text(others + "AND pid <> pg_backend_pid()"))
        connection.execute(sqlalchemy.text("DROP SCHEMA public CASCADE"))
        connection.execute(sqlalchemy.text("CREATE SCHEMA public"))


@pytest.mark.slow
def test_two_machines_share_one_search(server: str, tmp_path: Path) -> None:
    """Two commands with nothing in common but the storage do each trial once, and agree on the winner."""
    _empty(server)
    command = ["tune", "csbm", "--trials", "6", "--final-runs", "1", "--search-splits", "1", "--storage", server, "-q"]
    fixed = ["--set", "epochs=2", "--set", "hidden_channels=8", "--json"]
    workers = []
    for number in range(2):
        folder = tmp_path / str(number)
        (folder / "tmp").mkdir(parents=True)
        own = {"TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1"}  # locks are not shared either
        workers.append(
            subprocess.Popen(
                [sys.executable, "-m", "gwn", *command, *fixed],
                cwd=folder,
                env={**os.environ, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    outputs = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    first, second = (json.loads(out) for out, _ in outputs)
    assert first["settings"] == second["settings"]
    assert first["search"]["trials"] == second["search"]["trials"] == 6
    assert PASSWORD not in "".join(text for pair in outputs for text in pair)


def test_password_is_not_shown(server: str) -> None:
    with pytest.raises(GWNError) as error:
        open_storage(server.replace("/postgres?", "/nothing?").replace(PASSWORD, "wrong-secret"), 10)
    assert "cannot be used" in str(error.value)
    assert "wrong-secret" not in str(error.value)
