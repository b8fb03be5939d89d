"""The site: pages in Markdown, the class below its method, and a gallery of the examples. ``tools/docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import wellorder

project = "wellorder"
author = "The wellorder developers"
release = version = wellorder.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "command_help",
    "fitted_names",
    "mathml",
    "method_table",
    "metric_table",
    "target_table",
]
exclude_patterns = ["_build", "_extensions", "reference.md", "commands.md"]  # these are for reading without a build

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.AsOneLearns",
    "download_all_examples": False,
    "write_computation_times": False,
    "show_memory": False,
    "copyfile_regex": "",
    "backreferences_dir": None,
}

html_theme = "furo"
html_title = "wellorder"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_copy_source = False
