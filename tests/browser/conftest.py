"""A real browser, where the system has one, and pages that must load whole and without a word of complaint."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No sandbox, because tests in a container run as root; no graphics card, because a container has none.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE = 600_000

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium of the system's packages, or the one that GWN_BROWSER names."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make setup")
    found = os.environ.get("GWN_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here: apt-get install chromium, or set GWN_BROWSER to a browser's path")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def visit(browser: Any) -> Iterator[Open]:
    """Open a page from the disk and wait until it is ready; in the end, nothing may have failed or complained."""
    trouble: list[str] = []
    contexts = []

    def visit_page(page_file: Path, *, phone: bool = False, script: str = "", fragment: str = "") -> Any:
        size = {"width": 360, "height": 740} if phone else {"width": 1280, "height": 900}
        context = browser.new_context(viewport=size, has_touch=phone, is_mobile=phone)
        context.add_init_script(script)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: trouble.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda request: trouble.append(f"failed: {request.url}"))
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:", "blob:")) else trouble.append(f"asked: {request.url}")
            ),
        )
        page.goto(page_file.resolve().as_uri() + fragment)
        page.wait_for_selector("body[data-ready]")  # no function: a strict policy forbids what would ask it
        return page

    yield visit_page
    for context in contexts:
        context.close()
    assert trouble == []


def fits(page: Any) -> bool:
    """Whether nothing sticks out to the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong with a page, a line each: its rule, how grave it is, and where."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not here: make setup")
    apart = {"preload": False}  # style sheets are not fetched a second time, which the pages' own policy forbids
    found = axe.Axe().run(page, options=apart).response["violations"]
    return [f"{each['id']} ({each['impact']}): {[node['target'] for node in each['nodes']][:3]}" for each in found]


UNNAMED = """[...document.querySelectorAll('button, input, select, [role=img]')].filter((each) =>
    !(each.getAttribute('aria-label') || each.textContent.trim() || (each.labels && each.labels.length)))
    .map((each) => each.outerHTML)"""
