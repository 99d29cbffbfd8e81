"""The site: ``python -m sphinx -W -n -b html docs build/site`` (see CONTRIBUTING)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import _site_gallery  # noqa: E402

import conclust  # noqa: E402

project = "conclust"
author = "The conclust developers"
copyright = author
version = release = conclust.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "_site",
    *_site_gallery.EXTENSIONS,
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = [
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "api/backreferences/**",
    "**/sg_execution_times.rst",
]
templates_path = ["_templates"]
nitpicky = True
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

autosummary_generate = True
autosummary_context = {"gallery": _site_gallery.HAS_EXAMPLES}
autodoc_typehints = "none"  # the docstrings say the types, with shapes
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "conclust"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 1,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "first_steps": [], "changelog": [], "contributing": []}

sphinx_gallery_conf = _site_gallery.SETTINGS
copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True
