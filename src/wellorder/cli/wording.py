"""Options as they are written on the command line, where the library names them as in Python."""

from __future__ import annotations

import re
import shlex

_OPTION = re.compile(
    r"(?<![\w.'\"])(target|group|item|items|weight|levels|drop|format)=(?:'(?P<one>[^']*)'|\[(?P<many>[^\]]*)\])?"
)


def as_options(message: str) -> str:
    """Name options as they are written here: ``item='name'`` in Python is ``--item name`` on the command line."""

    def written(match: re.Match[str]) -> str:
        value = match["one"] if match["many"] is None else match["many"].replace(", ", ",").replace("'", "")
        if value is None:
            return f"--{match[1]}"
        return f"--{match[1]} {shlex.quote(value)}"

    return _OPTION.sub(written, message)
