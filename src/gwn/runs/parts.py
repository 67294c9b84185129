"""What the sections of a run's page share: cards, and names from tables that are short enough for a line."""

from __future__ import annotations

from gwn.graph import Graph
from gwn.html import Markup, fill

LONGEST = 60
"""Characters of a name on the page."""

CARD = '<section class="card $kind" id="$name"><h2>$title</h2>$body</section>'


def card(name: str, title: str, body: Markup, kind: str = "") -> Markup:
    """A section of the page; `kind` "wide" takes the whole width."""
    return fill(CARD, name=name, title=title, body=body, kind=kind)


def short(text: str) -> str:
    """A name from a table, short enough to stand in a line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def node_name(graph: Graph, node: int) -> str:
    """The id that its table gives a node, short enough for a line."""
    return short(str(node) if graph.node_ids is None else graph.node_ids[node])
