"""Settings of the gallery, which there is only where ``examples/`` has a story to tell.

With ``CONCLUST_PLOT_GALLERY=0`` its pages are made and the examples not run.
"""

import os
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
HAS_EXAMPLES = any(EXAMPLES.glob("**/plot_*.py"))
EXTENSIONS = ["sphinx_gallery.gen_gallery"] if HAS_EXAMPLES else []
SETTINGS: dict[str, Any] = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("conclust",),
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "plot_gallery": os.environ.get("CONCLUST_PLOT_GALLERY") != "0",
    "show_memory": False,
    "download_all_examples": True,
    "min_reported_time": 1,
    "thumbnail_size": (720, 400),  # most pictures are two panels wide
    "within_subsection_order": "FileNameSortKey",
}
