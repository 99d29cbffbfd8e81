"""The pictures of the page on pictures: what its own lines draw.

python docs/_plotting_pictures.py      # writes docs/pictures/plot_*.png; needs the extra `plot`
"""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def main():
    """Run each block of the page, and save what it drew under the name of the picture below it."""
    page = (HERE / "pictures.md").read_text(encoding="utf-8")
    names = {}
    for block, picture in re.findall(
        r"```python\n(.*?)```\s+!\[[^\]]*\]\((.*?)\)", page, flags=re.DOTALL
    ):
        exec(block, names)
        plt.gcf().savefig(HERE / picture, dpi=80, metadata={"Software": None})
        plt.close("all")


if __name__ == "__main__":
    main()
