"""Pictures of the built site, narrow and wide, light and dark, and what is wrong with its pages.

Wrong is what axe finds, a picture that is missing, and a page that scrolls sideways.

    python -m docs._site_shots build/site build/shots

Needs playwright, axe-playwright-python and chromium.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES = {
    "landing": "index.html",
    "first_steps": "first_steps.html",
    "guide": "guide.html",
    "which_method": "choosing.html",
    "how_to": "howto/duplicates.html",
    "gallery": "gallery/index.html",
    "modules": "api.html",
    "module": "api/conclust.cluster.html",
    "class": "api/generated/conclust.COPKMeans.html",
    "commands": "command_line_reference.html",
    "paper": "reproduction/paper000.html",
    "errata": "errata.html",
    "how_far": "how_far.html",
    "benchmarks": "benchmarks.html",
    "example": "gallery/plot_what_statements_do.html",
}
WIDTHS = (390, 1280)
MODES = ("light", "dark")
MISSING = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"


def views(browser: Any, site: Path, pages: dict[str, str] = PAGES) -> Iterator[tuple[str, Any]]:
    """Every page in every width and mode, open in the browser."""
    for mode in MODES:
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme=mode,
                reduced_motion="reduce",
            )
            page = context.new_page()
            for name, path in pages.items():
                page.goto((site / path).resolve().as_uri())
                yield f"{name}-{width}-{mode}", page
            context.close()


def layout_faults(page: Any) -> list[str]:
    """Pictures that are missing, and whether the page scrolls sideways."""
    wide = ["scrolls sideways"] if page.evaluate(TOO_WIDE) else []
    return [*wide, *(f"no picture {src}" for src in page.evaluate(MISSING))]


def main(site: Path, folder: Path) -> int:
    """Write the pictures, print what is wrong; 1 if anything is."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    n_found = 0
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, page in views(browser, site):
            page.screenshot(path=folder / f"{name}.png")
            for rule in Axe().run(page).response["violations"]:
                n_found += 1
                print(name, rule["id"], [node["html"][:160] for node in rule["nodes"][:3]])
            for fault in layout_faults(page):
                n_found += 1
                print(name, fault)
    print(f"{len(PAGES) * len(WIDTHS) * len(MODES)} views in {folder}, {n_found} faults")
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
