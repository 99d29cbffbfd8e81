"""Docstrings of all public names, as numpydoc wants them."""

import dataclasses
import importlib
import inspect

import pytest
from numpydoc import validate as validation

import conclust

# Rules that no docstring here follows, and why.
IGNORED = {
    "GL01": "text begins right after the quotes, which numpydoc before 1.11 does not like",
    "ES01": "a summary of one line that says all needs no second one",
    "SS05": "takes a noun in the plural for a verb: 'Rows of unit length …'",
}
# A method is shown in the example of its class, which says what is beside it.
OF_METHODS = {"SA01", "EX01"}
# A record is made by a function, where the example stands; its fields are attributes to a reader.
OF_RECORDS = {"SA01", "EX01", "PR01"}


def is_documented(value):
    return inspect.isclass(value) or inspect.isfunction(value)


def public_names():
    """Each class and function exported, once, under the shortest of its names."""
    found = {}
    for name in conclust._HOMES:
        found.setdefault(getattr(conclust, name), f"conclust.{name}")
    for package in conclust._SUBPACKAGES:
        module = importlib.import_module(f"conclust.{package}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if is_documented(value):
                found.setdefault(value, f"conclust.{package}.{name}")
    return {name: value for value, name in found.items()}


NAMES = public_names()
TABLES = {"conclust.active.STRATEGIES"}  # of names that users type; a page shows it


def test_packages_export_what_the_reference_can_describe():
    # Check that a constant inside is no public name: the reference has no docstring to show for it.
    exported = {
        f"conclust.{package}.{name}": getattr(getattr(conclust, package), name)
        for package in conclust._SUBPACKAGES
        for name in getattr(getattr(conclust, package), "__all__", ())
    }
    assert {name for name, value in exported.items() if not is_documented(value)} == TABLES


def is_record(value):
    return dataclasses.is_dataclass(value) or hasattr(value, "_fields")


def fields_of(record):
    return getattr(record, "_fields", None) or [f.name for f in dataclasses.fields(record)]


def methods_of(name, cls):
    """Public methods and properties that a class of ours defines and no base of it explains."""
    for key, value in inspect.getmembers_static(cls):
        owner = next(base for base in cls.__mro__ if key in vars(base))
        if key.startswith("_") or not owner.__module__.startswith("conclust."):
            continue
        if any(hasattr(base, key) for base in owner.__mro__[1:]):
            continue
        if inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)):
            yield f"{name}.{key}"


METHODS = [
    method
    for name, value in NAMES.items()
    if inspect.isclass(value)
    for method in methods_of(name, value)
]


def faults(name, ignored):
    return [
        f"{code} {message}"
        for code, message in validation.validate(name)["errors"]
        if code not in ignored | set(IGNORED)
    ]


def is_readable(value):
    """Whether there are lines to read: hypothesis makes functions without."""
    try:
        return bool(inspect.getsource(value))
    except OSError:
        return False


@pytest.mark.parametrize("name", [name for name, value in NAMES.items() if is_readable(value)])
def test_a_public_name_is_documented(name):
    assert not faults(name, OF_RECORDS if is_record(NAMES[name]) else set())


@pytest.mark.parametrize("name", [name for name, value in NAMES.items() if is_record(value)])
def test_each_field_of_a_record_has_its_line(name):
    sections = validation.Validator(validation.get_doc_object(NAMES[name])).doc
    told = {p.name for kind in ("Attributes", "Parameters") for p in sections[kind]}
    told = {part.strip() for names in told for part in names.split(",")}
    assert set(fields_of(NAMES[name])) <= told


@pytest.mark.parametrize("method", METHODS)
def test_a_public_method_is_documented(method):
    assert not faults(method, OF_METHODS)
