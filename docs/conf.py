"""Settings of Sphinx: pages from the docstrings, without a network; every reference must lead somewhere.

Docstrings are numpydoc's, with sections of this project's own.
"""

import importlib.metadata
import inspect
import pkgutil
import re
from typing import Any

from docutils.nodes import Element
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.rst import escape

project = "bpe-structures"
release = version = importlib.metadata.version(project)
extensions = ["sphinx.ext.autodoc", "sphinx_click"]
nitpicky = True
highlight_language = "none"  # but for examples: what else is set off is mostly drawings

autodoc_typehints = "none"  # the sections have them, in words
python_maximum_signature_line_length = 80
python_trailing_comma_in_multi_line_signatures = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
pygments_dark_style = "monokai"  # that of furo underlines names as if they were links
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = project
html_copy_source = html_show_copyright = False

NUMPYDOC = Config(
    napoleon_custom_sections=["Complexity", "Invariants", ("Attributes", "params_style")],
    napoleon_use_param=False,  # types are words, not references
    napoleon_use_rtype=False,
)


def read(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Turn the sections of a docstring into markup; a property's too, which napoleon itself would not."""
    kind = "method" if what == "property" else what
    lines[:] = NumpyDocstring(lines, NUMPYDOC, app, kind, name, value, options).lines()


def leave_out(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples: the section of attributes has them."""
    return True if (inspect.getdoc(value) or "").startswith("Alias for field") else None


def quote(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Keep the help of a command as it is: nothing in it is markup, and some lines are laid out."""
    before = ""
    for i, line in enumerate(lines):
        if line.startswith("|"):  # from the mark that click has for these
            lines[i] = ("" if before.startswith("|") else "::\n\n") + f"   {line[2:]}"
        else:
            lines[i] = escape(line)
        before = line
    lines[:] = "\n".join(lines).split("\n")


def lead(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: Element) -> Element | None:
    """Lead a name that is right in its own module to the page that has it by its public name.

    What exists but is on no page stays text. What does not exist is a warning.
    """
    if node.get("refdomain") != "py":
        return None
    domain, name = env.domains.python_domain, node["reftarget"]
    module, owner = node.get("py:module") or "", node.get("py:class") or ""
    matches = [path for path, _ in domain.find_obj(env, None, None, name, None, 1)]
    if matches:
        at_home = [path for path in matches if path.split(".")[:2] == module.split(".")[:2]]
        nearest = min(at_home or matches)
        return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], nearest, node, text)
    paths = (".".join(filter(None, path)) for path in ((module, owner, name), (module, name), (name,)))
    return text if any(map(is_there, paths)) else None


def is_there(path: str) -> bool:
    """Whether a dotted path leads to a module, or to something in one."""
    try:
        pkgutil.resolve_name(path)
    except (ImportError, AttributeError, ValueError):
        return False
    return True


def name_classes(
    app: Sphinx, what: str, name: str, item: Any, options: Any, shown: str | None, result: Any
) -> Any:
    """Show a default that is a class by its name. The source does not have all parameters of a signature."""
    return shown and re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", shown), result


def setup(app: Sphinx) -> None:
    """Register what is defined here."""
    app.connect("autodoc-process-signature", name_classes)
    app.connect("autodoc-process-docstring", read)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("missing-reference", lead)
    app.connect("sphinx-click-process-description", quote)
