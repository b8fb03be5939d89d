"""The registries of workloads and peers fit together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.lines import elsewhere
from benchmarks.peers import PEERS, Peer, Settings
from benchmarks.peers.peer import UnsuitableError, level_numbers, sizes_of_lists
from benchmarks.runner import attempt
from benchmarks.workloads import WORKLOADS, find_workloads, short

from benchmarks import peers

HERE = Path(peers.__file__).parent


def test_every_file_of_peers_is_in_the_registry():
    files = {path.stem for path in HERE.glob("*.py")} - {"__init__", "peer"}
    assert files == {Path(file.__file__).stem for file in peers._FILES}
    assert len(PEERS) == sum(len(file.PEERS) for file in peers._FILES)  # no name twice


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_the_methods_of_a_workload_do_its_task(workload):
    assert {PEERS[name].task for name in workload.methods} == {workload.task}
    assert set(workload.quick) <= set(workload.methods)
    assert len(set(workload.methods)) == len(workload.methods)
    assert PEERS[workload.methods[0]].ours  # what the others are divided by


def test_every_peer_works_on_something():
    assert set(PEERS) == {name for workload in WORKLOADS.values() for name in workload.methods}


def test_every_foreign_package_is_in_the_bench_extra():
    import tomllib

    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text())["project"]
    named = [*project["optional-dependencies"]["bench"], *project["dependencies"]]
    for peer in PEERS.values():
        assert not peer.package or any(line.startswith(peer.package) for line in named), peer.package
        assert peer.ours or peer.package


def test_an_absent_peer_is_skipped_with_its_reason():
    absent = Peer("absent", "order", lambda rows, settings: pytest.fail("started"), package="no-such-package")
    assert attempt(WORKLOADS["levels-2e4"], absent, 1, 5.0) == {
        "status": "absent",
        "reason": "no-such-package is not installed (pip install 'wellorder[bench]')",
    }
    assert PEERS["ridge"].absence() is None
    assert "scikit-learn 1" in PEERS["ridge"].version()


def test_importing_the_registry_imports_no_peer():
    import subprocess
    import sys

    heavy = ("sksurv", "xgboost", "catboost", "lightgbm", "statsmodels", "sklearn", "ranx")
    code = f"import benchmarks.workloads, sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parents[1], check=True
    )
    assert found.stdout.strip() == "[]"


def test_figures_from_elsewhere_are_of_workloads_and_have_a_yardstick():
    known = elsewhere()
    for row in known["measured"]:
        assert row["method"] in known["versions"]
        yardstick, seconds = known["yardsticks"][row["workload"]]
        assert yardstick in WORKLOADS[row["workload"]].methods
        assert seconds > 0


def test_workloads_by_name_and_family():
    assert [each.name for each in find_workloads(["queries-small", "ties"])][:2] == ["queries-small", "ties-8e2"]
    with pytest.raises(SystemExit, match="no workload or family 'nothing'; families: levels"):
        find_workloads(["nothing"])
    assert short(120) == "12e1"


def test_what_a_peer_cannot_take_is_refused_with_the_reason():
    train, _ = replace(WORKLOADS["continuous-2e3"]).make()
    for name, reason in (("mord", "takes levels"), ("linear-svc-all-pairs", None), ("catboost-yetirank", "over 1,023")):
        if reason is not None and PEERS[name].absence() is None:
            with pytest.raises(UnsuitableError, match=reason):
                PEERS[name].start(train, Settings(C0=1.0))
    with pytest.raises(UnsuitableError, match="2,000 different grades"):
        level_numbers(train.y)
    assert sizes_of_lists(None, 5).tolist() == [5]
    assert sizes_of_lists(train.y[:4].argsort() // 5, 4).tolist() == [4]
