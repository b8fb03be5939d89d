"""Text of others as HTML that can do no harm: escaped, from Markdown, or sanitised."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_BLOCKS = (
    "address article aside blockquote dd details div dl dt figcaption figure footer header hr li main ol p pre "
    "section summary ul"
)
_HEADINGS = "h1 h2 h3 h4 h5 h6"
_WORDS = (
    "a abbr b bdi bdo br cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strong sub sup time u var"
)
_TABLES = "caption col colgroup table tbody td tfoot th thead tr"
_KEPT = frozenset(f"{_BLOCKS} {_HEADINGS} {_WORDS} {_TABLES}".split())
"""The elements that stay. None of them runs anything, fetches anything, or is read by other rules than the rest."""

_EMPTY = frozenset({"br", "hr", "col"})
_NEVER = "script style template noscript iframe object embed svg math select textarea title head"
_SWALLOWED = frozenset(_NEVER.split())
"""Elements that go with all that is in them."""

_ATTRIBUTES = {
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start"},
    "abbr": {"title"},
    "a": {"href"},
}
_EVERYWHERE = {"dir", "lang"}
_SAFE_LINK = re.compile(r"(?:https?:|mailto:)[^\s]*", re.IGNORECASE)


def from_text(text: str) -> str:
    """Return plain text as HTML; line breaks are kept by the style of the page."""
    return escape(text)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def from_markdown(text: str) -> str:
    """Return Markdown as HTML; what it renders is sanitised like anybody's, and HTML in it is shown as it stands.

    Examples
    --------
    >>> from wellorder.collect.markup import from_markdown
    >>> from_markdown("*one* <b>two</b> [three](javascript:x)").strip()
    '<p><em>one</em> &lt;b&gt;two&lt;/b&gt; [three](javascript:x)</p>'
    """
    return from_html(_markdown().render(text))


def from_html(text: str) -> str:
    """Return HTML with nothing in it but text, lists, tables and links that open elsewhere.

    It is written anew from what was parsed, never cut out of what was given: whatever a browser would make of the
    original, it gets elements of a short list with few attributes, and every one that begins ends.

    Examples
    --------
    >>> from wellorder.collect.markup import from_html
    >>> from_html("<p onclick=x>a<script>b</script><b>c</p></div>")
    '<p>a<b>c</b></p>'
    """
    writer = _Rewriter()
    writer.feed(text)
    writer.close()
    return writer.result()


class _Rewriter(HTMLParser):
    """Writes what it reads, if it is harmless."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._written: list[str] = []
        self._open: list[str] = []
        self._swallowing: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SWALLOWED:
            self._swallowing.append(tag)
        if self._swallowing or tag not in _KEPT:
            return
        self._written.append(f"<{tag}{''.join(self._attributes(tag, attrs))}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # in HTML the slash means nothing

    def handle_endtag(self, tag: str) -> None:
        if self._swallowing:
            if tag == self._swallowing[-1]:
                self._swallowing.pop()
        elif tag in self._open:
            while (last := self._open.pop()) != tag:
                self._written.append(f"</{last}>")
            self._written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._swallowing:
            self._written.append(escape(data))

    def result(self) -> str:
        return "".join([*self._written, *(f"</{tag}>" for tag in reversed(self._open))])

    @staticmethod
    def _attributes(tag: str, attrs: list[tuple[str, str | None]]) -> list[str]:
        kept = []
        for name, value in attrs:
            if name not in _ATTRIBUTES.get(tag, ()) and name not in _EVERYWHERE:
                continue
            if name == "href" and not _SAFE_LINK.fullmatch(value or ""):
                continue
            kept.append(f' {name}="{escape(value or "")}"')
        return [*kept, ' target="_blank" rel="noopener noreferrer nofollow"'] if tag == "a" else kept
