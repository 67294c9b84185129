"""The command line's entrance: the commands are gathered here, and no user ever sees a traceback for a mistake."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from gwn._version import __version__
from gwn.cli import data, demo, explore, models, predict, report, reproduce, stability, train, tune
from gwn.errors import GWNError

INTERRUPTED = 130

app = typer.Typer(
    name="gwn",
    help=(
        "Graph Wave Networks: node classification by solving a wave equation on the graph.\n\n"
        "Start here:  gwn demo  |  gwn train cora --model gwn-fa  |  gwn train --help"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("train")(train.train)
app.command("tune")(tune.tune)
app.command("reproduce")(reproduce.reproduce)
app.command("predict")(predict.predict)
app.command("demo")(demo.demo)
app.command("models")(models.models)
app.command("stability")(stability.stability)
app.command("explore")(explore.explore)
app.command("report")(report.report)
app.add_typer(data.app, name="data")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"gwn {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Say the version."),
) -> None:
    """The options that stand before a command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `gwn`: mistakes end with one line on standard error and code 2, Ctrl-C with code 130."""
    try:
        code = app(args=None if arguments is None else list(arguments), standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (KeyboardInterrupt, typer.Abort):
        _interrupted()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # newer Typer turns Ctrl-C into this itself
            _interrupted()
        raise
    except GWNError as error:
        _fail(str(error), 2)
    except (MemoryError, OSError) as error:
        _fail(_plain(error), 2)
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's own usage errors have one
            raise
        _fail(error.format_message(), 2)


def _interrupted() -> None:
    _fail("interrupted; what was finished is kept, the same command continues", INTERRUPTED)


def _plain(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _fail(message: str, code: int) -> None:
    print(f"gwn: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
