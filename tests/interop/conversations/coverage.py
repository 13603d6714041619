"""What the conversations cover: of every API that both serve its oldest and newest version, an answer without errors at
both, every error code that one broker answers (errors.toml), and what a user is told who may, may not, or may only describe."""

import pathlib
import re
import tomllib

import recording
import talk
import wire

# Who asks in scripts/rights.py, and what he asks before he is anybody.
USERS = ("may", "maynot", "describes")
NEEDS_NO_RIGHT = ("SaslHandshake", "ApiVersions", "SaslAuthenticate")
TABLE = pathlib.Path(__file__).resolve().parent / "errors.toml"


class Shown:
    """What the recordings show of one API."""

    def __init__(self):
        self.versions = set()
        self.good_versions = set()
        self.errors = set()

    def add(self, version, answer):
        self.versions.add(version)
        codes = set(codes_of(answer))
        self.errors |= codes - {"NONE"}
        if not codes - {"NONE"}:
            self.good_versions.add(version)


def codes_of(value):
    """All error codes of a recorded answer, NONE included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in talk.ERROR_FIELDS:
                yield inner
            else:
                yield from codes_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes_of(inner)


def shown(directory=recording.DIRECTORY):
    """API to what is shown of it."""
    found = {}
    for path in sorted(directory.glob("*.txt")):
        for steps in recording.load(path.stem, directory).values():
            for step in steps:
                asked = re.match(r"(\w+) v(-?\d+)", step.get("ask", ""))
                if asked and isinstance(step["answer"], dict):
                    found.setdefault(asked[1], Shown()).add(int(asked[2]), step["answer"])
    return found


def table():
    return tomllib.loads(TABLE.read_text())


def served(known):
    """The APIs that conversations have to speak."""
    return [api for api in wire.APIS if api not in known["not_advertised"] + known["not_served"]]


def gaps_of(api, seen, entry, moments):
    """What is missing of one API, and what the table says wrongly, as sentences."""
    for what, version in {"oldest": wire.oldest(api), "newest": wire.newest(api)}.items():
        if version not in seen.versions:
            yield f"{api} is not spoken at its {what} version {version}"
        elif version not in seen.good_versions and "no_good" not in entry:
            yield f"{api} has no answer without errors at its {what} version {version}"
    if "no_good" in entry and seen.good_versions:
        yield f"{api} is said to have no answer without errors, and has"
    wanted, elsewhere = set(entry.get("errors", ())), set(entry.get("elsewhere", ()))
    for code in sorted((wanted | elsewhere) - set(wire.ERRORS.values())):
        yield f"{api}: there is no error {code}"
    for code in sorted(wanted - seen.errors):
        yield f"{api}: no conversation shows {code}"
    for code in sorted(seen.errors - wanted):
        yield f"{api}: errors.toml does not know {code}, which a conversation shows"
    for code in sorted(wanted & elsewhere):
        yield f"{api}: {code} is shown, so it needs no reason"
    for code in sorted(elsewhere & set(moments)):
        yield f"{api}: the reason for {code} is said for all"


def gaps(known=None, found=None):
    known, found = known or table(), found or shown()
    for api in served(known):
        yield from gaps_of(api, found.get(api, Shown()), known.get(api, {}), known["moments"])
    for api in known:
        if isinstance(known[api], dict) and api != "moments" and api not in served(known):
            yield f"errors.toml has {api}, which is not served"


def rights_gaps(known=None, transcripts=None):
    """Which user of scripts/rights.py does not ask an API at its oldest and newest version."""
    asked = set()
    for steps in (transcripts or recording.load("rights")).values():
        for step in steps:
            found = re.match(r"(\w+) v(\d+) on (\w+)", step.get("ask") or step["note"])
            if found:
                asked.add((found[1], int(found[2]), found[3]))
    for api in served(known or table()):
        for version in talk.ends(api):
            for user in USERS:
                if api not in NEEDS_NO_RIGHT and (api, version, user) not in asked:
                    yield f"{api} is not asked at version {version} by `{user}`"


def report():
    """Lines for people: what is covered of every API, and the gaps."""
    known, found = table(), shown()
    for api in served(known):
        seen, entry = found.get(api, Shown()), known.get(api, {})
        yield f"{api} v{wire.oldest(api)} to v{wire.newest(api)}: spoken at {ranges(seen.versions)}, without errors at " \
              f"{ranges(seen.good_versions) if seen.good_versions else 'none, ' + entry.get('no_good', '?')}"
        if seen.errors:
            yield "    shows " + ", ".join(sorted(seen.errors))
        for code, reason in entry.get("elsewhere", {}).items():
            yield f"    {code}: {reason}"
    yield ""
    for code, reason in known["moments"].items():
        yield f"{code}: {reason}"
    missing = [*gaps(known, found), *rights_gaps(known)]
    yield ""
    yield from missing or ["nothing is missing"]


def ranges(versions):
    """Ascending numbers as text: 0, 2-5."""
    parts = []
    for version in sorted(versions):
        if parts and parts[-1][1] == version - 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
