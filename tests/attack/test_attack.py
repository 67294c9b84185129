"""A small campaign, in one process that imports PyTorch once: the parts that do the same on every machine.

Random kills depend on the clock: `make attack` has them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the campaign forks and reads /proc"),
]
CLONE = Path(__file__).parents[2]
PARTS = {"bounds": 60, "faults": 20, "crowds": 4, "flips": 20, "mutations": 500}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("attack") / "attack.json"
    command = [sys.executable, "-m", "tests.attack", *PARTS, "--small", "--out", str(out)]
    done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True)
    assert out.exists(), done.stderr
    found: dict[str, Any] = json.loads(out.read_text())["parts"]
    return found


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_violated(campaign: dict[str, Any], part: str) -> None:
    assert campaign[part]["violations"] == []
    assert campaign[part]["done"]
    assert campaign[part]["attempts"] >= PARTS[part]
