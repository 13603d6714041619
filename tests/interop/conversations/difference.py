"""Finds the differences of two transcripts, and knows those that have a reason (differences.toml)."""

import dataclasses
import json
import pathlib
import re
import tomllib

KNOWN = pathlib.Path(__file__).resolve().parent / "differences.toml"
MISSING = "(nothing)"


@dataclasses.dataclass(frozen=True)
class Difference:
    place: str  # "topics/create#3 CreateTopics v7 Topics[0].ErrorMessage"
    kafka: str
    partita: str

    def __str__(self):
        return f"{self.place}\n    kafka:   {self.kafka}\n    partita: {self.partita}"


def flat(value, path=""):
    """(path, value) of every leaf; empty lists and objects are leaves."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from flat(inner, f"{path}[{index}]")
    else:
        yield path, value


def _shown(value):
    return value if isinstance(value, str) and value == MISSING else json.dumps(value, ensure_ascii=False)


def compare(name, kafka_steps, partita_steps):
    """The differences of two runs of one conversation."""
    found = []
    for number, (kafka, partita) in enumerate(zip(kafka_steps, partita_steps), 1):
        place = f"{name}#{number}"
        if ("note" in kafka) != ("note" in partita) or kafka.get("ask") != partita.get("ask"):
            found.append(Difference(place + " takes another course", _course(kafka), _course(partita)))
            return found
        if "note" in kafka:
            if kafka["note"] != partita["note"]:
                found.append(Difference(place + " note", kafka["note"], partita["note"]))
            continue
        place += f" {kafka['ask']} "
        for side in ("request", "answer"):
            left, right = dict(flat(kafka[side])), dict(flat(partita[side]))
            for path in sorted(set(left) | set(right), key=_natural):
                one, other = left.get(path, MISSING), right.get(path, MISSING)
                if one != other:
                    what = path if side == "answer" else f"asks otherwise: {path}"
                    found.append(Difference(place + what, _shown(one), _shown(other)))
    if len(kafka_steps) != len(partita_steps):
        found.append(Difference(f"{name} takes another course", f"{len(kafka_steps)} steps",
                                f"{len(partita_steps)} steps"))
    return found


def _course(step):
    return step.get("ask") or step["note"]


def _natural(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


class Known:
    """The entries of differences.toml, and which of them were seen."""

    def __init__(self, path=KNOWN):
        self.data = tomllib.loads(path.read_text())
        self.used = set()
        self.patterns = []
        for index, entry in enumerate(self.data["difference"]):
            for pattern in entry.get("seen", []):
                expression = re.escape(pattern).replace(r"\*", ".*")
                self.patterns.append((re.compile(expression), pattern, index))

    def explains(self, difference):
        """True when an entry names this difference; a pattern is matched against place, "kafka: X" and "partita: Y" in
        one line, `*` standing for anything."""
        line = f"{difference.place} kafka: {difference.kafka} partita: {difference.partita}"
        for expression, pattern, _ in self.patterns:
            if expression.match(line):
                self.used.add(pattern)
                return True
        return False

    def unused(self):
        return [pattern for _, pattern, _ in self.patterns if pattern not in self.used]
