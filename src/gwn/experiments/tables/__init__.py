"""The paper's tables, one a file."""

from __future__ import annotations

from gwn.experiments.exhibit import Exhibit
from gwn.experiments.tables import base_models, datasets, heterophilic, homophilic, parameters, peers, tau

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
