"""``command-help``: what a command prints with ``--help``, taken from the command itself."""

from __future__ import annotations

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from wellorder.cli.main import wellorder

WIDTH = 100


class CommandHelp(SphinxDirective):
    """Insert the help of one command; without an argument, that of the whole command line."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the help as a block of plain text."""
        context = click.Context(wellorder, info_name="wellorder", terminal_width=WIDTH)
        if self.arguments:
            command = wellorder.get_command(context, self.arguments[0])
            context = click.Context(command, info_name=self.arguments[0], parent=context)
        text = context.get_help()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
