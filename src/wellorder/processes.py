"""Python in a process of its own, that imports what this one would."""

from __future__ import annotations

import sys


def python_command(code: str, *words: str) -> list[str]:
    """Return the command that runs ``code`` in another Python, which finds the words in ``sys.argv[1:]``.

    ``python -c`` and ``python -m`` look for modules in the current folder before anywhere else, where a ``json.py`` may
    lie beside the files of a stranger. So the other Python gets our own path before it imports anything.
    """
    path = [str(folder) for folder in sys.path]
    return [sys.executable, "-c", f"import sys\nsys.path[:] = {path!r}\n{code}", *words]
