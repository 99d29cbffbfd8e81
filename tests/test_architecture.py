"""The rules of the house that no single module can check."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import conclust

SOURCE = Path(conclust.__file__).parent

# Data flows down this list, so a module imports only from rows above its own (and its own).
# Names starting with an underscore are shared foundations.
LAYERS = [
    ["__init__"],
    [
        "exceptions",
        "_atomic",
        "_progress",
        "_kernels",
        "_arrays",
        "_declare",
        "_words",
        "_columns",
        "_association",
        "_html",
    ],
    [
        "_sklearn",
        "_persist",
        "_pairs",
        "_files",
        "_preparation",
        "_tree_layout",
        "_typical",
        "_drawn",
    ],
    ["_threads", "_summaries", "_lazy_labels"],
    ["_any_clusterer"],
    ["constraints"],
    ["_validation", "_folds", "_statements", "_fitting"],
    ["_placement"],
    ["_lloyd", "_matching"],
    ["_known_labels", "blocks"],
    ["_living"],
    ["cluster"],
    ["hierarchy", "metric_learning"],
    ["ensemble"],
    ["metrics", "model_selection", "datasets"],
    ["active", "_guided"],
    ["testing", "reporting", "plotting", "_show_versions"],
    ["studio"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The parts of conclust that a file imports at run time, inside functions or out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    names = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            if node.module == "conclust":
                names |= {f"conclust.{alias.name}" for alias in node.names}
            else:
                names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("conclust.")}
    return {conclust._HOMES.get(part, part) for part in parts}


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_one_way(path):
    part = part_of(path)
    for imported in imports_of(path) - {part, "__version__"}:
        assert LEVEL[imported] < LEVEL[part], f"{part} may not import {imported}"


def private_modules_of(path: Path) -> set[str]:
    """Modules of other parts that a file imports although their name begins with an underscore."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("conclust."):
            part, *inner = node.module.split(".")[1:]
            if part == part_of(path) or part.startswith("_"):
                continue  # at home, or a foundation that is there for all
            names = [*inner, *(alias.name for alias in node.names)]
            found |= {f"{node.module}: {name}" for name in names if name.startswith("_")}
    return found


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_what_is_private_stays_in_its_room(path):
    # Check that a foreign private module is imported only from an underscored folder or a
    # package-level file: what two rooms need has a room of its own.
    assert not private_modules_of(path)


def names_imported(path: Path, module: str) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    froms = (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == module)
    return {alias.name for node in froms for alias in node.names}


@pytest.mark.parametrize("package", [p for p in conclust._SUBPACKAGES if (SOURCE / p).is_dir()])
def test_what_is_not_public_is_handed_on_only_where_it_is_used(package):
    # Check that a name in a package's namespace is in `__all__`, or used by another package.
    home, module = SOURCE / package, f"conclust.{package}"
    nodes = ast.parse((home / "__init__.py").read_text(encoding="utf-8")).body
    ours = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module.startswith(module)]
    inner = {alias.name for node in ours for alias in node.names} - set(
        getattr(conclust, package).__all__
    )
    others = [path for path in SOURCE.rglob("*.py") if home not in path.parents]
    assert inner <= {name for path in others for name in names_imported(path, module)}


def test_kernels_import_nothing_of_ours():
    for path in (SOURCE / "_kernels").glob("*.py"):
        assert imports_of(path) <= {"_kernels"}, path


def test_private_names_of_scikit_learn_stand_in_one_place():
    for path in SOURCE.rglob("*.py"):
        if path.name == "_sklearn.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                private = [a.name for a in node.names if a.name.startswith("_")]
                private += [p for p in node.module.split(".") if p.startswith("_")]
                assert not private, f"{path.name} imports {private}: add it to _sklearn.py"


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_env(environment)
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def _env(extra):
    import os

    return {**os.environ, **extra}


def test_import_is_light():
    heavy = [
        "numba",
        "pandas",
        "dask",
        "matplotlib",
        "starlette",
        "sklearn",
        "scipy",
        "numpy",
        "rich",
    ]
    out = run(f"import sys, conclust; print([m for m in {heavy} if m in sys.modules])")
    assert out.strip() == "[]"


def test_statements_alone_load_no_scikit_learn():
    # Check what `conclust check` pays for: scikit-learn is two thirds of the import of an estimator.
    code = (
        "import sys, conclust\n"
        "known = conclust.Constraints([(0, 1)], [(0, 1)])\n"
        "print(len(known.conflicts()), [m for m in ('sklearn', 'pandas') if m in sys.modules])"
    )
    assert run(code).strip() == "1 []"


def test_every_public_name_is_listed_and_loads():
    for name in conclust.__all__:
        assert name in dir(conclust)
        assert getattr(conclust, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = conclust.Nonsense


def test_show_versions(capsys):
    conclust.show_versions()
    out = capsys.readouterr().out
    assert f"conclust: {conclust.__version__}" in out
    assert "scikit-learn: " in out


def test_typed():
    assert (SOURCE / "py.typed").is_file()
