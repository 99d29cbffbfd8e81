"""A real studio in a process of its own, for pages to be opened on."""

import json
import subprocess
import sys

from sklearn.datasets import load_iris

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 860}
PAGES = ("question", "map", "answers", "progress")

HOSTILE = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\" onmouseover=\"document.title='owned'",
    "\u202etxet desrever",
    "שלום wild flower",
    "ünïcödé 漢字 🙂",
    "a" * 2000,
]


def hostile_table(path):
    """Irises with names and notes that would harm a careless page."""
    iris = load_iris(as_frame=True)
    frame = iris.data.copy()
    frame.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    frame.insert(
        0,
        "flower",
        [f"{i} {HOSTILE[i % 3]}" if i % 10 == 0 else f"flower {i}" for i in range(len(frame))],
    )
    frame["note"] = [
        f"{HOSTILE[i % len(HOSTILE)]} in the wood, {i} steps from the road"
        for i in range(len(frame))
    ]
    frame["page"] = [
        f"https://example.org/{i}" if i % 4 else "javascript:document.title='owned'"
        for i in range(len(frame))
    ]
    frame.to_csv(path, index=False)
    return path


class Studio:
    """`conclust studio` on a table; it can be killed and started again."""

    def __init__(self, table, *options):
        self.command = [
            sys.executable,
            "-m",
            "conclust",
            "studio",
            str(table),
            *options,
            "--no-browser",
            "--json",
        ]
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        said = ""
        while not said.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            said += line
        self.url = json.loads(said)["url"]
        self.base = self.url.partition("?")[0]

    def kill(self):
        """As a power cut would."""
        self.process.kill()
        self.process.communicate()

    close = kill
