"""``--monotone``: read, kept, and refused in one clear line."""

from __future__ import annotations

import pytest


def test_fit_and_compare_keep_it_and_say_so(run, wines):
    common = (wines, "--target", "quality", "--item", "name")
    found = run("fit", *common, "--no-bands", "--monotone", "acid=+,sugar=-", "-o", "w.wo")
    assert found.code == 0
    assert "monotone: acid up, sugar down" in found.out
    command = ("compare", *common, "--models", "rank-svm,ridge", "--folds", 2)
    found = run(*command, "--repeats", 1, "--monotone", "acid=+", "--report", "r.html")
    assert found.code == 0
    assert "it cannot keep acid monotone exactly" in found.out
    with open("r.html", encoding="utf-8") as page:
        assert "more acid is never worse" in page.read()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--monotone", "acid"], "'acid' is not a column with + or -"),
        (["--monotone", "acid=up"], "'acid=up' is not a column with + or -"),
        (["--monotone", "acid=+,acid=-"], "it names 'acid' twice"),
        (["--monotone", "acids=+"], "'acids', which the table has not; did you mean 'acid'?"),
        (["--monotone", "colour=+"], "'colour', which holds text"),
        (["--monotone", "acid=+", "--model", "ridge"], "these can: rank-svm"),
        (["--monotone", "acid=+", "--set", "kernel=rbf"], "rank-svm, as it is set, cannot keep"),
    ],
)
def test_what_is_wrong_is_one_line(run, wines, options, message):
    found = run("fit", wines, "--target", "quality", "--item", "name", "--no-bands", *options, "-o", "w.wo")
    assert found.code == 2
    assert message in found.err
