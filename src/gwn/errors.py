"""The errors a person can mend: one line that says what was given, what is allowed and what to do."""

from importlib import import_module
from typing import Any

EXTRAS = {
    "optuna": "search",
    "sqlalchemy": "search",
    "matplotlib": "figures",
    "pymetis": "large",
    "numba": "fast",
    "tensorboard": "trackers",
    "wandb": "trackers",
    "mlflow": "trackers",
    "onnx": "export",
    "onnxscript": "export",
    "onnxruntime": "export",
    "psycopg2": "postgres",
    "networkx": "networkx",
}
"""Module -> the extra of this package that installs it; everything else comes with the package itself."""


MOST_RUNS = 10_000
MOST_TRIALS = 100_000
MOST_JOBS = 1024
MOST_SEED = 2**31 - 1
"""NumPy, scikit-learn and PyTorch all take seeds up to this."""


class GWNError(ValueError):
    """A mistake in what the user gave; commands print its text alone and exit with code 2."""


class Diverged(GWNError):
    """A training run that overflowed or became NaN; the text names the cause and the setting to change."""


class ProcessLost(GWNError):
    """Another process of the group is gone: the cause lies there, and is told there."""


def refuse_newer(path: object, found: object, known: int) -> None:
    """Refuse a file whose format number is higher than the one that this version knows."""
    if isinstance(found, int) and found > known:
        raise GWNError(f"{path} was written by a newer version of gwn (format {found}); upgrade to read it")


def require_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number that is out of its bounds, or none."""
    if not low <= value <= high:
        least, most = (f"{bound:,}" if isinstance(bound, int) else f"{bound:g}" for bound in (low, high))
        raise GWNError(f"{name} must be at least {least} and at most {most}; got {str(value)[:40]}")


def require_extra(who: str, module: str) -> Any:
    """The imported module of an extra; where it is not installed, one line says which extra `who` needs."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise GWNError(missing_extra(who, module)) from None


def missing_extra(who: str, module: str) -> str:
    return f"{who} needs {module}: pip install 'graph-wave-networks[{EXTRAS[module]}]'"
