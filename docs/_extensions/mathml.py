"""Formulas as MathML, which browsers draw themselves: the site opens from disk and fetches nothing."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

WRITTEN_OTHERWISE = (
    # \frac12: a half, and to docutils twelve over what follows
    (re.compile(r"\\([td]?frac)\s*([0-9])\s*([0-9])"), r"\\\1{\2}{\3}"),
    (re.compile(r"\\mathrel\{(.*?)\}"), r"\1"),
    (re.compile(r"\\big/"), "/"),
    (re.compile("…"), r"\\ldots"),
)
"""TeX that docutils does not know, and how it is written instead."""


def to_mathml(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """Return the formula of a node; one that cannot be written is a warning that shows it."""
    source = node.astext()
    for found, written in WRITTEN_OTHERWISE:
        source = found.sub(written, source)
    try:
        return str(tex2mathml(source, as_block=as_block))
    except MathError as error:
        logger.warning("cannot write the formula %r: %s", source, error, location=node)
        return f"<code>{escape(source)}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(to_mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own; a long one scrolls on a narrow screen."""
    translator.body.append(f'<div class="formula">{to_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
