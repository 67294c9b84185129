"""When to stop: each rule sees one epoch's validation loss and score and says whether it was the last."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol


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
    """Stop after `patience` epochs without a better score (or, at the same score, a lower loss)."""

    def __init__(self, patience: int) -> None:
        self._patience, self._waited = patience, 0
        self._best = (float("-inf"), float("-inf"))

    def should_stop(self, val_loss: float, val_score: float) -> bool:
        if (val_score, -val_loss) > self._best:
            self._best, self._waited = (val_score, -val_loss), 0
        else:
            self._waited += 1
        return self._waited >= self._patience


class Never:
    """Run all epochs."""

    def should_stop(self, val_loss: float, val_score: float) -> bool:
        return False


STOPPING: dict[str, Callable[[int], Stopping]] = {
    "paper": lambda patience: PaperStopping(),
    "patience": Patience,
    "none": lambda patience: Never(),
}
