"""MkDocs hook: pages of the site whose text lives elsewhere, so that nothing is written twice.

README.md, CONTRIBUTING.md, CHANGELOG.md and SECURITY.md are pages as they are; the scripts in examples/ are shown in
full. Links that leave docs/ point to the page of the site where there is one, and to the source code otherwise.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
SOURCE = "https://github.com/graph-wave-networks/graph-wave-networks/blob/main"
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
EXAMPLES = "examples/README.md"
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?(\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=LINK.sub(_from_root, text)))
    files.append(File.generated(config, "examples.md", content=examples()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links out of docs/, as GitHub needs them, become links that work on the site."""
    return LINK.sub(lambda link: _from_root(link, "../") if link[2].startswith("../") else link[0], markdown)


def examples() -> str:
    """Every script of examples/ in the order of its README, below what its docstring says."""
    table = (ROOT / EXAMPLES).read_text(encoding="utf-8")
    parts = ["# Examples", "Each script runs as it stands, downloads nothing, and is run by the tests."]
    for name in re.findall(r"^\| \[(\w+\.py)\]", table, re.MULTILINE):
        code = (ROOT / "examples" / name).read_text(encoding="utf-8")
        title = name.removesuffix(".py").replace("_", " ").capitalize()
        first = (ast.get_docstring(ast.parse(code)) or "").splitlines()[0]
        parts += [f"## {title}", first, f"`python examples/{name}`", f"```python\n{code}```"]
    return "\n\n".join(parts)


def _from_root(link: re.Match[str], prefix: str = "") -> str:
    target = link[2].removeprefix(prefix)
    if target.startswith("docs/"):
        target = target.removeprefix("docs/")
    elif "://" not in target:
        target = {**PAGES, EXAMPLES: "examples.md"}.get(target, f"{SOURCE}/{target}")
    return f"{link[1]}{target}{link[3] or ''}{link[4]}"
