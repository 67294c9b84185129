"""The picture of the explorer in the documentation, made by `make images`: the page of Cora in a real browser.

The physical pulse beside the paper's sign, at a moment when both have left their start. Needs Chromium and Playwright.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.explorer import browser_page  # noqa: E402
from gwn.data import load_dataset  # noqa: E402
from gwn.explore.page import write_explorer  # noqa: E402
from gwn.explore.subject import Subject  # noqa: E402

MOMENT = "#t=3.1&compare=sym"


def main(target: Path) -> None:
    data = load_dataset("cora")
    with tempfile.TemporaryDirectory() as folder:
        page_file = write_explorer(Subject(graph=data.pictured, name=data.name), Path(folder))
        with browser_page(page_file, MOMENT) as page:
            page.screenshot(path=target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
