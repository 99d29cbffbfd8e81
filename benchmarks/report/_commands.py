"""The commands that README and docs name beside their figures, found by reading the pages."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import conclust
from conclust._atomic import atomic_write

TOP = Path(__file__).parents[2]
OUTPUTS = TOP / "build" / "report" / "pages"
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
STARTS = re.compile(
    r"^(?:[A-Z_]+=\S+ )*"
    r"(?:python (?:benchmarks/|examples/|docs/_|-m (?:reproduction|benchmarks|docs))|pytest |\.ci/)"
)
RUN_BY_TESTS = "(Python that tests run)"
FIGURE = re.compile(r"^[\s*~<>+−-]*\d*[.,]?\d")

SECONDS = Path(__file__).parents[1] / "seconds.json"  # of each command that `rerun` has run


class Command(NamedTuple):
    page: str  # relative to the top folder
    words: str


class Section(NamedTuple):
    title: str
    text: str
    head: str  # what stands above the first section of the page


def pages():
    found = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
    return {str(path.relative_to(TOP)): path.read_text(encoding="utf-8") for path in found}


def commands_in(text):
    """Commands in a text's inline code, each once, with its line breaks made spaces."""
    found = (" ".join(code.split()) for code in CODE.findall(without_blocks(text)))
    return list(dict.fromkeys(code for code in found if STARTS.match(code)))


def without_blocks(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def commands():
    return [Command(page, words) for page, text in pages().items() for words in commands_in(text)]


def sections(text):
    """Parts of a page from one heading of the second level to the next."""
    head, *parts = re.split(r"^## ", text_with_marks(text), flags=re.MULTILINE)
    return [Section("", head, head)] + [Section(part.split("\n")[0], part, head) for part in parts]


def text_with_marks(text):
    """The page without its blocks of code; for Python, which tests run, a mark is left."""
    text = re.sub(r"^ *```python.*?^ *```", RUN_BY_TESTS, text, flags=re.DOTALL | re.MULTILINE)
    return without_blocks(text)


def says_where_from(section):
    """Whether figures of a section have a command: beside them, or for the whole page."""
    made = ("<!-- table: begin -->", RUN_BY_TESTS)
    return (
        bool(commands_in(section.text))
        or any(mark in section.text for mark in made)
        or ("Made by" in section.head and bool(commands_in(section.head)))
    )


def has_table_of_figures(text):
    """Whether half of the cells of one of its tables, but for the first column, are numbers."""
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE):
        lines = [re.split(r"(?<!\\)\|", line)[2:-1] for line in block.strip().splitlines()[2:]]
        cells = [cell.strip() for line in lines for cell in line if cell.strip()]
        if cells and sum(bool(FIGURE.match(cell)) for cell in cells) >= len(cells) / 2:
            return True
    return False


def what_is_missing(words):
    """What of a command does not exist: a file, an option, a part; empty when all of it does."""
    tokens = [each for each in shlex.split(words) if not re.match(r"[A-Z_]+=", each)]
    if tokens[0] == "pytest":
        files = [each for each in tokens if each.startswith("tests/")]
        return "; ".join(f"no {each}" for each in files if not (TOP / each).exists())
    if tokens[0].startswith(".ci/"):
        return "" if (TOP / tokens[0]).exists() else f"no {tokens[0]}"
    if "--" in tokens:  # what follows is handed on
        tokens = tokens[: tokens.index("--")]
    source, rest = source_of(tokens)
    if source is None:
        return f"no {tokens[1]} {tokens[2] if tokens[1] == '-m' else ''}".strip()
    return "; ".join(f"no {each} in it" for each in rest if not is_known(each, source))


def source_of(tokens):
    """Text of what a command runs, and the words that are handed to it."""
    if tokens[1] != "-m":
        path = TOP / tokens[1]
        return (path.read_text(encoding="utf-8") if path.exists() else None), tokens[2:]
    folder = TOP.joinpath(*tokens[2].split("."))
    if (module := folder.with_suffix(".py")).exists():
        return module.read_text(encoding="utf-8"), tokens[3:]
    if not (folder / "__main__.py").exists():
        return None, []
    names = " ".join(f'"{path.name}"' for path in folder.iterdir() if path.is_dir())
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))]
    return "\n".join([*texts, names]), tokens[3:]


def is_known(word, source):
    """Options must be in the source in quotes; other words anywhere in it, or names of conclust."""
    if word.startswith("-"):
        return f'"{word}"' in source
    if re.fullmatch(r"[\d.]+|\S*[./]\S*|[a-z]+\d+\w*", word):  # a number, a file, a data set
        return True
    return word in conclust.__all__ or bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", source))


# ---------------------------------------------------------------- running them


def show(chosen):
    seconds = json.loads(SECONDS.read_text())
    for command in chosen:
        took = seconds.get(command.words)
        print(f"{command.page:32}{f'{took} s' if took else 'not timed':>12}  {command.words}")


def rerun(chosen):
    """Run commands whose output is not there yet; it goes to build/report/pages and the screen."""
    failed = 0
    for command in chosen:
        name = re.sub(r"[^\w.-]+", "_", command.words)[:150]
        path = OUTPUTS / Path(command.page).name / f"{name}.txt"
        if path.exists():
            print(f"{command.words}\n(as it was, {path.relative_to(TOP)}; --fresh runs it again)\n")
            print(path.read_text(encoding="utf-8"))
            continue
        print(command.words, flush=True)
        began = time.perf_counter()
        ran = subprocess.run(
            runnable(command.words),
            cwd=TOP, env=environment(command.words), capture_output=True, text=True,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        print(ran.stdout or ran.stderr, f"\n{seconds:.0f} s, exit status {ran.returncode}\n")
        failed += ran.returncode != 0
        if ran.returncode == 0:
            keep(path, ran.stdout)
            known = json.loads(SECONDS.read_text()) | {command.words: round(seconds)}
            keep(SECONDS, json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    return failed


def keep(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text)


def runnable(words):
    """The words for this Python; settings in front of them are for the environment."""
    tokens = [each for each in shlex.split(words) if not re.match(r"[A-Z_]+=", each)]
    if tokens[0] == "pytest":
        return [sys.executable, "-m", *tokens]
    if tokens[0].startswith(".ci/"):
        return tokens
    return [sys.executable, *tokens[1:]]


def environment(words):
    given = dict(each.split("=", 1) for each in shlex.split(words) if re.match(r"[A-Z_]+=", each))
    given.pop("CONCLUST_DATA", None)  # "folder" stands for the user's
    return os.environ | given
