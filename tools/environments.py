"""Fresh environments of the Pythons that the project names: what tools/matrix and tools/release share."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pythons() -> list[str]:
    """Return the Pythons that the project says it runs on, such as 3.11."""
    named = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in PROJECT["classifiers"]]
    return [found[1] for found in named if found]


def find_python(version: str) -> str | None:
    """Return a Python of this version that runs; pyenv leaves a python3.x on PATH that may only print an error."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    own = sorted(pyenv.glob(f"{version}.*/bin/python"), key=lambda path: Version(path.parts[-3]), reverse=True)
    for candidate in (shutil.which(f"python{version}"), *map(str, own)):
        if candidate is None:
            continue
        command = [candidate, "-c", "import sys; print(sys.version)"]
        asked = subprocess.run(command, check=False, capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.startswith(f"{version}."):
            return candidate
    return None


class Environment:
    """A virtual environment in a folder, with nobody else's libraries; all that is said in it goes to one log."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self.binaries = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(self.binaries / "python")
        self.log = log
        self.variables = os.environ | {"PATH": f"{self.binaries}{os.pathsep}{os.environ['PATH']}"}
        self.variables.pop("PYTHONPATH", None)

    def make(self, python: str) -> bool:
        """Make it of this Python, and begin the log; say whether that worked."""
        self.log.write_text("", encoding="utf-8")
        return self.run([python, "-m", "venv", str(self.folder)], ROOT)

    def install(self, *what: str) -> bool:
        """Install libraries or archives; say whether that worked."""
        return self.run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what], ROOT)

    def run(self, command: Sequence[str], folder: Path) -> bool:
        """Run a command in a folder; say whether it ended well."""
        with self.log.open("a", encoding="utf-8") as said:
            said.write(f"$ {' '.join(command)}\n")
            said.flush()
            ran = subprocess.run(
                command, check=False, cwd=folder, env=self.variables, stdout=said, stderr=subprocess.STDOUT
            )
        return ran.returncode == 0

    def run_all(self, commands: Iterable[Sequence[str]], folder: Path) -> bool:
        """Run commands one after the other until one fails; say whether none did."""
        return all(self.run(command, folder) for command in commands)


def last_line(log: Path) -> str:
    """Return the last line of a log that says anything."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""
