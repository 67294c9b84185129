"""The small campaign: every accident on the disk, the corpus, and a share of everything else.

Random kills depend on the clock: `make attack` has them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the campaign forks and reads /proc"),
]
CLONE = Path(__file__).parents[2]
LEAST = {"bounds": 90, "corpus": 10, "crowds": 4, "flips": 20, "mutations": 500, "faults": 500}


@pytest.mark.parametrize("parts", [("faults",), ("bounds", "corpus", "crowds", "flips", "mutations")], ids=" ".join)
def test_nothing_is_violated(parts: tuple[str, ...], tmp_path: Path) -> None:
    """In a process of its own, which imports PyTorch once."""
    out = tmp_path / "attack.json"
    command = [sys.executable, "-m", "tests.attack", *parts, "--small", "--out", str(out)]
    done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True)
    assert out.exists(), done.stderr
    found = json.loads(out.read_text())["parts"]
    for part in parts:
        assert found[part]["violations"] == []
        assert found[part]["done"]
        assert found[part]["attempts"] >= LEAST[part]
