"""The errors a person can mend: one line that says what was given, what is allowed and what to do."""


class GWNError(ValueError):
    """A mistake in what the user gave; commands print its text alone and exit with code 2."""


class Diverged(GWNError):
    """A training run that overflowed or became NaN; the text names the cause and the setting to change."""


class TeamBroken(GWNError):
    """Another process of the team is gone: the cause lies there, and is told there."""


def refuse_newer(path: object, found: object, known: int) -> None:
    """Refuse a file whose format number is higher than the one that this version knows."""
    if isinstance(found, int) and found > known:
        raise GWNError(f"{path} was written by a newer version of gwn (format {found}); upgrade to read it")
