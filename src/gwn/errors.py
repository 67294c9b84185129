"""The errors a person can mend: one line that says what was given, what is allowed and what to do."""


class GWNError(ValueError):
    """A mistake in what the user gave; commands print its text alone and exit with code 2."""


class Diverged(GWNError):
    """A training run that overflowed or became NaN; the text names the cause and the setting to change."""


class TeamBroken(GWNError):
    """Another process of the team is gone: the cause lies there, and is told there."""
