"""Every public name has a numpydoc page: what it does, its parameters, results, errors, cost and an example.

The public names are those of the packages, and all methods and properties of their classes, inherited ones
too. Trivial members need one sentence only: properties, accessors without arguments, and methods that
everyone knows from dict or that look up one thing. The methods of ``bpe.Tokenizer`` are a few lines each, on
one page: they have the sections that say more than the signature. Those of ``bpe.TiktokenEncoding`` are
calls of these. ``pytest --doctest-modules`` runs examples.
"""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import bpe
import structures

DOCS = Path(__file__).parents[2] / "docs"
HEADING = re.compile(r"^(\S.*)\n-{3,}$", re.MULTILINE)
ON_ONE_PAGE = {"Tokenizer", "TiktokenEncoding"}
OBVIOUS = {"clear", "copy", "get", "id_of", "items", "keys", "values", "word"}
REFUSALS = re.compile(r"\braise (\w+)?|\b_(?:done|live|must_have_keys|pair|room|same_length)\(")


def public(package):
    return [(name, getattr(package, name)) for name in package.__all__ if callable(getattr(package, name))]


def members(owner):
    """Yield (name, function or property) of the public members that our packages define."""
    for cls in owner.__mro__:
        if cls.__module__.split(".")[0] in ("structures", "bpe"):
            for name, member in vars(cls).items():
                if not (name.startswith("_") or name in getattr(cls, "_fields", ())):
                    yield name, getattr(member, "__func__", member)


def pages():
    for package in (structures, bpe):
        for name, value in public(package):
            yield pytest.param(value, id=f"{package.__name__}.{name}")
            if inspect.isclass(value):
                for member_name, member in dict(reversed(list(members(value)))).items():
                    if member.__doc__ is not getattr(type(member), "__doc__", None):
                        yield pytest.param(member, id=f"{package.__name__}.{name}.{member_name}")


@pytest.mark.parametrize("name", [name for name, value in public(structures) if inspect.isclass(value)])
def test_every_method_has_a_cost(name):
    """The page that the README calls "all methods and their cost" names every method of a container."""
    named = set(re.findall(r"\w+", (DOCS / "structures" / "methods.rst").read_text("utf-8")))
    methods = {verb for verb, member in members(getattr(structures, name)) if inspect.isfunction(member)}
    assert methods - {"type"} <= named


def sections_of(value):
    """Return the sections of a docstring by their titles; the summary is that without a title."""
    parts = HEADING.split(inspect.getdoc(value) or "")
    return {"": parts[0].split("\n\n")[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def is_attribute(value):
    return not (inspect.isclass(value) or inspect.isroutine(value))


def parameters_of(value):
    if is_attribute(value):
        return []
    names = list(inspect.signature(value).parameters)
    return [name for name in names if name not in ("self", "cls")]


def code_of(value):
    """Return the source of a function, without its docstring; of a class, of what makes an object."""
    if inspect.isclass(value):
        makers = [vars(value).get(name) for name in ("__new__", "__init__", "__post_init__")]
        written = [getattr(maker, "__func__", maker) for maker in makers if maker is not None]
        return "".join(
            inspect.getsource(maker) for maker in written if maker.__code__.co_filename != "<string>"
        )
    function = getattr(value, "fget", None) or getattr(value, "func", None) or value
    source = inspect.getsource(function)
    return source.replace(function.__doc__, "") if function.__doc__ and function.__doc__ in source else source


PAGES = list(pages())


def is_trivial(value):
    """Whether one sentence is enough."""
    if is_attribute(value) or inspect.isclass(value):
        return is_attribute(value)
    changes = inspect.signature(value).return_annotation in (None, "None")
    asks = parameters_of(value) or REFUSALS.search(code_of(value))
    return value.__name__ in OBVIOUS or not (changes or asks)


def is_short(value):
    """Whether a docstring need not have all sections: one sentence where that is enough, and on one page."""
    if getattr(value, "__qualname__", "").partition(".")[0] in ON_ONE_PAGE:
        return True
    return is_trivial(value) and "\n\n" not in inspect.getdoc(value)


FULL_PAGES = [page for page in PAGES if not is_short(page.values[0])]


@pytest.mark.parametrize("value", PAGES)
def test_summary(value):
    summary = sections_of(value)[""]
    assert summary.endswith("."), "no sentence"
    assert not re.search(r"[.!?] +[A-Z]", summary), "more than one sentence"


@pytest.mark.parametrize("value", FULL_PAGES)
def test_parameters(value):
    names = parameters_of(value)
    sections = sections_of(value)
    section = sections.get("Parameters", "") or sections.get("Attributes", "")  # of what is only returned
    described = re.findall(r"^(\S.*?) *(?::.*)?$", section, re.MULTILINE)
    described = [name.lstrip("*") for line in described for name in line.split(", ")]
    assert [name for name in names if name not in described] == []
    assert [name for name in described if name not in names] == []


@pytest.mark.parametrize("value", FULL_PAGES)
def test_returns(value):
    if not (is_attribute(value) or inspect.isclass(value)):
        gives = inspect.signature(value).return_annotation not in (None, "None")
        sections = sections_of(value)
        assert gives == ("Returns" in sections or "Yields" in sections)


@pytest.mark.parametrize("value", FULL_PAGES)
def test_raises(value):
    refusals = list(REFUSALS.finditer(code_of(value)))
    section = sections_of(value).get("Raises", "")
    if refusals:
        assert section, f"no section, but: {[refusal[0] for refusal in refusals]}"
    named = {refusal[1] for refusal in refusals if refusal[1] and refusal[1].endswith("Error")}
    assert [name for name in sorted(named) if name not in section] == []


@pytest.mark.parametrize("value", FULL_PAGES)
def test_complexity(value):
    if not (is_attribute(value) or inspect.isclass(value)):
        assert re.search(r"\S", sections_of(value).get("Complexity", ""))


@pytest.mark.parametrize("value", FULL_PAGES)
def test_examples(value):
    assert doctest.DocTestParser().get_examples(sections_of(value).get("Examples", ""))


@pytest.mark.parametrize("value", [page for page in PAGES if page not in FULL_PAGES])
def test_errors_of_short_pages_are_named(value):
    named = {
        refusal[1] for refusal in REFUSALS.finditer(code_of(value)) if (refusal[1] or "").endswith("Error")
    }
    assert [name for name in sorted(named) if name not in inspect.getdoc(value)] == []


@pytest.mark.parametrize("value", [page for page in PAGES if page not in FULL_PAGES])
def test_parameters_of_short_pages_exist(value):
    section = sections_of(value).get("Parameters", "")
    described = re.findall(r"^(\S.*?) *(?::.*)?$", section, re.MULTILINE)
    assert [name for line in described for name in line.split(", ") if name not in parameters_of(value)] == []


def test_most_pages_are_full():
    assert len(FULL_PAGES) > 0.5 * len(PAGES)


def test_nothing_is_left_out():
    names = {page.id for page in PAGES}
    assert {"structures.kernel", "structures.MaxHeap.nlargest", "structures.MinHeap.add_many"} <= names
    assert {"structures.PairIndex.nbytes", "bpe.train", "bpe.Tokenizer.encode", "bpe.Pattern.split"} <= names
