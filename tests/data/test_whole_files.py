"""Whatever is written is there whole, or what was there before is: on a full disk, after Ctrl-C, through links."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

import wellorder as wo
from wellorder.data import DataError, Table, write_diabetes, write_scores, write_table
from wellorder.data.trec import write_qrels, write_run
from wellorder.data.writers import write_lines, write_rows
from wellorder.evaluation.across import MeansAcross
from wellorder.evaluation.leaderboard import Leaderboard, Protocol
from wellorder.figures.style import save_figure
from wellorder.report import write as write_report, write_across
from wellorder.whole_files import whole_file, write_whole

WINES = Table("wines", sp.csr_array(np.eye(3)), y=np.arange(3.0))
PROTOCOL = Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
BOARD = Leaderboard("wines", False, (), (), (), PROTOCOL, is_complete=False)
ACROSS = MeansAcross("ndcg@10", True, ("films", "wines"), ("ridge", "rank-svm"), ((0.5, 0.7), (0.6, 0.8)))
MODEL = wo.RankSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])

WRITERS = {
    "model.wo": lambda path: wo.save(MODEL, path),
    "table.csv": lambda path: write_table(path, WINES),
    "table.tsv.gz": lambda path: write_table(path, WINES),
    "table.parquet": lambda path: write_table(path, WINES),
    "table.parquet.gz": lambda path: write_table(path, WINES),
    "table.arff": lambda path: write_table(path, WINES),
    "table.letor": lambda path: write_table(path, WINES),
    "table.letor.gz": lambda path: write_table(path, WINES),
    "scores.csv": lambda path: write_scores(path, WINES, [1.0, 2.0, 3.0]),
    "lines.txt": lambda path: write_lines(path, [1.0, 2.0]),
    "rows.csv": lambda path: write_rows(path, ["item", "rank"], [["a", 1]]),
    "run.txt": lambda path: write_run(path, ["a", "b"], None, [1.0, 2.0]),
    "qrels.txt": lambda path: write_qrels(path, ["a", "b"], None, [1.0, 2.0]),
    "diabetes.csv": write_diabetes,
    "report.html": lambda path: write_report(BOARD, path),
    "across.html": lambda path: write_across(ACROSS, path),
    "picture.png": lambda path: save_figure(Figure(figsize=(1, 1)), path, dpi=20),
    "picture.svg": lambda path: save_figure(Figure(figsize=(1, 1)), path, dpi=20),
}


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_or_ctrl_c_costs_neither_the_old_file_nor_leaves_half_a_new_one(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full_disk)
        with pytest.raises((OSError, ValueError), match="No space left on device") as caught:
            WRITERS[name](path)
        assert str(path) in str(caught.value)  # whatever is wrong, it is with this file
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            WRITERS[name](path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]
    WRITERS[name](path)
    assert len(path.read_bytes()) > 3
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_full_is_named():
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole("/dev/full", "page")
    assert caught.value.filename == "/dev/full"
    with pytest.raises(DataError, match=r"/dev/full: it cannot be written \(No space left on device\)"):
        write_lines("/dev/full", [1.0])


def test_a_block_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "new") as file:
        file.write(b"half" * (1 // 0))
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="elsewhere"), whole_file(tmp_path / "new"):
        raise FileNotFoundError(errno.ENOENT, "is not there", "elsewhere")  # not of the file that is written
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_permissions_and_links_stay(tmp_path):
    mask = os.umask(0o027)
    try:
        new = write_whole(tmp_path / "new", "1")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    new.chmod(0o604)
    (tmp_path / "link").symlink_to("new")
    write_whole(tmp_path / "link", "2")
    assert (tmp_path / "link").is_symlink()
    assert new.read_text() == "2"
    assert stat.S_IMODE(new.stat().st_mode) == 0o604
    (tmp_path / "ahead").symlink_to("later")
    write_whole(tmp_path / "ahead", "3")
    assert (tmp_path / "later").read_text() == "3"
    long = tmp_path / ("ж" * 120)  # 240 bytes, of 255
    assert write_whole(long, "4").read_text() == "4"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_what_may_not_be_written(tmp_path):
    file = write_whole(tmp_path / "file", "1")
    file.chmod(0o400)
    with pytest.raises(PermissionError) as caught:
        write_whole(file, "2")
    assert caught.value.filename == str(file)
    file.chmod(0o600)
    tmp_path.chmod(0o500)
    try:
        write_whole(file, "2")  # only where it stands, for nothing can stand beside it
        with pytest.raises(PermissionError):
            write_whole(tmp_path / "other", "3")
    finally:
        tmp_path.chmod(0o700)
    assert file.read_text() == "2"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_written_straight(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(10)
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_by_its_name_goes_on_where_it_is(tmp_path):
    code = (
        "import sys; from wellorder.whole_files import write_whole; "
        "print('before'); write_whole(sys.argv[1], 'page\\n'); print('after')"
    )
    out = tmp_path / "out"
    out.write_text("old\n")
    for name in ("/dev/stdout", str(out)):
        with out.open("a") as stream:
            subprocess.run([sys.executable, "-c", code, name], stdout=stream, check=True)
    assert out.read_text() == "old\n" + 2 * "before\npage\nafter\n"
    piped = subprocess.run([sys.executable, "-c", code, "/dev/stdout"], capture_output=True, text=True, check=True)
    assert piped.stdout == "before\npage\nafter\n"


@pytest.mark.parametrize("reason", [errno.EBUSY, errno.EPERM])
def test_a_file_that_may_not_be_moved_away_is_written_into(tmp_path, monkeypatch, reason):
    (tmp_path / "kept").write_bytes(b"old")

    def refuse(source, target):
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os, "replace", refuse)
    with whole_file(tmp_path / "kept") as file:
        file.write(b"new")
    assert (tmp_path / "kept").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["kept"]
