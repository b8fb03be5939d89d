"""The page in a real browser: nothing is logged as an error, nothing is refused, and the headings sort."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.report import boards
from wellorder.report import render

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    *("--enable-logging=stderr", "--log-level=0", "--dump-dom"),
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the path")

PRESS = """
<script>
const heads = Array.from(document.querySelectorAll("#standings thead th"));
const names = () => Array.from(document.querySelectorAll("#standings tbody .name"), (each) => each.textContent);
const press = (text) => {
  heads.find((each) => each.textContent === text).querySelector("button").click();
  return names();
};
const orders = [press("method"), press("method"), press("NDCG@10"), press("#")];
document.body.dataset.orders = orders.map((each) => each.join(",")).join(";");
</script>
"""


def dump(page, folder):
    """Open a page and return the document after its scripts have run, and what the console said."""
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_headings_sort_and_the_console_stays_silent(tmp_path):
    board = boards.diabetes()
    page = render(board)
    document, console = dump(page, tmp_path)
    assert console == []
    assert document.count("<button") == 9  # every heading but the drawn scale
    # the page's policy refuses foreign scripts, as it should; the copy that presses the headings goes without it
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace(
        "</body>", PRESS + "</body>"
    )
    document, console = dump(open_page, tmp_path)
    assert console == []
    by_name, by_name_down, by_ndcg, by_place = (
        order.split(",") for order in re.search(r'data-orders="([^"]*)"', document)[1].split(";")
    )
    methods = [each.method for each in board.standings]
    assert by_place == methods
    assert by_name == sorted(methods)
    assert by_name_down == sorted(methods, reverse=True)
    ndcg = {each.method: each.metrics["ndcg@10"] for each in board.standings}
    assert by_ndcg == sorted(methods, key=ndcg.get)


def test_a_script_that_is_not_the_page_s_own_is_refused(tmp_path):
    document, console = dump(render(boards.made()).replace("</body>", PRESS + "</body>"), tmp_path)
    assert any("Content Security Policy" in line for line in console)
    assert "data-orders" not in document.split("<script>")[0]


def test_hostile_names_run_nothing(tmp_path):
    _, console = dump(render(boards.hostile()).replace("alert(1)", "console.error(1)"), tmp_path)
    assert console == []
