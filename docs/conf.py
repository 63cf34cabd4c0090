"""The documentation site: ``sphinx-build -W --keep-going -b html docs docs/_build/html``."""

import re
from importlib import metadata
from inspect import unwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

# Where a reader can look at files of the repository: the address before "tests/reference.py". While it is empty, links
# to files that are not on the site are shown as paths.
repository = ""
# Files outside docs that are pages here.
on_site = {
    r"lab/results/\w+/(\w+)\.md": r"/results/\1.md",
    r"examples/(\w+)\.py": r"/gallery/\1.rst",
    r"examples": "/gallery/index.rst",
    r"CHANGELOG\.md": "/changelog.md",
    r"CONTRIBUTING\.md": "/contributing.md",
    r"SECURITY\.md": "/security.md",
}

project = "frugalboost"
release = metadata.version("frugalboost")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
myst_heading_anchors = 3
nitpicky = True  # a reference in a docstring that leads nowhere is a warning

autodoc_typehints = "none"  # the docstrings have them
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "doc_module": ("frugalboost",),
    "reference_url": {"frugalboost": None},
    "backreferences_dir": "gallery/backreferences",
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "min_reported_time": 1e9,  # one machine's times
    "show_signature": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = f"frugalboost {release}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
pygments_dark_style = "monokai"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False


def rewrite_links(app, docname, source):
    """Lead links that leave docs to the page made of that file, to the repository, or show the file's path."""
    folder = (DOCS / docname).parent

    def rewritten(link):
        text, target = link.groups()
        file = (folder / target).resolve()
        if file.is_relative_to(DOCS):
            return link[0]
        path = file.relative_to(ROOT).as_posix()
        for pattern, page in on_site.items():
            if found := re.fullmatch(pattern, path):
                return f"[{text}]({found.expand(page)})"
        if repository:
            return f"[{text}]({repository}{path})"
        return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"

    source[0] = re.sub(r"\[([^]]*)\]\((\.\./[^)#]+)\)", rewritten, source[0])


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what classes inherit from other libraries: it is described there."""
    owner = getattr(obj, "__objclass__", unwrap(getattr(obj, "fget", obj)))  # of a method written in C, a property
    return skip or not (getattr(owner, "__module__", "frugalboost") or "").startswith("frugalboost")


def setup(app):
    """Connect the hooks."""
    app.connect("source-read", rewrite_links)
    app.connect("autodoc-skip-member", skip_foreign)
