"""One full-batch training step on the arxiv-shaped graph against PyG's two-layer GCN and GAT: time and peak memory."""

from __future__ import annotations

from benchmarks.scale_part import CASES, PartResult, ScaleJob, ScaleSettings, peak_alone, problem_on, sizes_of
from benchmarks.targets import Verdict
from benchmarks.timing import measure

PAIRS = (("gwn-sym", "gcn", "PyG's GCN"), ("gwn-fa", "gat", "PyG's GAT, one head"))
NAMES = ("gwn-sym", "gwn-fa", "gcn", "gat")


def measure_arxiv(settings: ScaleSettings) -> PartResult:
    """All four take turns in this process; each peak comes from a process of its own."""
    graph = settings.arxiv()
    problem = problem_on(graph.path, width=settings.width, steps=settings.steps, tau=1.0)
    timings = measure({name: CASES[name](problem) for name in NAMES}, seconds=settings.seconds, least=3, warmup=1)
    entries = graph.num_arcs + graph.num_nodes
    del problem
    peaks = {}
    for name in NAMES:
        settings.say(f"scale: peak memory of {name}")
        job = ScaleJob(
            folder=str(graph.path), case=name, width=settings.width, steps=settings.steps, threads=settings.threads
        )
        peaks[name] = peak_alone(job)
    verdicts = []
    for ours, theirs, called in PAIRS:
        time = timings[ours].best / timings[theirs].best
        verdicts += [
            Verdict(subject=ours, what=f"time of a training step / {called}", value=time, sign="<=", bar=1.0),
            Verdict(subject=ours, what=f"peak memory / {called}", value=peaks[ours] / peaks[theirs], sign="<", bar=1.0),
        ]
    rows = tuple({"model": name, **timings[name].to_json(), "peak_mib": peaks[name]} for name in NAMES)
    facts = {
        **sizes_of(graph),
        "width": settings.width,
        "steps": settings.steps,
        "entries_of_s": entries,
    }
    return PartResult(facts=facts, rows=rows, verdicts=tuple(verdicts))
