"""What is compared, and that none of it can do harm."""

import os
import sys

import numpy as np
import pytest

from wellorder.collect import read_items
from wellorder.collect.demo import write_dots
from wellorder.collect.markup import from_html, from_markdown
from wellorder.data import DataError

PNG = b"\x89PNG\r\n\x1a\n"


def write(folder, text, name="items.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_all_columns_but_the_name_are_shown(tmp_path):
    items = read_items(write(tmp_path, "name,title,words\na,Elm,12\nb,Oak,\n"))
    assert items.names == ["a", "b"]
    assert items.shown(0).count("<h3>") == 2
    assert "Elm" in items.shown(0)
    assert "<h3>" not in items.shown(1)  # one part only
    assert ">a<" not in items.shown(0)


def test_names_are_shown_where_there_is_nothing_else(tmp_path):
    assert "tea &amp; milk" in read_items(write(tmp_path, "item\ntea & milk\ncoffee\n")).shown(0)


def test_what_is_shown_can_be_chosen(tmp_path):
    path = write(tmp_path, "id,a,b=c\nx,*one*,two\ny,*three*,four\n")
    items = read_items(path, show=["a=markdown", "b=c"])
    assert "<em>one</em>" in items.shown(0)
    assert "two" in items.shown(0)
    assert "id" not in items.shown(0)
    for show, said in (("aa", "did you mean 'a'"), ("a=marked", "did you mean 'markdown'")):
        with pytest.raises(DataError, match=said):
            read_items(path, show=[show])


def test_features_are_known_and_not_shown(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("item,text,words,kind\na,one,100,x\nb,two,200,y\nc,three,300,x\n")
    items = read_items(path, features=["words", "kind"])
    assert items.features == pytest.approx(np.array([[-(1.5**0.5), 1, 0], [0, 0, 1], [1.5**0.5, 1, 0]]))
    assert "one" in items.shown(0)
    assert "100" not in items.shown(0)
    assert "100" in read_items(path, features=["words"], show=["text", "words"]).shown(0)
    assert read_items(path).features is None


@pytest.mark.parametrize(
    ("features", "said"),
    [(["length"], "length"), (["same"], "every feature is constant"), (["text"], "text")],
)
def test_features_that_will_not_do(tmp_path, features, said):
    path = tmp_path / "items.csv"
    path.write_text("item,text,same\n" + "".join(f"e{k},essay number {k},1\n" for k in range(200)))
    with pytest.raises(DataError, match=said):
        read_items(path, features=features)
    with pytest.raises(DataError, match="a folder has no columns"):
        read_items(tmp_path, features=features)


def test_text_is_text(tmp_path):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    path = write(tmp_path, f'name,"<b>t</b>",other\na,"{evil.replace(chr(34), chr(34) * 2)}",1\nb,x,2\n')
    shown = read_items(path).shown(0)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("<script>alert(1)</script>a", "a"),
        ("<img src=x onerror=alert(1)>a", "a"),
        ("<p onclick=alert(1) style='x' class=y id=z>a</p>", "<p>a</p>"),
        ("<a href='javascript:alert(1)'>a</a>", '<a target="_blank" rel="noopener noreferrer nofollow">a</a>'),
        ("<a href=' java&#10;script:alert(1)'>a</a>", '<a target="_blank" rel="noopener noreferrer nofollow">a</a>'),
        ("<a href='data:text/html,x'>a</a>", '<a target="_blank" rel="noopener noreferrer nofollow">a</a>'),
        (
            "<a href='https://a.b/?c=1&amp;d'>a</a>",
            '<a href="https://a.b/?c=1&amp;d" target="_blank" rel="noopener noreferrer nofollow">a</a>',
        ),
        ("<svg><script>alert(1)</script><a>b</a></svg>c", "c"),
        ("<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>c", "c"),
        ("<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>c", '"&gt;c'),
        ("<iframe src=x></iframe><object></object><form><input><button>a</button></form>", "a"),
        ("</div></section><b>a", "<b>a</b>"),
        ("<i><b>a</i>b", "<i><b>a</b></i>b"),
        ("<!-- <p>x</p> --><![CDATA[<b>]]>a", "a"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("&lt;script&gt;", "&lt;script&gt;"),
        ("<textarea></textarea><script>alert(1)</script>a", "a"),
        ("<ScRiPt >alert(1)</sCrIpT >a", "a"),
        ("<scr<script>ipt>alert(1)</script>", None),
        ("<p dir=rtl lang=he>a<br/>b</p>", '<p dir="rtl" lang="he">a<br>b</p>'),
        ("<td colspan='2\" onclick=x'>a", '<td colspan="2&quot; onclick=x">a</td>'),
        ("<style>@import 'x'</style><link rel=stylesheet href=x><base href=x><meta http-equiv=refresh>a", "a"),
    ],
)
def test_html_is_written_anew_without_what_could_harm(given, kept):
    found = from_html(given)
    for word in ("<script", "<img", "onerror=a", "<svg", "<style", "<iframe", "<form", "<link", "<base", "<meta"):
        assert word not in found
    if kept is not None and not given.startswith("<noscript"):
        assert found == kept


def test_markdown_is_marked_up_and_its_html_is_text():
    found = from_markdown(
        "# T\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) ![p](x.png)\n\n| a |\n|---|\n| 1 |"
    )
    assert "<h1>T</h1>" in found
    assert "<td>1</td>" in found
    assert "<img" not in found
    assert "href" not in found


def test_pictures_and_sounds_are_known_by_their_names(tmp_path):
    for name in ("a.png", "b.PNG", "c.mp3", "d.ogg"):
        (tmp_path / name).write_bytes(PNG)
    items = read_items(write(tmp_path, "name,look,sound\nx,a.png,c.mp3\ny,b.PNG,d.ogg\n"))
    assert '<img src="media/0/0"' in items.shown(0)
    assert '<audio src="media/1/1"' in items.shown(1)
    assert items.media(1, 0) == (tmp_path / "b.PNG", "image/png")
    for nowhere in ((0, 2), (0, -1), (-1, 0), (2, 0)):
        assert items.media(*nowhere) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("../secret.png", "lies outside"),
        ("{outside}/secret.png", "lies outside"),
        ("link.png", "lies outside"),
        ("missing.png", "there is no file"),
        ("http://a.b/c.png", "begin with https"),
    ],
)
def test_no_picture_leads_out_of_the_folder(tmp_path, value, said):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (outside / "secret.png").write_bytes(PNG)
    (inside / "a.png").write_bytes(PNG)
    if value == "link.png":
        if os.name != "posix":
            pytest.skip("links are not for everybody here")
        (inside / "link.png").symlink_to(outside / "secret.png")
    path = write(inside, f"name,look\nx,a.png\ny,{value.format(outside=outside)}\n")
    with pytest.raises(DataError, match=rf"line 3: .*{said}"):
        read_items(path)


def test_a_file_that_is_no_picture_is_never_one(tmp_path):
    (tmp_path / "passwd").write_text("x")
    path = write(tmp_path, "name,look\nx,passwd\ny,passwd\n")
    with pytest.raises(DataError, match="not named like image"):
        read_items(path, show=["look=image"])


def test_pictures_elsewhere_are_let_in_by_their_host_alone(tmp_path):
    items = read_items(write(tmp_path, "name,look\nx,https://a.b/c.png?d\ny,https://e.f:8/g.jpg\n"))
    assert items.elsewhere == ("https://a.b", "https://e.f:8")


def test_hosts_are_named_as_browsers_name_them(tmp_path):
    items = read_items(write(tmp_path, "name,look\nx,https://B\u00fccher.de/c.png\ny,https://me:secret@E.f/g.jpg\n"))
    assert items.elsewhere == ("https://e.f", "https://xn--bcher-kva.de")


@pytest.mark.parametrize(
    "address",
    [
        "https://a.b; script-src-elem *;/c.png",
        "https://a b/c.png",
        "https:///c.png",
        "https://[a/c.png",
        "https://a:x/c.png",
    ],
)
def test_no_address_adds_to_what_pages_may_run(tmp_path, address):
    path = write(tmp_path, f'name,look\nx,https://a.b/c.png\ny,"{address}"\n')
    with pytest.raises(DataError, match=r"line 3: .* is not an address"):
        read_items(path, show=["look=image"])


def test_text_may_look_like_half_an_address(tmp_path):
    assert "https://[a" in read_items(write(tmp_path, "name,said\nx,https://[a\ny,b\n")).shown(0)


@pytest.mark.skipif(os.name != "posix", reason="links are not for everybody here")
@pytest.mark.parametrize("name", ["b.txt", "b.png"])
def test_no_file_of_a_folder_leads_out_of_it(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("a password")
    (inside / "a.txt").write_text("a")
    (inside / name).symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match=f"'{name}' is a link to a file outside"):
        read_items(inside)
    (inside / name).unlink()
    (inside / "b.txt").symlink_to(inside / "a.txt")
    assert read_items(inside).names == ["a", "b"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
def test_names_of_files_are_text(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "w") as stream:
        stream.write("b")
    with pytest.raises(DataError, match=r"'\\udcff.txt' is not UTF-8; rename it"):
        read_items(tmp_path)


def test_a_folder_is_an_item_a_file(tmp_path):
    for name, text in (("a.txt", "<b>"), ("b.md", "*b*"), ("c.html", "<i>c</i><script>x</script>"), ("d.csv", "x")):
        (tmp_path / name).write_text(text)
    (tmp_path / "e.png").write_bytes(PNG)
    items = read_items(tmp_path)
    assert items.names == ["a", "b", "c", "e"]
    assert "&lt;b&gt;" in items.shown(0)
    assert "<em>b</em>" in items.shown(1)
    assert "<i>c</i></div>" in items.shown(2)
    (tmp_path / "a.md").write_text("a")
    assert read_items(tmp_path).names == ["a.md", "a.txt", "b.md", "c.html", "e.png"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,a\nx,1\nx,2\n", r"line 3: the item 'x' .* is already in line 2"),
        ("name,a\nx,1\n,2\n", "line 3: the name .* is missing"),
        ("name,a\nx,1\n", "only one item"),
        ("name,a\nx,1\nRight,2\n", "an item is called 'Right'"),
    ],
)
def test_files_that_will_not_do(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        read_items(write(tmp_path, text))


def test_folders_that_will_not_do(tmp_path):
    with pytest.raises(DataError, match="nothing to compare"):
        read_items(tmp_path)
    (tmp_path / "NA.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    with pytest.raises(DataError, match="called 'NA'"):
        read_items(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        read_items(tmp_path)


def test_the_built_in_pictures_have_as_many_dots_as_they_say(tmp_path):
    write_dots(tmp_path)
    pictures = sorted(tmp_path.iterdir())
    assert len(pictures) == 12
    for picture in pictures:
        assert picture.read_text().count("<circle") == int(picture.stem.split()[0])
    before = [picture.read_bytes() for picture in pictures]
    write_dots(tmp_path)
    assert [picture.read_bytes() for picture in pictures] == before
