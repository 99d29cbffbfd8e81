"""Pictures of the built site, narrow and wide, light and dark, and what axe finds on its pages.

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
}
WIDTHS = (390, 1280)
MODES = ("light", "dark")


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


def main(site: Path, folder: Path) -> int:
    """Write the pictures, print what axe finds; 1 if it finds anything."""
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
    print(f"{len(PAGES) * len(WIDTHS) * len(MODES)} views in {folder}, axe found {n_found}")
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
