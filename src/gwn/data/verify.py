"""Are the files there, and are they the originals? Answered from their bytes, without opening one."""

from __future__ import annotations

from gwn.data import DATASETS
from gwn.data.store import data_roots, sha256
from gwn.registry import lookup


def verify(name: str) -> list[tuple[str, str]]:
    """Every file of a dataset with its status.

    ok, missing, changed (it will be refused), or unknown (not a hash we know, but harmless to read)
    """
    spec = lookup("dataset", name, DATASETS)
    roots = data_roots()
    unpacked = any(all((root / path).is_file() for path in spec.unpacked) for root in roots)
    archived = any(all((root / path).is_file() for path in spec.files) for root in roots)
    expected = dict.fromkeys(spec.unpacked, "") if spec.unpacked and unpacked and not archived else spec.files
    report = []
    for path, digest in expected.items():
        found = next((root / path for root in roots if (root / path).is_file()), None)
        if found is None:
            status = "missing"
        elif sha256(found) == digest:
            status = "ok"
        else:
            status = "changed" if spec.pinned else "unknown"
        report.append((path, status))
    return report
