"""A lock among the processes of one machine that a killed process cannot keep."""

from __future__ import annotations

import getpass
import tempfile
from pathlib import Path

from filelock import FileLock

from gwn.training.store import content_key


def machine_lock(what: str) -> FileLock:
    """The lock for `what`; its file lies in the temporary folder, so that results have no lock files beside them."""
    key = content_key({"user": getpass.getuser(), "what": what})
    return FileLock(Path(tempfile.gettempdir()) / f"gwn-{key}.lock", thread_local=False)
