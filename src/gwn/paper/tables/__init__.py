"""The paper's tables, one a file."""

from __future__ import annotations

from gwn.paper.exhibit import Exhibit
from gwn.paper.tables import base_models, datasets, heterophilic, homophilic, parameters, peers, tau

TABLES: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (
        homophilic.EXHIBIT,
        heterophilic.EXHIBIT,
        base_models.EXHIBIT,
        tau.HOMOPHILIC,
        tau.HETEROPHILIC,
        peers.EXHIBIT,
        datasets.EXHIBIT,
        parameters.EXHIBIT,
    )
}
