"""A name means one thing: no two classes of the package share theirs."""

import ast
from collections import defaultdict
from pathlib import Path

import wellorder

ROOT = Path(wellorder.__file__).parent


def test_each_class_name_occurs_once():
    homes = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
