"""How a backward pass finds the states X(n) again: kept, checkpointed, or computed backwards in time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from torch import Tensor

KEEP_ALL_STEPS = 16
"""Up to this many steps, keeping every state is cheaper than computing states twice."""

Advance = Callable[[int, Tensor, Tensor], Tensor]
"""`advance(n, X(n), X(n-1))` overwrites X(n-1) with X(n+1)."""


class States(ABC):
    """What a forward pass of `steps` steps leaves behind for its backward pass."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def record(self, n: int, x: Tensor, x_prev: Tensor) -> None:
        """Called before step n with what it starts from."""
        return

    def holds(self, n: int) -> bool:
        """Whether the memory of X(n) is kept and must not be overwritten."""
        return False

    @abstractmethod
    def backwards(self, advance: Advance, x: Tensor, x_prev: Tensor, last: Tensor | None) -> Iterator[Tensor | None]:
        """X(steps - 1) ... X(0), from the inputs `x` = X(0), `x_prev` = phi1 and the output X(steps)."""


class NoStates(States):
    """For an operator whose gradient does not need them."""

    def backwards(self, advance: Advance, x: Tensor, x_prev: Tensor, last: Tensor | None) -> Iterator[Tensor | None]:
        yield from [None] * self.steps


class Checkpoints(States):
    """All states of a short run; of a long one a pair every sqrt(steps) steps, and the stretch between computed anew.

    Memory grows like sqrt(steps), and the price is one more forward pass.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.stride = 1 if steps <= KEEP_ALL_STEPS else math.isqrt(steps)
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}

    def record(self, n: int, x: Tensor, x_prev: Tensor) -> None:
        if n > 0 and n % self.stride == 0:
            self._pairs[n] = (x, x_prev)

    def holds(self, n: int) -> bool:
        return n in self._pairs or n + 1 in self._pairs

    def backwards(self, advance: Advance, x: Tensor, x_prev: Tensor, last: Tensor | None) -> Iterator[Tensor | None]:
        for start in reversed(range(0, self.steps, self.stride)):
            current, previous = self._pairs[start] if start > 0 else (x, x_prev)
            segment = [current]
            for n in range(start, min(start + self.stride, self.steps) - 1):
                current, previous = advance(n, current, previous.clone()), current
                segment.append(current)
            while segment:
                yield segment.pop()


class Reversed(States):
    """None: X(n-1) follows from X(n) and X(n+1) by the same step, because the scheme is symmetric in time.

    Memory does not grow with the number of steps. Only for a bounded operator: where the forward pass grows, the way
    back loses as many digits as it grew.
    """

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self._before_last: Tensor | None = None

    def record(self, n: int, x: Tensor, x_prev: Tensor) -> None:
        if n == self.steps - 1:
            self._before_last = x

    def holds(self, n: int) -> bool:
        return n == self.steps - 1

    def backwards(self, advance: Advance, x: Tensor, x_prev: Tensor, last: Tensor | None) -> Iterator[Tensor | None]:
        assert self._before_last is not None
        assert last is not None
        following, current = last.clone(), self._before_last.clone()
        for n in reversed(range(1, self.steps)):
            yield current
            following, current = current, advance(n, current, following)
        yield x


def states_for(steps: int, *, needed: bool, reversible: bool) -> States:
    """The cheapest way that works."""
    if not needed:
        return NoStates(steps)
    return Reversed(steps) if reversible and steps > KEEP_ALL_STEPS else Checkpoints(steps)
