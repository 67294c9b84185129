"""Where studies are kept: a SQLite file, or any database that Optuna can open; its troubles become one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy.event
import sqlalchemy.exc
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial

from gwn.errors import GWNError
from gwn.io import content_key, machine_lock, make_folder, safe_name

FOLDER = Path("studies")
MAX_RETRIES = 2
LOCK_SECONDS = 60
CREATION_TRIES = 20
"""More than Optuna has tables, each of which another machine may make first."""
GRACE = 3
"""A worker that was silent for so many heartbeats is taken for dead."""


def default_url(study: str) -> str:
    """A SQLite file of the study's own, so that searches do not wait for each other."""
    try:
        make_folder(FOLDER)
    except OSError as error:
        raise GWNError(f"cannot write {FOLDER}: {error.strerror}; name another place with --storage") from None
    return f"sqlite:///{FOLDER.as_posix()}/{safe_name(study, longest=200)}.db"


def _try_again(study: optuna.Study, trial: FrozenTrial) -> None:
    """Queue the trial of a dead worker again, with its settings if it had chosen all of them.

    From some of them alone the sampler would draw other numbers than without the kill.
    """
    retry = RetryHeartbeatStaleTrialCallback(max_retry=MAX_RETRIES)
    if "settings" not in trial.user_attrs:
        trial = copy(trial)
        trial.params, trial.distributions = {}, {}
    retry(study, trial)


def open_storage(url: str, heartbeat: int) -> RDBStorage:
    """The database, its tables made where there are none.

    heartbeat   seconds between two signs of life of a running trial; after `GRACE` missing ones it is tried again
    """
    local = url.startswith("sqlite")

    def connect() -> RDBStorage:
        return RDBStorage(
            url,
            engine_kwargs={"connect_args": {"timeout": LOCK_SECONDS}} if local else {"pool_pre_ping": True},
            heartbeat_interval=heartbeat,
            grace_period=GRACE * heartbeat,
            heartbeat_stale_trial_callback=_try_again,
        )

    # Optuna's tables are not made in one act: two processes that find none would be in each other's way.
    with storage_errors(url), silent_optuna(), storage_lock(url, "tables"):
        for left in reversed(range(CREATION_TRIES)):
            try:
                storage = connect()
                break
            except sqlalchemy.exc.DBAPIError as error:  # on a server without our lock another machine may be faster
                made = isinstance(error, sqlalchemy.exc.IntegrityError) or "already exists" in str(error)
                if left == 0 or not made:
                    raise
        if local:
            sqlalchemy.event.listen(storage.engine, "connect", _use_write_ahead_log)
            storage.engine.dispose()
            with storage.engine.connect():
                pass
        return storage


@contextmanager
def storage_lock(url: str, what: str) -> Iterator[None]:
    """One process at a time does `what` with this storage: of this machine, and of all machines under PostgreSQL.

    The server gives its lock back when the transaction ends, so when its process or its connection does.
    """
    with machine_lock(f"{url} {what}"):
        if not url.startswith("postgresql"):
            yield
            return
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
        with engine.begin() as connection:
            key = int(content_key({"gwn": what}), 16)
            connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            yield


def _use_write_ahead_log(connection: Any, record: Any) -> None:
    """A trial is some forty commits, and waiting for the disk in each costs more than training a small graph.

    With a write-ahead log a killed process loses nothing all the same, and readers do not wait for writers.
    """
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def storage_errors(url: str) -> Iterator[None]:
    """What a database can say, as one line that does not show its password."""
    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, StorageInternalError, ImportError) as error:
        raise GWNError(
            f"the study storage {readable(url)} cannot be used: {_reason(error)}; mend that, or name another "
            f"place, such as --storage sqlite:////tmp/study.db"
        ) from None
    except RuntimeError as error:
        if "optuna" not in str(error):
            raise
        raise GWNError(f"the study storage {readable(url)} cannot be used: {error}") from None


@contextmanager
def silent_optuna() -> Iterator[None]:
    """Neither log lines nor notes on what Optuna calls experimental."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(before)


def is_locked(error: BaseException) -> bool:
    """Whether another process was busy with the file for longer than `LOCK_SECONDS`."""
    return isinstance(error, (sqlalchemy.exc.SQLAlchemyError, StorageInternalError)) and "locked" in _reason(error)


def readable(url: str) -> str:
    """The URL without its password."""
    try:
        return sqlalchemy.engine.make_url(url).render_as_string(hide_password=True)
    except sqlalchemy.exc.ArgumentError:
        return repr(url.partition("://")[0])


def _reason(error: BaseException) -> str:
    deepest = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    original = getattr(deepest, "orig", None) or deepest
    if isinstance(error, sqlalchemy.exc.ArgumentError) and "URL" in str(error):
        return "it is not a database URL such as sqlite:///study.db or postgresql://user:password@host/name"
    return str(original).partition("\n")[0] or type(original).__name__
