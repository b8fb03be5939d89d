"""``wellorder``: finds its commands, and turns every error into one line that a person can act on."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pkgutil import iter_modules
from typing import TextIO

import click

from .. import __version__
from ..suggest import suggest
from . import commands
from .output import as_options, outlive_readers, say

_ORDER = (
    "demo",
    "check",
    "fit",
    "predict",
    "evaluate",
    "order",
    "explain",
    "importance",
    "compare",
    "rate",
    "collect",
    "export",
)
"""The commands in the order of a first day's work; others follow by name."""

_EXAMPLES = """\b
Examples:
  wellorder demo
  wellorder check wines.csv --target quality
  wellorder fit wines.csv --target quality -o wines.wo
  wellorder order wines.wo new-wines.csv
  wellorder compare wines.csv --target quality --report report.html
"""


class Commands(click.Group):
    """All modules of :mod:`wellorder.cli.commands`, each under its own name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        found = [module.name for module in iter_modules(commands.__path__)]
        return [*(name for name in _ORDER if name in found), *sorted(set(found) - set(_ORDER))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; a misspelt one gets a suggestion."""
        if cmd_name in self.list_commands(ctx):
            command = import_module(f"{commands.__name__}.{cmd_name}").command
            assert isinstance(command, click.Command)
            return command
        ctx.fail(f"there is no command {cmd_name!r}; {suggest(cmd_name, self.list_commands(ctx), 'there are')}")


@click.group(
    cls=Commands, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="wellorder")
@click.option("--debug", is_flag=True, help="Show the whole trace of an error.")
def wellorder(debug: bool) -> None:
    """Learn to put things in order, and see how far to trust the result."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 2 for bad input, 1 for a fault of our own.

    Whoever reads our output may go before its end, as ``head`` does: that is none of these, and files are written all
    the same.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    warnings.showwarning = _show_warning
    outlive_readers()
    try:
        code = wellorder.main(arguments, standalone_mode=False) or 0
        sys.stdout.flush()  # a full disk may say so only now
        sys.exit(code)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        where = "" if getattr(error, "ctx", None) is None else f" (see {error.ctx.command_path} --help)"  # type: ignore[attr-defined]
        _stop(f"{error.format_message()}{where}")
    except (click.Abort, KeyboardInterrupt):
        say("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:  # of a pipe that was named as a file; of our own output, see outlive_readers
        sys.exit(0)
    except MemoryError as error:
        if "--debug" in arguments:
            raise
        advice = "" if "; " in str(error) else "; give it fewer rows or columns, or close other programs"
        _stop(as_options(f"there is not enough memory: {_one_line(error)}{advice}"))
    except OverflowError as error:
        if "--debug" in arguments:
            raise
        _stop(f"a number of the data or of the model is too large to compute with ({_one_line(error)}); scale it down")
    except (ValueError, TypeError, OSError, ImportError) as error:  # the last: what an option needs
        if "--debug" in arguments:
            raise
        _stop(as_options(_one_line(error)))
    except Exception as error:
        if "--debug" in arguments:
            raise
        say(
            f"error: wellorder failed on something it did not expect ({type(error).__name__}: {_one_line(error)}); "
            "run 'wellorder --debug …' to see where",
            err=True,
        )
        sys.exit(1)


def _stop(message: str) -> None:
    say(f"error: {message}", err=True)
    sys.exit(2)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say(f"warning: {as_options(' '.join(str(message).split()))}", err=True)
