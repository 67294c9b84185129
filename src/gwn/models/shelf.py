"""The shelf: every model by name, as data. A network's module is imported when the network is first used."""

from __future__ import annotations

from gwn.dimension import Dimension, Value, choices
from gwn.models.spec import ModelSpec
from gwn.registry import lookup

_BOTH = (False, True)
_AUTHORS = {"reference": True}
"""The form of the authors' code is the default where it differs from the paper's, which is `reference=false`."""
_PAPERS = {"reference": False}
"""What was stored before there was a choice, or while it was the default, has the paper's form."""
_TUNED = choices(num_layers=(2, 3, 4, 5), norm=("batch", "layer", "none"), residual=_BOTH, hidden_channels=(64, 128))
_GROUP = (
    Dimension(setting="group_lr", low=0.001, high=0.1, log=True),
    Dimension(setting="group_weight_decay", low=1e-6, high=0.1, log=True, or_zero=True),
)
"""Of models whose network has a `parameter_group`."""
_FILTER = (*choices(filter_dropout=(0.0, 0.5, 0.7, 0.9)), *_GROUP)
_MIXING = (*choices(acmii=_BOTH, layer_norm=_BOTH), Dimension(setting="lr", low=0.005, high=0.1, log=True))
_DIFFUSION = choices(time=(1.0, 2.0, 5.0), num_terms=(5, 10))
_STACK: dict[str, Value] = {"encoder": False, "head": False, "ego": False, "norm": "none"}
"""Banks alone, as ACM-GCN has its layers: the first one sees the features, the last one gives the classes."""
_INSIDE: dict[str, Value] = {"encoder": True, "head": True, "ego": True, "norm": "layer"}
"""Banks between an encoder and a head, which also sees what the encoder says."""
_BLOCKS = (
    *choices(num_layers=(1, 2, 3, 4, 8, 12), gate=("channels", "own", "sum"), encoder=_BOTH),
    Dimension(setting="head", values=(True,), when={"gate": ("sum",)}, label="head behind a sum"),
    *(Dimension(setting=name, values=(False,), when={"encoder": (False,)}) for name in ("head", "ego")),
    *(
        Dimension(setting=name, values=(True,), when={"encoder": (True,)}, label=f"{name} behind an encoder")
        for name in ("head", "ego")
    ),
    *choices(norm=("layer", "batch", "none"), hidden_channels=(64, 128, 256)),
    Dimension(setting="lr", low=0.002, high=0.1, log=True),
)
_BANK = (*choices(tau=(0.5, 1.0), time=(1.0, 2.0, 3.0), states=("weighted", "last")), *_BLOCKS)
_ONE_BANK: dict[str, Value] = {**_INSIDE, "num_layers": 1, "gate": "own"}
_BANK_TRAINING = {"weight_decay": 5e-3}
_SUMS: dict[str, Value] = {**_STACK, "gate": "sum", "head": True, "norm": "batch", "input_dropout": 0.0}
"""The tuned classics' blocks: a sum in the place of a gate, the first one of the features."""
_ONE_STEP: dict[str, Value] = {"laplacian": "physical", "tau": 2**0.5, "time": 2**0.5, "states": "last"}
"""The wave that carries what GCN's operator does."""
_KNOWN: dict[str, Value] = {"labels": "masked"}
"""The labels of training nodes as input."""
_TWO_STEPS: dict[str, Value] = {"laplacian": "physical", "tau": 1.0, "time": 2.0, "states": "weighted"}


def _bank_starts(structure: str | None = None, **wave: float) -> tuple[dict[str, Value], ...]:
    """What validation on Cora, CiteSeer and Actor found to be good somewhere, so that one of five trials need not find
    it again: two wide banks alone; narrower ones, fast and slow; a longer wave with all that it may know of its edges;
    ACM-GCN+, one step of such a wave; one bank behind an encoder, for graphs where a node's own features say most; and
    deeper blocks. Then what the tuned GCN has for Squirrel, with a bank in the place of the convolution: one step of
    the physical wave carries what GCN's operator does, and features are not dropped. With structure, last, what the
    bank without it and the twin have as their defaults: whatever the twin begins with is tried with edges too.

    wave   what the bank of one step has, where there is a wave
    """
    known: dict[str, Value] = {} if structure is None else {"structure": structure}
    plain: dict[str, Value] = {} if structure is None else {"structure": "none"}
    longer: dict[str, Value] = {"tau": 2**0.5, "time": 2 * 2**0.5} if wave else {}
    as_gcn = _ONE_STEP if wave else {}
    one_step = {name: value for name, value in as_gcn.items() if name != "laplacian"}
    classic: dict[str, Value] = {"num_layers": 3, "hidden_channels": 256, "dropout": 0.7, "input_dropout": 0.0}
    deep: dict[str, Value] = {"num_layers": 4, "hidden_channels": 128, "lr": 0.005, "weight_decay": 5e-5}
    return (
        {**_STACK, "hidden_channels": 128, "lr": 0.03, **plain},
        {**_STACK, "hidden_channels": 64, "lr": 0.1, **plain},
        {**_STACK, "hidden_channels": 64, "lr": 0.01, **plain},
        {**_STACK, **longer, "hidden_channels": 128, "lr": 0.01, "weight_decay": 0.01, **known},
        {**_STACK, **one_step, "hidden_channels": 64, "lr": 0.1, "dropout": 0.3, **known},
        {**_ONE_BANK, **wave, "hidden_channels": 64, "lr": 0.01, **plain},
        {**_INSIDE, **deep, "norm": "batch", **plain},
        {**_STACK, **as_gcn, **classic, "head": True, "norm": "batch", "lr": 0.01, "weight_decay": 5e-4, **plain},
        *([{**_INSIDE, "hidden_channels": 64, "lr": 0.01, **plain}] if structure else []),
    )


_SPECS = (
    ModelSpec(
        name="gwn-sym",
        network="gwn.networks.wave:GWN",
        title="GWN-sym",
        paper="Yue et al., Graph Wave Networks, WWW 2025",
        year=2025,
        kind="wave",
        origin="ours",
        fixed={"laplacian": "sym"},
    ),
    ModelSpec(
        name="gwn-fa",
        network="gwn.networks.wave:GWN",
        title="GWN-fa",
        paper="Yue et al., Graph Wave Networks, WWW 2025",
        year=2025,
        kind="wave",
        origin="ours",
        fixed={"laplacian": "fa"},
        # From T = 4 about one seed in ten trains badly (`python -m benchmarks defaults`): the wave grows in every step.
        preset={"time": 2.0},
    ),
    ModelSpec(
        name="gwn-plus",
        network="gwn.networks.wave:GWN",
        title="GWN+",
        paper="ours: any Laplacian, scheme and read-out; by default the physical wave with its whole trajectory",
        year=2026,
        kind="wave",
        origin="ours",
        preset={"laplacian": "physical", "readout": "trajectory", "activation": "relu", "time": 4.0},
        space="extended",
        former_names=("gwn",),
    ),
    ModelSpec(
        name="gwn-bank",
        network="gwn.networks.bank:BankGWN",
        title="GWN+ bank",
        paper="ours: blocks of wave banks; every node weighs what the wave carries, what it leaves over and its own",
        year=2026,
        kind="wave",
        origin="ours; with one step and its structure channel it is ACM-GCN+",
        training=_BANK_TRAINING,
        space="peers",
        search=_BANK,
        heterophilic={**_ONE_BANK, "time": 1.0},
        starts=_bank_starts(time=1.0),
        classic=({**_SUMS, **_ONE_STEP}, {**_SUMS, **_TWO_STEPS}),
    ),
    ModelSpec(
        name="gwn-bank-plus",
        network="gwn.networks.bank:BankGWN",
        title="GWN+ bank, structure",
        paper="ours: wave banks that also know each node by its edges, as a channel or as what the waves start with",
        year=2026,
        kind="wave",
        origin="ours; with one step and the channel it is ACM-GCN+",
        preset={**_STACK, "hidden_channels": 128, "structure": "channel"},
        training={**_BANK_TRAINING, "lr": 0.03},
        transductive=True,
        space="peers",
        search=(*choices(structure=("channel", "velocity", "none")), *_BANK),
        heterophilic={**_ONE_BANK, "hidden_channels": 64, "lr": 0.01, "time": 1.0, "structure": "none"},
        starts=_bank_starts("channel", time=1.0),
        classic=tuple(
            {**_SUMS, **wave, "structure": "none"} for wave in (_ONE_STEP, {**_ONE_STEP, **_KNOWN}, _TWO_STEPS)
        ),
    ),
    ModelSpec(
        name="gwn-twin",
        network="gwn.networks.bank:BankGWN",
        title="GWN+ bank without edges",
        paper="ours: the graph-free twin of gwn-bank, with its encoder, gate and head: the rest is the wave's worth",
        year=2026,
        kind="mainstream",
        origin="ours",
        # On a graph without edges every wave stands still, so how it travels is nothing to choose.
        fixed={"edges": False, "structure": "none", "states": "last", "time": 1.0, "tau": 1.0},
        training=_BANK_TRAINING,
        ignores=("edges",),
        space="peers",
        search=_BLOCKS,
        heterophilic=_ONE_BANK,
        starts=_bank_starts(),
        classic=(_SUMS,),
    ),
    ModelSpec(
        name="gwn-heat",
        network="gwn.networks.wave:GWN",
        title="GWN-heat",
        paper="ours: the heat equation in the place of the wave, of first order in time; what the paper argues against",
        year=2026,
        kind="differential equation",
        origin="ours",
        fixed={"scheme": "heat"},
        preset={"laplacian": "physical", "readout": "trajectory", "activation": "relu", "time": 3.0},
        space="peers",
        search=choices(
            laplacian=("physical", "random-walk", "fa-symmetric"),
            tau=(0.5, 1.0),
            time=(1.0, 2.0, 3.0, 5.0),
            readout=("trajectory", "last", "weighted"),
            norm=("none", "layer", "batch"),
            hidden_channels=(64, 128, 256),
        ),
        heterophilic={"time": 1.0},
    ),
    ModelSpec(
        name="mlp",
        network="gwn.models.peers.mlp:MLP",
        title="MLP",
        paper="no graph: what the features alone are worth",
        year=1986,
        kind="mainstream",
        origin="ours",
        ignores=("edges",),
        search=choices(num_layers=(1, 2, 3)),
    ),
    ModelSpec(
        name="gcn",
        network="gwn.models.peers.gcn:GCN",
        title="GCN",
        paper="Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
        year=2017,
        kind="mainstream",
        origin="PyG's GCNConv on our sparse products",
        search=choices(num_layers=(1, 2, 3)),
    ),
    ModelSpec(
        name="gat",
        network="gwn.models.peers.gat:GAT",
        title="GAT",
        paper="Veličković et al., Graph Attention Networks, ICLR 2018",
        year=2018,
        kind="mainstream",
        origin="PyG's GATConv on our sparse products",
        training={"lr": 0.005},
        search=choices(num_layers=(2, 3), attention_dropout=(0.0, 0.3, 0.6)),
    ),
    ModelSpec(
        name="graphsage",
        network="gwn.models.peers.graphsage:GraphSAGE",
        title="GraphSAGE",
        paper="Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, NeurIPS 2017",
        year=2017,
        kind="mainstream",
        origin="ours, with PyG's SAGEConv as its test: the linear map stands before the mean",
        search=choices(num_layers=(1, 2, 3), normalize=_BOTH),
    ),
    ModelSpec(
        name="sgc",
        network="gwn.models.peers.sgc:SGC",
        title="SGC",
        paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
        year=2019,
        kind="mainstream",
        origin="ours, with PyG's SGConv as its test: the linear map stands before the propagation",
        training={"lr": 0.2, "weight_decay": 5e-06},
        # Logistic regression: its authors' learning rate is twenty times that of the networks.
        search=(*choices(hops=(1, 2, 3, 4)), Dimension(setting="lr", low=0.01, high=0.5, log=True)),
    ),
    ModelSpec(
        name="appnp",
        network="gwn.models.peers.appnp:APPNP",
        title="APPNP",
        paper="Gasteiger, Bojchevski and Günnemann, Predict then Propagate, ICLR 2019",
        year=2019,
        kind="mainstream",
        origin="PyG's APPNP on our sparse products",
        search=choices(alpha=(0.1, 0.2, 0.5, 0.9), hops=(2, 5, 10), edge_dropout=(0.0, 0.5)),
        # Chien et al. 2021 search alpha up to 0.9 for it
        heterophilic={"alpha": 0.9},
    ),
    ModelSpec(
        name="jk-net",
        network="gwn.models.peers.jk_net:JKNet",
        title="JK-Net",
        paper="Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks, ICML 2018",
        year=2018,
        kind="mainstream",
        origin="PyG's GCNConv on our sparse products, PyG's JumpingKnowledge",
        preset={"hidden_channels": 32},
        training={"lr": 0.005},
        search=choices(mode=("cat", "max"), num_layers=(2, 3, 4, 6), hidden_channels=(16, 32, 64)),
    ),
    ModelSpec(
        name="resgcn",
        network="gwn.models.peers.resgcn:ResGCN",
        title="ResGCN",
        paper="Li et al., DeepGCNs: Can GCNs Go as Deep as CNNs?, ICCV 2019",
        year=2019,
        kind="mainstream",
        origin="PyG's DeepGCNLayer around PyG's GCNConv on our sparse products",
        search=choices(num_layers=(2, 4, 8)),
    ),
    ModelSpec(
        name="gcnii",
        network="gwn.models.peers.gcnii:GCNII",
        title="GCNII",
        paper="Chen et al., Simple and Deep Graph Convolutional Networks, ICML 2020",
        year=2020,
        kind="mainstream",
        origin="PyG's GCN2Conv on our sparse products",
        training={"weight_decay": 0.0001},
        search=choices(num_layers=(4, 8, 16), alpha=(0.1, 0.2, 0.5), theta=(0.5, 1.0, 1.5), variant=_BOTH),
        # full.sh of chennnM/GCNII, Cornell
        heterophilic={"num_layers": 16, "alpha": 0.5, "theta": 1.0, "weight_decay": 1e-3},
    ),
    ModelSpec(
        name="fagcn",
        network="gwn.models.peers.fagcn:FAGCN",
        title="FAGCN",
        paper="Bo et al., Beyond Low-frequency Information in Graph Convolutional Networks, AAAI 2021",
        year=2021,
        kind="mainstream",
        origin="PyG's FAConv on our sparse products",
        preset={"hidden_channels": 32},
        training={"weight_decay": 5e-05},
        search=(*choices(num_layers=(1, 2, 3, 4, 6, 8)), Dimension(setting="eps", low=0.1, high=1.0)),
    ),
    ModelSpec(
        name="gpr-gnn",
        network="gwn.models.peers.gpr_gnn:GPRGNN",
        title="GPR-GNN",
        paper="Chien et al., Adaptive Universal Generalized PageRank Graph Neural Network, ICLR 2021",
        year=2021,
        kind="mainstream",
        origin="ours",
        search=(
            *choices(start=("ppr", "random"), hops=(5, 10), filter_dropout=(0.0, 0.5, 0.7)),
            Dimension(setting="alpha", values=(0.1, 0.2, 0.5, 0.9, 1.0), when={"start": ("ppr",)}),
            *_GROUP,
        ),
        # Reproduce_GPRGNN.sh, Texas: it starts as an MLP, and gamma does not decay
        heterophilic={"start": "ppr", "alpha": 1.0, "lr": 0.05, "weight_decay": 5e-4, "group_weight_decay": 0.0},
    ),
    ModelSpec(
        name="mixhop",
        network="gwn.models.peers.mixhop:MixHop",
        title="MixHop",
        paper="Abu-El-Haija et al., MixHop: Higher-Order Graph Convolutional Architectures, ICML 2019",
        year=2019,
        kind="mainstream",
        origin="ours, with PyG's MixHopConv as its test: the linear maps stand before the propagation",
        search=choices(hops=(1, 2, 3), num_layers=(1, 2)),
    ),
    ModelSpec(
        name="linkx",
        network="gwn.models.peers.linkx:LINKX",
        title="LINKX",
        paper="Lim et al., Large Scale Learning on Non-Homophilous Graphs, NeurIPS 2021",
        year=2021,
        kind="mainstream",
        origin="PyG's LINKX on our sparse products",
        transductive=True,
        search=choices(num_layers=(1, 2, 3), num_node_layers=(1, 2), hidden_channels=(32, 64, 128)),
    ),
    ModelSpec(
        name="majority",
        network="gwn.models.peers.majority:Majority",
        title="Majority class",
        of_numbers="Mean",
        paper="no model: the share of the most frequent class",
        year=1986,
        kind="mainstream",
        origin="ours",
        ignores=("features", "edges"),
    ),
    ModelSpec(
        name="logistic",
        network="gwn.models.peers.hop_means:LogisticRegression",
        title="Logistic regression",
        of_numbers="Linear regression",
        paper="no graph: a linear model of the features",
        year=1958,
        kind="baseline",
        origin="ours",
        fixed={"hops": 0},
        training={"lr": 0.05},
        ignores=("edges",),
        search=(Dimension(setting="lr", low=0.005, high=0.5, log=True),),
    ),
    ModelSpec(
        name="logistic-hops",
        network="gwn.models.peers.hop_means:LogisticRegression",
        title="Logistic, 2 hops",
        of_numbers="Linear, 2 hops",
        paper="a linear model of the features and of their means over neighbours one and two steps away",
        year=1958,
        kind="baseline",
        origin="ours",
        preset={"hops": 2},
        training={"lr": 0.05},
        search=(*choices(hops=(1, 2)), Dimension(setting="lr", low=0.005, high=0.5, log=True)),
    ),
    ModelSpec(
        name="boosted-hops",
        network="gwn.models.peers.boosted:BoostedTrees",
        title="Boosted trees, 2 hops",
        paper="gradient boosted trees on the features and on their means over neighbours one and two steps away",
        year=2001,
        kind="baseline",
        origin="scikit-learn's HistGradientBoosting, kept as tensors",
        gradients=False,
        search=choices(
            hops=(0, 1, 2),
            iterations=(100, 200, 400),
            leaves=(7, 15, 31, 63),
            learning_rate=(0.03, 0.05, 0.1, 0.2),
            l2=(0.0, 0.1, 1.0, 10.0),
            min_leaf=(2, 5, 10, 20, 50),
            share=(0.1, 0.3, 1.0),
        ),
        with_decay={"leaves": 7, "learning_rate": 0.05, "iterations": 200, "l2": 1.0, "min_leaf": 5},
    ),
    ModelSpec(
        name="sign",
        network="gwn.models.peers.hop_means:SIGN",
        title="SIGN",
        paper="Frasca et al., SIGN: Scalable Inception Graph Neural Networks, 2020",
        year=2020,
        kind="baseline",
        origin="ours, with means over neighbours as its only operator",
        search=(
            *choices(
                hops=(1, 2, 3), num_layers=(2, 3), hidden_channels=(64, 128, 256), norm=("batch", "layer", "none")
            ),
            Dimension(setting="input_dropout", low=0.0, high=0.6),
        ),
    ),
    ModelSpec(
        name="gcn-tuned",
        network="gwn.models.peers.tuned:TunedGNN",
        title="GCN (tuned)",
        paper="Luo, Shi and Wu, Classic GNNs are Strong Baselines, NeurIPS 2024",
        year=2024,
        kind="mainstream",
        origin="PyG's GCNConv on our sparse products, PyG's BatchNorm, our residual network around them",
        fixed={"conv": "gcn"},
        preset={"hidden_channels": 256},
        search=_TUNED,
        classic=({},),
    ),
    ModelSpec(
        name="sage-tuned",
        network="gwn.models.peers.tuned:TunedGNN",
        title="GraphSAGE (tuned)",
        paper="Luo, Shi and Wu, Classic GNNs are Strong Baselines, NeurIPS 2024",
        year=2024,
        kind="mainstream",
        origin="our SAGEConv, with PyG's as its test, PyG's BatchNorm, our residual network around them",
        fixed={"conv": "sage"},
        preset={**_AUTHORS, "hidden_channels": 256},
        search=_TUNED,
        classic=({},),
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="gat-tuned",
        network="gwn.models.peers.tuned:TunedGNN",
        title="GAT (tuned)",
        paper="Luo, Shi and Wu, Classic GNNs are Strong Baselines, NeurIPS 2024",
        year=2024,
        kind="mainstream",
        origin="PyG's GATConv on our sparse products, PyG's BatchNorm, our residual network around them",
        fixed={"conv": "gat"},
        preset={"hidden_channels": 256},
        search=_TUNED,
        classic=({},),
    ),
    ModelSpec(
        name="acm-gcn",
        network="gwn.models.peers.acm_gcn:ACMGCN",
        title="ACM-GCN",
        paper="Luan et al., Revisiting Heterophily For Graph Neural Networks, NeurIPS 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        fixed={"structure": False},
        preset=_AUTHORS,
        training={"lr": 0.1, "weight_decay": 0.005},
        search=_MIXING,
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="acm-gcn-plus",
        network="gwn.models.peers.acm_gcn:ACMGCN",
        title="ACM-GCN+",
        paper="Luan et al., Revisiting Heterophily For Graph Neural Networks, NeurIPS 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        fixed={"structure": True},
        preset={"layer_norm": True, "dropout": 0.3},
        training={"lr": 0.1, "weight_decay": 0.005},
        transductive=True,
        search=_MIXING,
    ),
    ModelSpec(
        name="jacobi",
        network="gwn.models.peers.jacobi:JacobiConv",
        title="JacobiConv",
        paper="Wang and Zhang, How Powerful are Spectral Graph Neural Networks, ICML 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        search=(
            Dimension(setting="a", low=-0.75, high=2.0),
            Dimension(setting="b", low=-0.75, high=2.0),
            *choices(gamma=(0.5, 1.0, 1.5, 2.0)),
            *_FILTER,
        ),
        # bestHyperparams.py of GraphPKU/JacobiConv, Texas; of the filter's two learning rates there, that of beta
        heterophilic={
            "a": -0.5,
            "b": 0.0,
            "gamma": 0.5,
            "dropout": 0.8,
            "filter_dropout": 0.7,
            "lr": 0.05,
            "weight_decay": 1e-3,
            "group_lr": 0.01,
            "group_weight_decay": 5e-4,
        },
    ),
    ModelSpec(
        name="chebnet2",
        network="gwn.models.peers.chebnet2:ChebNetII",
        title="ChebNetII",
        paper="He, Wei and Wen, Convolutional Networks on Graphs with Chebyshev Approximation, Revisited, NeurIPS 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        search=_FILTER,
        # full.sh of ivam-he/ChebNetII, Texas
        heterophilic={
            "filter_dropout": 0.6,
            "lr": 0.05,
            "weight_decay": 5e-4,
            "group_lr": 0.001,
            "group_weight_decay": 0.0,
        },
    ),
    ModelSpec(
        name="bernnet",
        network="gwn.models.peers.bernnet:BernNet",
        title="BernNet",
        paper="He et al., BernNet: Learning Arbitrary Graph Spectral Filters via Bernstein Approximation, NeurIPS 2021",
        year=2021,
        kind="mainstream",
        origin="ours",
        search=_FILTER,
        # bernnet.sh of ivam-he/BernNet, Texas
        heterophilic={"lr": 0.05, "weight_decay": 5e-4, "group_lr": 0.002, "group_weight_decay": 0.0},
    ),
    ModelSpec(
        name="gdc",
        network="gwn.models.peers.gdc:GDC",
        title="GDC",
        paper="Gasteiger, Weißenberger and Günnemann, Diffusion Improves Graph Learning, NeurIPS 2019",
        year=2019,
        kind="differential equation",
        origin="ours (PyG's GDC transform needs a dense N x N matrix)",
        # Every pair of these is a diffusion to compute beforehand.
        search=choices(alpha=(0.05, 0.15), k=(64, 128)),
    ),
    ModelSpec(
        name="cgnn",
        network="gwn.models.peers.cgnn:CGNN",
        title="CGNN",
        paper="Xhonneux, Qu and Tang, Continuous Graph Neural Networks, ICML 2020",
        year=2020,
        kind="differential equation",
        origin="torchdiffeq's solver; the rest is ours",
        preset={**_AUTHORS, "hidden_channels": 16},
        search=choices(
            weighted=_BOTH,
            time=(1.0, 3.0, 6.0),
            alpha=(0.5, 0.8, 0.95),
            hidden_channels=(16, 64),
            input_dropout=(0.2, 0.5),
        ),
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="adc",
        network="gwn.models.peers.adc:ADC",
        title="ADC",
        paper="Zhao et al., Adaptive Diffusion in Graph Neural Networks, NeurIPS 2021",
        year=2021,
        kind="differential equation",
        origin="ours",
        search=(*_DIFFUSION, *choices(per_channel=_BOTH)),
    ),
    ModelSpec(
        name="gadc",
        network="gwn.models.peers.gadc:GADC",
        title="GADC",
        paper="Zhao et al., Adaptive Diffusion in Graph Neural Networks, NeurIPS 2021",
        year=2021,
        kind="differential equation",
        origin="ours",
        preset=_AUTHORS,
        search=_DIFFUSION,
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="grand",
        network="gwn.models.peers.grand:GRAND",
        title="GRAND",
        paper="Chamberlain et al., GRAND: Graph Neural Diffusion, ICML 2021",
        year=2021,
        kind="differential equation",
        origin="torchdiffeq's solver; attention and rewiring are ours",
        preset={**_AUTHORS, "hidden_channels": 80},
        training={"lr": 0.023, "weight_decay": 0.0051},
        search=choices(
            variant=("linear", "nonlinear"),
            time=(1.0, 2.0, 4.0, 8.0),
            heads=(1, 4),
            attention_dim=(16, 64),
            input_dropout=(0.2, 0.5),
        ),
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="graphcon",
        network="gwn.models.peers.graphcon:GraphCON",
        title="GraphCON",
        paper="Rusch et al., Graph-Coupled Oscillator Networks, ICML 2022",
        year=2022,
        kind="differential equation",
        origin="PyG's GCNConv and GATConv; the oscillators are ours",
        search=choices(
            coupling=("gcn", "gat"),
            num_layers=(1, 2, 3, 5, 8),
            alpha=(0.0, 0.5, 1.0),
            gamma=(0.0, 0.5, 1.0),
            residual=_BOTH,
        ),
        # best_params.py of tk-rusch/GraphCON, Wisconsin
        heterophilic={
            "num_layers": 2,
            "alpha": 0.0,
            "gamma": 0.0,
            "residual": True,
            "dropout": 0.23,
            "lr": 0.00356,
            "weight_decay": 0.0081,
        },
    ),
    ModelSpec(
        name="air",
        network="gwn.models.peers.air:AIR",
        title="AIR",
        paper="Zhang et al., Model Degradation Hinders Deep Graph Neural Networks, KDD 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        preset={"hidden_channels": 50},
        search=choices(num_layers=(2, 4, 6, 8)),
    ),
    ModelSpec(
        name="h2gcn",
        network="gwn.models.peers.h2gcn:H2GCN",
        title="H2GCN",
        paper="Zhu et al., Beyond Homophily in Graph Neural Networks, NeurIPS 2020",
        year=2020,
        kind="mainstream",
        origin="ours",
        search=choices(rounds=(1, 2)),
        # H2GCN-1, which the authors report beside H2GCN-2
        heterophilic={"rounds": 1},
    ),
    ModelSpec(
        name="ggcn",
        network="gwn.models.peers.ggcn:GGCN",
        title="GGCN",
        paper="Yan et al., Two Sides of the Same Coin: Heterophily and Oversmoothing in GCNs, ICDM 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        preset={**_AUTHORS, "hidden_channels": 16},
        training={"weight_decay": 0.001},
        search=choices(num_layers=(2, 4, 6, 8), decay=(0.5, 0.7, 0.9, 1.2), hidden_channels=(16, 32)),
        # table_1_GGCN.sh, Texas
        heterophilic={"num_layers": 2, "dropout": 0.4, "weight_decay": 1e-3},
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="nlmlp",
        network="gwn.models.peers.nlmlp:NLMLP",
        title="NLMLP",
        paper="Liu, Wang and Ji, Non-Local Graph Neural Networks, TPAMI 2021",
        year=2021,
        kind="mainstream",
        origin="ours",
        preset={"hidden_channels": 48},
        ignores=("edges",),
        local=False,
        search=choices(kernel_size=(3, 5, 7), hidden_channels=(16, 32, 48), conv_dropout=(0.0, 0.5)),
    ),
    ModelSpec(
        name="glognn",
        network="gwn.models.peers.glognn:GloGNN",
        title="GloGNN",
        paper="Li et al., Finding Global Homophily in Graph Neural Networks When Meeting Heterophily, ICML 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        preset={"row_normalize": True},
        training={"weight_decay": 1e-05},
        transductive=True,
        local=False,
        search=choices(
            num_layers=(1, 2, 3),
            powers=(2, 3, 4, 6),
            gamma=(0.0, 0.3, 0.6, 0.8),
            beta1=(0.0, 1.0, 10.0),
            beta2=(0.1, 1.0, 10.0, 1000.0),
            delta=(0.0, 0.5, 0.9, 1.0),
            row_normalize=_BOTH,
        ),
        # run_glognn_sota_reproduce_small.sh, Texas
        heterophilic={
            "num_layers": 1,
            "powers": 2,
            "gamma": 0.0,
            "beta1": 10.0,
            "beta2": 0.01,
            "delta": 1.0,
            "dropout": 0.0,
            "lr": 0.01,
            "weight_decay": 5e-5,
        },
        # Weights for features of a few thousandths are large: a strong decay would leave nothing of them.
        with_decay={"row_normalize": False},
    ),
    ModelSpec(
        name="nsd",
        network="gwn.models.peers.nsd:NSD",
        title="NSD",
        paper="Bodnar et al., Neural Sheaf Diffusion, NeurIPS 2022",
        year=2022,
        kind="mainstream",
        origin="ours",
        preset={**_AUTHORS, "hidden_channels": 20},
        training={"lr": 0.02, "weight_decay": 0.005},
        search=choices(
            maps=("diagonal", "orthogonal"),
            stalk=(2, 3, 4),
            num_layers=(2, 3, 4),
            hidden_channels=(16, 20, 32),
            input_dropout=(0.0, 0.5, 0.8),
        ),
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="ordered-gnn",
        network="gwn.models.peers.ordered_gnn:OrderedGNN",
        title="Ordered GNN",
        paper="Song et al., Ordered GNN: Ordering Message Passing to Deal with Heterophily and Over-smoothing, "
        "ICLR 2023",
        year=2023,
        kind="mainstream",
        origin="ours",
        preset={**_AUTHORS, "hidden_channels": 256},
        training={"lr": 0.005, "weight_decay": 5e-06},
        search=(
            *choices(num_layers=(2, 4, 8), hidden_channels=(64, 128), shared_gate=_BOTH, input_dropout=(0.0, 0.1, 0.3)),
            *_GROUP,
        ),
        # best_params of OrderedGNN, Texas: encoder and head decay, the gates hardly
        heterophilic={"shared_gate": True, "input_dropout": 0.3, "dropout": 0.1, "group_weight_decay": 0.05},
        former_defaults=_PAPERS,
    ),
    ModelSpec(
        name="geom-gcn",
        network="gwn.models.peers.geom_gcn:GeomGCN",
        title="Geom-GCN",
        paper="Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020",
        year=2020,
        kind="mainstream",
        origin="ours",
        preset={"hidden_channels": 32},
        equivariant=False,
        search=choices(num_layers=(1, 2), hidden_channels=(16, 32)),
    ),
    ModelSpec(
        name="wrgat",
        network="gwn.models.peers.wrgat:WRGAT",
        title="WRGAT",
        paper="Suresh et al., Breaking the Limit of GNNs by Improving the Assortativity of Graphs, KDD 2021",
        year=2021,
        kind="mainstream",
        origin="ours",
        preset={**_AUTHORS, "hidden_channels": 128},
        training={"weight_decay": 5e-05},
        equivariant=False,
        search=choices(relations=(1, 3), hidden_channels=(64, 128)),
        former_defaults=_PAPERS,
    ),
)

MODELS: dict[str, ModelSpec] = {spec.name: spec for spec in _SPECS}

FORMER_NAMES = {former: spec.name for spec in _SPECS for former in spec.former_names}
"""By a former name of a model the name that it has now."""


def model_spec(name: str) -> ModelSpec:
    """The model `name`, which may be a former one, or an error that suggests the nearest."""
    return lookup("model", FORMER_NAMES.get(name, name), MODELS)
