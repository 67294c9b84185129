"""When to stop: the paper's rule and plain patience, on written-out sequences."""

from __future__ import annotations

from gwn.training.stopping import STOPPING, Never, PaperStopping, Patience


def stops_at(
    rule: PaperStopping | Patience | Never, losses: list[float], scores: list[float] | None = None
) -> int | None:
    """The epoch (from 1) in which the rule says stop, None if it never does."""
    for epoch, loss in enumerate(losses, start=1):
        if rule.should_stop(loss, 0.5 if scores is None else scores[epoch - 1]):
            return epoch
    return None


def test_the_paper_waits_for_ten_losses() -> None:
    assert stops_at(PaperStopping(), [float(n) for n in range(30)]) == 11
    assert stops_at(PaperStopping(), [1.0] * 10 + [1.0001]) == 11
    assert stops_at(PaperStopping(), [1.0] * 9 + [9.0, 1.0]) is None


def test_the_paper_compares_with_the_mean_of_the_last_ten_only() -> None:
    assert stops_at(PaperStopping(), [100.0] * 5 + [1.0] * 9 + [10.0]) is None, "the mean still holds a 100"
    assert stops_at(PaperStopping(), [100.0] * 5 + [1.0] * 10 + [2.0]) == 16, "the 100s have left the window"
    falling = [1.0 - 0.01 * n for n in range(60)]
    assert stops_at(PaperStopping(), falling) is None
    assert stops_at(PaperStopping(), [*falling, 0.40, 0.47]) == 62


def test_the_paper_at_exactly_the_mean_goes_on() -> None:
    assert stops_at(PaperStopping(), [1.0] * 40) is None


def test_patience_counts_epochs_without_a_better_score_and_starts_again() -> None:
    loss = [1.0] * 10
    assert stops_at(Patience(3), loss, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]) == 4
    assert stops_at(Patience(3), loss, [0.5, 0.4, 0.4, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]) == 7
    assert stops_at(Patience(3), loss, [n / 10 for n in range(10)]) is None


def test_patience_takes_a_lower_loss_at_the_same_score_as_better() -> None:
    assert stops_at(Patience(2), [5.0, 4.0, 3.0, 2.0, 2.0, 2.0]) == 6
    assert stops_at(Patience(2), [5.0, 4.0, 3.0], [0.5, 0.4, 0.4]) == 3, "but not at a lower score"


def test_patience_follows_the_rule_that_chooses_the_epoch() -> None:
    falling, worse = [5.0, 4.0, 3.0, 2.0], [0.9, 0.8, 0.7, 0.6]
    assert stops_at(Patience(2), falling, worse) == 3
    assert stops_at(Patience(2, "loss"), falling, worse) is None
    assert stops_at(Patience(2, "loss"), falling[::-1], worse[::-1]) == 3


def test_never() -> None:
    assert stops_at(Never(), [float(n) for n in range(100)]) is None


def test_each_run_has_a_rule_of_its_own() -> None:
    for make in STOPPING.values():
        assert make(5, "score") is not make(5, "score")
    assert stops_at(STOPPING["patience"](1, "score"), [1.0, 1.0]) == 2  # type: ignore[arg-type]
    assert stops_at(STOPPING["paper"](1, "score"), [float(n) for n in range(30)]) == 11  # type: ignore[arg-type]
