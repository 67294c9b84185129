"""Which epoch is the best, and when to stop: a rule sees one epoch's validation loss and score after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

SELECT: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "score": lambda loss, score: (score, -loss),
    "loss": lambda loss, score: (-loss, score),
}
"""From an epoch's validation loss and score to what is compared: the epoch with the largest is kept."""


class Stopping(Protocol):
    """A rule for one training run."""

    def should_stop(self, val_loss: float, val_score: float) -> bool: ...


class PaperStopping:
    """The paper's appendix: stop "when the loss exceeds the average loss of the last 10 epochs"."""

    def __init__(self, window: int = 10) -> None:
        self._last: deque[float] = deque(maxlen=window)

    def should_stop(self, val_loss: float, val_score: float) -> bool:
        full = len(self._last) == self._last.maxlen
        stop = full and val_loss > sum(self._last) / len(self._last)
        self._last.append(val_loss)
        return stop


class Patience:
    """Stop after `patience` epochs without a better one, as `select` compares them."""

    def __init__(self, patience: int, select: str = "score") -> None:
        self._patience, self._waited, self._merit = patience, 0, SELECT[select]
        self._best = (float("-inf"), float("-inf"))

    def should_stop(self, val_loss: float, val_score: float) -> bool:
        if (merit := self._merit(val_loss, val_score)) > self._best:
            self._best, self._waited = merit, 0
        else:
            self._waited += 1
        return self._waited >= self._patience


class Never:
    """Run all epochs."""

    def should_stop(self, val_loss: float, val_score: float) -> bool:
        return False


STOPPING: dict[str, Callable[[int, str], Stopping]] = {
    "paper": lambda patience, select: PaperStopping(),
    "patience": Patience,
    "none": lambda patience, select: Never(),
}
