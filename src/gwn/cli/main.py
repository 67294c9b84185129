"""The command line's entrance: the commands are gathered here, and no user ever sees a traceback for a mistake."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import typer

from gwn._version import __version__
from gwn.cli import (
    compare,
    data,
    demo,
    explain,
    explore,
    export,
    models,
    predict,
    report,
    reproduce,
    stability,
    train,
    tune,
    verify,
)
from gwn.cli.processes import leave_at_once, one_of_several
from gwn.cli.terminal import WholeSentences, print_prose, sign_of_life
from gwn.errors import EXTRAS, GWNError, missing_extra
from gwn.html import printable

INTERRUPTED = 130
UNEXPECTED = 3
LONGEST = 900
"""Characters of a message: it may quote what was given."""


class InOrder(WholeSentences):
    """The commands as they are listed below; Typer itself lists groups of them last."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return ["demo", "data", *(name for name in names if name not in ("demo", "data"))]


app = typer.Typer(
    name="gwn",
    cls=InOrder,
    help=(
        "Graph Wave Networks: node classification by solving a wave equation on the graph.\n\n"
        "Start here:  gwn demo  |  gwn train digits --model gwn-fa  |  your own graph: gwn compare --help"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("demo")(demo.demo)
app.add_typer(data.app, name="data")
app.command("models")(models.models)
app.command("compare")(compare.compare)
app.command("train")(train.train)
app.command("tune")(tune.tune)
app.command("predict")(predict.predict)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("export")(export.export)
app.command("explore")(explore.explore)
app.command("stability")(stability.stability)
app.command("reproduce")(reproduce.reproduce)
app.command("verify")(verify.verify)


@app.command("bench", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def _bench() -> None:
    raise GWNError("`gwn bench` has left the package: in a clone, run `make bench` or `python -m benchmarks --help`")


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
    """Run `gwn`: mistakes end with one line on standard error and code 2, Ctrl-C with code 130.

    What nobody foresaw ends with one line and code 3 too; the line names the file that has the details.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with nullcontext() if _answers_at_once(given) else sign_of_life(f"gwn {given[0]}: starting ..."):
            code = app(args=given, standalone_mode=False)
        sys.stdout.flush()
        status = code if isinstance(code, int) else 0
        if one_of_several():
            leave_at_once(status)
        sys.exit(status)
    except (KeyboardInterrupt, typer.Abort):
        _interrupted()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # newer Typer turns Ctrl-C into this itself
            _interrupted()
        raise
    except GWNError as error:
        _fail(str(error), 2)
    except BrokenPipeError:  # whoever reads our output has seen enough
        _drop_output()
        sys.exit(1)
    except (MemoryError, OSError) as error:
        try:
            sys.stdout.flush()
        except (OSError, ValueError):  # it was the output itself that could not be written
            _drop_output()
            _fail(f"cannot write to standard output: {_plain(error)}", 2)
        _fail(_plain(error), 2)
    except RecursionError:
        _fail("something that was given is nested too deeply to be read; give it flat", 2)
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer's own usage errors have one
            _fail(_positional(error) or _missing(error) or f"{error.format_message()}{_instead(error)}", 2)
        if (asked := _out_of_memory(error)) is not None:
            _fail(asked, 2)
        module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if module in EXTRAS:
            _fail(missing_extra(f"gwn {given[0]}", module), 2)
        _fail(f"{type(error).__name__}: {error}; {_report(error)}", UNEXPECTED)


def _answers_at_once(given: Sequence[str]) -> bool:
    """Help and versions wait for no library; `--quiet` asks for silence."""
    return not given or given[0].startswith("-") or bool({"--help", "-h", "--quiet", "-q"} & set(given))


def _instead(error: Exception) -> str:
    """What to do about a usage error, where Typer's own words do not say it."""
    context = getattr(error, "ctx", None)
    options = [] if context is None else [option for one in context.command.params for option in one.opts]
    if (unknown := getattr(error, "option_name", None)) and "--set" in options:
        setting = unknown.lstrip("-").replace("-", "_")
        return f"; a setting is given as --set {setting}=VALUE" if _is_setting(setting) else ""
    if "unexpected extra argument" in str(error):
        return "; one run or dataset is needed: where a * stands for several folders, write more of the name"
    return ""


def _missing(error: Exception) -> str:
    """What an argument or an option that has to be given is, and where there are examples of it."""
    context, wanted = getattr(error, "ctx", None), getattr(getattr(error, "param", None), "help", None)
    if type(error).__name__ != "MissingParameter" or context is None or not wanted:
        return ""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    said = error.format_message().rstrip(".")  # type: ignore[attr-defined]
    return f"{said}: {wanted[0].lower()}{wanted[1:].rstrip('.')}; examples are in `gwn {' '.join(words)} --help`"


def _positional(error: Exception) -> str:
    """What to say where something that stands alone was given as an option."""
    context, unknown = getattr(error, "ctx", None), getattr(error, "option_name", None)
    if context is None or unknown is None:
        return ""
    for one in context.command.params:
        if one.param_type_name == "argument" and one.name == unknown.lstrip("-"):
            return f"{unknown} is no option of {context.info_name}; give {one.name.upper()} alone, without {unknown}"
    return ""


def _is_setting(name: str) -> bool:
    """Whether training or some model has a setting of this name."""
    from gwn.models import MODELS, model_spec
    from gwn.training.config import TrainConfig

    return hasattr(TrainConfig, name) or any(name in model_spec(model).settings() for model in MODELS)


def _drop_output() -> None:
    """Nothing more goes to standard output, not even at the end, where Python would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _out_of_memory(error: Exception) -> str | None:
    """What to say where PyTorch could not have the memory it asked for."""
    if not isinstance(error, RuntimeError) or not _NO_MEMORY.search(str(error)):
        return None
    asked = re.search(r"allocate (\d+) bytes|allocate ([\d.]+ \w+)", str(error))
    size = "" if asked is None else f" ({asked.group(2) or f'{int(asked.group(1)) / 1e9:.3g} GB'} at once)"
    return f"not enough memory{size}: use a smaller width or fewer steps, or see docs/scale.md for graphs this large"


_NO_MEMORY = re.compile("can't allocate memory|not enough memory|out of memory|bad_alloc", re.IGNORECASE)


def _interrupted() -> None:
    _fail("interrupted; what was finished is kept, the same command continues", INTERRUPTED)


def _report(error: Exception) -> str:
    """Keep the details of an error that nobody foresaw; where they are, and what to do with them."""
    details = "".join(traceback.format_exception(error))
    try:
        handle, name = tempfile.mkstemp(prefix="gwn-error-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"gwn {__version__}, Python {sys.version.split()[0]}\n{' '.join(sys.argv)}\n\n{details}")
    except OSError:
        return f"this is an error in gwn itself, and its details could not be kept: {details.splitlines()[-2].strip()}"
    return f"this is an error in gwn itself: please report it with the details in {name}"


def _plain(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _fail(message: str, code: int) -> None:
    line = " ".join(message.split())
    print_prose(f"gwn: {printable(line if len(line) <= LONGEST else f'{line[:LONGEST]} ...')}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
