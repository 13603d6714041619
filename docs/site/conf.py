"""What Sphinx makes of the project's Markdown: `scripts/site` runs it with the top of the checkout as its sources, so that a link leads to the same
file on the site and in the repository. README.md is the first page. Pages of docs that `NAVIGATION` does not name come last in the menu."""

import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: The menu: caption, pages.
NAVIGATION = [
    ("Guides", [f"docs/guides/{name}" for name in ("testcontainers", "spring", "librdkafka", "ci", "repartitioning", "from-kafka", "from-redpanda")]),
    ("Using it", ["docs/commands", "docs/capacity", "docs/eventhubs", "docs/capture", "docs/test-bench", "docs/scenarios", "docs/seed", "docs/check", "docs/console", "docs/http", "docs/packages", "scripts/starters/README"]),
    ("More partitions", ["docs/expansion", "docs/partitioners", "docs/ownership"]),
    ("Settings", ["docs/configuration", "docs/dynamic-configs", "docs/configs", "docs/security", "docs/durability"]),
    ("Beside Kafka", ["docs/differences", "docs/apis", "docs/clients", "docs/kafka-suites", "docs/performance"]),
    ("How it is made", ["ARCHITECTURE", "HACKING", "docs/internals/rooms", "docs/internals/locks", "docs/dependencies", "tests/interop/README", "tests/interop/conversations/README", "tests/simulation/README", "tests/histories/README"]),
]
NAMED = {page for _, pages in NAVIGATION for page in pages}
OTHERS = sorted({str(path.relative_to(ROOT).with_suffix("")) for path in (ROOT / "docs").rglob("*.md")} - NAMED)
if OTHERS:
    NAVIGATION.append(("More", OTHERS))

project = "Partita"
author = "the authors of Partita"
html_title = "Partita"
version = release = re.search(r"project\(partita VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)

extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [f"{page}.md" for page in ["README", *(page for _, pages in NAVIGATION for page in pages)]] + ["docs/**/*.md"]
exclude_patterns = ["build", ".git", "**/node_modules"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
highlight_language = "text"

html_theme = "furo"
html_static_path = ["."]
html_css_files = ["site.css"]
html_favicon = str(ROOT / "broker/console/web/icon.svg")
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False


def add_menu(_, page, text):
    """The menu is no part of README.md, where it would be noise to whoever reads that file."""
    if page == root_doc:
        for caption, pages in NAVIGATION:
            text[0] += "\n\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(f"/{one}" for one in pages) + "\n```\n"


def add_index(app, error):
    """What a web server shows for the directory."""
    if error is None and app.builder.name == "html":
        shutil.copy(pathlib.Path(app.outdir, f"{root_doc}.html"), pathlib.Path(app.outdir, "index.html"))


def setup(app):
    app.connect("source-read", add_menu)
    app.connect("build-finished", add_index)
