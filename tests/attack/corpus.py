"""Files that once went wrong: `corpus/FORMAT/WHAT/FILE` takes the place of FILE in the inputs of that format.

`python -m tests.attack mutations` puts a file here for every mutation that breaks the contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .arena import fresh, published, run
from .mutations import FORMATS, SECONDS, Format, find

CORPUS = Path(__file__).parent / "corpus"


def slug(name: str) -> str:
    """The name of a format as the name of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", name)


def cases() -> Iterator[tuple[Format, Path]]:
    """Every file of the corpus with its format."""
    for form in FORMATS:
        for path in sorted((CORPUS / slug(form.name)).glob("*/*")):
            yield form, path


def attack(form: Format, path: Path, whole: Path, place: Path) -> str:
    """Give the file to the command of its format; what is wrong with the answer, "" where nothing is."""
    work = fresh(whole, place / "case")
    target = find(work, next(name for name in form.files if Path(name).name == path.name))
    target.write_bytes(path.read_bytes())
    before = published(work)
    done = run(form.arguments, work, seconds=SECONDS)
    now = published(work)
    harmed = [name for name, content in before.items() if now.get(name) != content]
    return done.complaint() or (f"{harmed[0]} was changed" if harmed else "")


def keep(form: Format, what: str, target: Path) -> None:
    """Take a file into the corpus."""
    kept = CORPUS / slug(form.name) / what / target.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(target.read_bytes())
