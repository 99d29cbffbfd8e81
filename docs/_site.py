"""What the site has beyond its Markdown pages, as a Sphinx extension.

* pages of the reference, one for each public module, made from its ``__all__``;
* ``{commands}``: what ``--help`` says of every command;
* ``{changes}``: the fragments of the next release;
* names in backticks link to the reference, so that pages stay plain Markdown.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import _site_gallery
import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

import conclust

HERE = Path(__file__).parent
CHANGES = HERE.parent / "changes"
KINDS = ("added", "changed", "fixed")
EXTERNAL = {
    "sklearn": "https://scikit-learn.org/stable/modules/generated/{}.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{}.html",
    "pandas": "https://pandas.pydata.org/docs/reference/api/{}.html",
}

# --- the reference ------------------------------------------------------------------------------


def public_names() -> dict[str, list[str]]:
    """Module to the full names of what it exports, each once, by the shortest import."""
    top = {name: f"conclust.{name}" for name in conclust._HOMES}
    pages: dict[str, list[str]] = {"conclust": []}
    for package in conclust._SUBPACKAGES:
        module = importlib.import_module(f"conclust.{package}")
        homes = [n for n, home in conclust._HOMES.items() if home == package]
        further = [n for n in exported(module) if not same_as_top(module, n)]
        pages[module.__name__] = [top.pop(n) for n in homes]
        pages[module.__name__] += [f"{module.__name__}.{n}" for n in further]
    pages["conclust"] = list(top.values())
    return pages


def exported(module: Any) -> list[str]:
    """Names in ``__all__``; of a module without, the classes it defines."""
    own = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    names = getattr(module, "__all__", own)
    return sorted(names, key=lambda name: not callable(getattr(module, name)))


def same_as_top(module: Any, name: str) -> bool:
    return name in conclust._HOMES and getattr(module, name) is getattr(conclust, name)


def write_reference(app: Sphinx, config: Config) -> None:
    """Write ``api/*.rst``, and an empty gallery where there are no examples."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    pages = public_names()
    for module, names in pages.items():
        write(folder / f"{module}.rst", reference_page(module, names))
    every = [name for names in pages.values() for name in names]
    # Names that differ by case alone would share a file on systems that do not tell cases apart.
    config.autosummary_filename_map = {
        name: f"{name}_function"
        for name in every
        if name.islower() and any(name == n.lower() != n for n in every)
    }
    if not _site_gallery.HAS_EXAMPLES:
        (HERE / "gallery").mkdir(exist_ok=True)
        write(HERE / "gallery" / "index.rst", "Examples\n========\n\nNone in this copy.\n")


def reference_page(module: str, names: list[str]) -> str:
    about = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0]
    lines = [module, "=" * len(module), "", f".. py:module:: {module}", "", about, ""]
    if module == "conclust":
        lines += [".. py:data:: __version__", "", "   The version, as text.", ""]
    here = [name for name in names if name.rpartition(".")[0] == module]
    above = [name for name in names if name not in here]
    return "\n".join(lines + summary("conclust", above) + summary(module, here))


def summary(module: str, names: list[str]) -> list[str]:
    """A table of names, each with its first sentence and a page of its own."""
    if not names:
        return []
    lines = [f".. rubric:: from {module} import …", "", f".. currentmodule:: {module}", ""]
    lines += [".. autosummary::", "   :toctree: generated", ""]
    return [*lines, *(f"   {name.rpartition('.')[2]}" for name in names), "", ""]


def write(path: Path, text: str) -> None:
    """Leave a file as it is that says the same already: Sphinx reads what is newer."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def skip_what_is_not_ours(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave scikit-learn's own methods to its reference."""
    home = getattr(getattr(member, "__objclass__", member), "__module__", None) or "conclust"
    return None if home.split(".")[0] == "conclust" else True


# --- links --------------------------------------------------------------------------------------


def documented(env: BuildEnvironment) -> dict[str, tuple[str, str]]:
    """What a page may call a thing (``COPKMeans``, ``active.ask``) to where it is described."""
    found: dict[str, set[tuple[str, str]]] = {}
    for name, entry in env.domains["py"].objects.items():  # type: ignore[attr-defined]
        parts = name.split(".")
        for start in range(len(parts)):
            found.setdefault(".".join(parts[start:]), set()).add((entry.docname, entry.node_id))
    return {name: next(iter(places)) for name, places in found.items() if len(places) == 1}


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn names in backticks into links to their page of the reference."""
    known = documented(app.env)
    for literal in list(doctree.findall(nodes.literal)):
        if docname.startswith("api/") or within(literal, nodes.reference, nodes.title):
            continue
        name = re.fullmatch(r"(?:conclust\.)?([A-Za-z_][\w.]*)(?:\(.*\))?", literal.astext())
        if name and is_a_name(name[1], literal.astext()) and name[1] in known:
            page, anchor = known[name[1]]
            uri = app.builder.get_relative_uri(docname, page) + "#" + anchor
            link = nodes.reference("", "", internal=True, refuri=uri, classes=["name"])
            literal.replace_self(link)
            link += literal


def is_a_name(name: str, written: str) -> bool:
    """A class, or a function with its module: not any word that some method is called, too."""
    return name[:1].isupper() or written.startswith("conclust.") or "(" in written


def within(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """Names that docstrings write short, and those of the libraries below, without an inventory."""
    target = node.get("reftarget", "")
    where = documented(env).get(target.lstrip("~."))
    if where:
        docname = node.get("refdoc", env.docname)
        uri = app.builder.get_relative_uri(docname, where[0]) + "#" + where[1]
        return nodes.reference("", "", content, internal=True, refuri=uri)
    url = EXTERNAL.get(target.split(".")[0])
    if url and "." in target:
        return nodes.reference("", "", content, internal=False, refuri=url.format(target))
    return None


def leave_files_alone(app: Sphinx, doctree: nodes.document) -> None:
    """Files that the repository has and the site has not are no links here."""
    page = Path(doctree["source"])
    for link in list(doctree.findall(pending_xref)):
        path = link.get("reftarget", "").partition("#")[0]
        bases = (page.parent, HERE.parent)
        is_page = link.get("reftype") != "myst" or link.get("refdomain") == "doc"
        if not is_page and path and any((base / path).exists() for base in bases):
            link.replace_self(link.children)


def name_columns(app: Sphinx, doctree: nodes.document) -> None:
    """Give heads of tables that are left empty a name for those who hear the page."""
    for head in doctree.findall(nodes.thead):
        for number, entry in enumerate(head.findall(nodes.entry), 1):
            if not entry.astext().strip():
                hidden = nodes.inline("", f"column {number}", classes=["visually-hidden"])
                entry.children = [nodes.paragraph("", "", hidden)]


def keep_numbers_whole(app: Sphinx, doctree: nodes.document) -> None:
    """Let no line of a table end within a number such as 100 000."""
    for table in doctree.findall(nodes.table):
        for text in list(table.findall(nodes.Text)):
            whole = re.sub(r"(?<=\d) (?=\d{3}\b)", "\u00a0", text)
            if whole != text:
                text.parent.replace(text, nodes.Text(whole))


# --- directives ---------------------------------------------------------------------------------


class Commands(SphinxDirective):
    """What ``--help`` says of every command."""

    def run(self) -> list[nodes.Node]:
        from conclust.cli import main

        sections: list[nodes.Node] = []
        for name in ("", *main.list_commands(click.Context(main))):
            command = main.get_command(click.Context(main), name) if name else main
            assert command is not None
            path = f"conclust {name}".strip()
            section = nodes.section(ids=[nodes.make_id(path)], names=[path])
            section += nodes.title("", "", nodes.literal("", path))
            text = help_of(command, path)
            section += nodes.literal_block(text, text, language="text")
            sections.append(section)
        return sections


def help_of(command: click.Command, path: str) -> str:
    with click.Context(command, info_name=path, max_content_width=88, terminal_width=88) as context:
        return command.get_help(context)


class Changes(SphinxDirective):
    """The fragments of the next release, by kind; nothing where none are at hand."""

    def run(self) -> list[nodes.Node]:
        container = nodes.Element()
        lines = StringList()
        for kind in KINDS:
            texts = [p.read_text(encoding="utf-8") for p in sorted(CHANGES.glob(f"*.{kind}.md"))]
            for line in (
                [f"**{kind.capitalize()}**, not yet released", "", *map(as_item, texts), ""]
                if texts
                else []
            ):
                lines.extend(StringList(line.split("\n"), source=str(CHANGES)))
        self.state.nested_parse(lines, 0, container)
        return container.children


def as_item(text: str) -> str:
    """A fragment as an item of a list, unless it is a list already."""
    text = text.strip().replace("](docs/", "](")
    return text if text.startswith("- ") else "- " + text.replace("\n", "\n  ")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    app.add_directive("changes", Changes)
    app.connect("config-inited", write_reference)  # before Sphinx looks which pages there are
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("doctree-read", leave_files_alone)
    app.connect("doctree-read", name_columns)
    app.connect("doctree-read", keep_numbers_whole)
    app.connect("missing-reference", resolve)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
