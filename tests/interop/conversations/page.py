"""Makes docs/differences.md of differences.toml."""

import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "differences.md"
INTRODUCTION = """\
# Differences from Apache Kafka

<!-- Made by `scripts/compare --write-docs` of tests/interop/conversations/differences.toml: edit that file. -->

Partita aims to be indistinguishable from Apache Kafka 4.3.1 on one node. Look here first if it behaves differently: this page lists
all known differences, and any other difference is a bug. `scripts/compare` sends the same requests to both and fails at a difference
that is not listed.
"""
SECTIONS = {
    "on purpose": ("## On purpose", ["what", "kafka", "partita", "why"], ["what", "Kafka", "Partita", "why"]),
    "not yet": ("## Not yet", ["what", "partita"], ["what", "what a client sees"]),
}


def text(entries):
    out = INTRODUCTION
    for section, (title, keys, heads) in SECTIONS.items():
        out += f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
        for entry in entries:
            if entry["section"] == section:
                out += f"| {' | '.join(entry[key] for key in keys)} |\n"
    return out


def faults(entries):
    """Faults of entries: an unknown section, a column without text."""
    found = []
    for number, entry in enumerate(entries, 1):
        if entry.get("section") not in SECTIONS:
            found.append(f"entry {number} has the section {entry.get('section')!r}; there are {sorted(SECTIONS)}")
            continue
        for key in SECTIONS[entry["section"]][1]:
            if not entry.get(key):
                found.append(f"entry {number} ({entry.get('what')}) has no `{key}`")
    return found


def is_stale(entries):
    return not PAGE.exists() or PAGE.read_text() != text(entries)


def write(entries):
    """Writes the page; returns the lines that it had and has no more, for whoever wrote one there by hand."""
    before = PAGE.read_text().splitlines() if PAGE.exists() else []
    PAGE.write_text(text(entries))
    kept = set(text(entries).splitlines())
    return [line for line in before if line.startswith("| ") and line not in kept]
