"""Every model by name."""

from __future__ import annotations

from gwn.models import waves as wave_models
from gwn.models.peers import (
    acm_gcn,
    adc,
    air,
    appnp,
    bernnet,
    cgnn,
    chebnet2,
    fagcn,
    gadc,
    gat,
    gcn,
    gcnii,
    gdc,
    geom_gcn,
    ggcn,
    glognn,
    gpr_gnn,
    grand,
    graphcon,
    graphsage,
    h2gcn,
    jacobi,
    jk_net,
    linkx,
    majority,
    mixhop,
    mlp,
    nlmlp,
    nsd,
    ordered_gnn,
    resgcn,
    sgc,
    tuned,
    wrgat,
)
from gwn.models.spec import ModelSpec
from gwn.registry import lookup

MODELS: dict[str, ModelSpec] = {
    "gwn-sym": wave_models.GWN_SYM,
    "gwn-fa": wave_models.GWN_FA,
    "gwn": wave_models.GWN_ANY,
    "mlp": mlp.SPEC,
    "gcn": gcn.SPEC,
    "gat": gat.SPEC,
    "graphsage": graphsage.SPEC,
    "sgc": sgc.SPEC,
    "appnp": appnp.SPEC,
    "jk-net": jk_net.SPEC,
    "resgcn": resgcn.SPEC,
    "gcnii": gcnii.SPEC,
    "fagcn": fagcn.SPEC,
    "gpr-gnn": gpr_gnn.SPEC,
    "mixhop": mixhop.SPEC,
    "linkx": linkx.SPEC,
    "majority": majority.SPEC,
    "gcn-tuned": tuned.GCN_TUNED,
    "sage-tuned": tuned.SAGE_TUNED,
    "gat-tuned": tuned.GAT_TUNED,
    "acm-gcn": acm_gcn.ACM_GCN,
    "acm-gcn-plus": acm_gcn.ACM_GCN_PLUS,
    "jacobi": jacobi.SPEC,
    "chebnet2": chebnet2.SPEC,
    "bernnet": bernnet.SPEC,
    "gdc": gdc.SPEC,
    "cgnn": cgnn.SPEC,
    "adc": adc.SPEC,
    "gadc": gadc.SPEC,
    "grand": grand.SPEC,
    "graphcon": graphcon.SPEC,
    "air": air.SPEC,
    "h2gcn": h2gcn.SPEC,
    "ggcn": ggcn.SPEC,
    "nlmlp": nlmlp.SPEC,
    "glognn": glognn.SPEC,
    "nsd": nsd.SPEC,
    "ordered-gnn": ordered_gnn.SPEC,
    "geom-gcn": geom_gcn.SPEC,
    "wrgat": wrgat.SPEC,
}


def model_spec(name: str) -> ModelSpec:
    """The model `name`, or an error that suggests the nearest one."""
    return lookup("model", name, MODELS)


__all__ = ["MODELS", "ModelSpec", "model_spec"]
