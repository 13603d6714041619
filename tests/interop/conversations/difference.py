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

    def kind(self):
        """What alike differences of other steps of a conversation have in common."""
        path = self.place.split("#")[-1].split(" ", 1)[-1]
        path = re.sub(r" v\d+|\[[^]]*\]", "", path)
        return path, *(("one side only",) if MISSING in (self.kafka, self.partita) else (self.kafka, self.partita))

    def __str__(self):
        return f"{self.place}\n    kafka:   {self.kafka}\n    partita: {self.partita}"


def parts(left, right, path=""):
    """(path, left, right) of every part that differs; what one side lacks is named once, not leaf by leaf."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in list(dict.fromkeys([*left, *right])):
            yield from parts(left.get(key, MISSING), right.get(key, MISSING), f"{path}.{key}" if path else key)
    elif (key := _key_of(left, right)) is not None:
        ours, theirs = {element[key]: element for element in left}, {element[key]: element for element in right}
        for value in dict.fromkeys([*ours, *theirs]):
            yield from parts(ours.get(value, MISSING), theirs.get(value, MISSING), f"{path}[{value}]")
        common = [value for value in ours if value in theirs]
        other = [value for value in theirs if value in ours]
        if common != other:
            yield f"order of {path}", common, other
    elif isinstance(left, list) and isinstance(right, list):
        for index in range(max(len(left), len(right))):
            yield from parts(left[index] if index < len(left) else MISSING,
                             right[index] if index < len(right) else MISSING, f"{path}[{index}]")
    elif left != right:
        yield path, left, right


KEYS = ("ApiKey", "Name", "Topic", "PartitionIndex", "Partition", "Index", "GroupId", "ResourceName", "MemberId")


def _key_of(left, right):
    """The field by which the elements of two lists can be told apart, or None."""
    if not (isinstance(left, list) and isinstance(right, list)):
        return None
    for key in KEYS:
        values = [[element.get(key) if isinstance(element, dict) else None for element in side] for side in (left, right)]
        if all(side and None not in side and len(set(side)) == len(side) for side in values):
            return key
    return None


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
            for path, one, other in parts(kafka[side], partita[side]):
                what = path if side == "answer" else f"asks otherwise: {path}"
                found.append(Difference(place + what, _shown(one), _shown(other)))
        times = [when(step) for step in (kafka, partita)]
        if times[0] != times[1]:
            found.append(Difference(place + "is answered", *times))
    if len(kafka_steps) != len(partita_steps):
        found.append(Difference(f"{name} takes another course", f"{len(kafka_steps)} steps",
                                f"{len(partita_steps)} steps"))
    return found


def when(step):
    """When the answer of a step came."""
    return step.get("when", "at once")


def keeps_time(kafka_steps, partita_steps):
    """True if every answer came when Kafka's did."""
    return [when(step) for step in kafka_steps] == [when(step) for step in partita_steps]


def _course(step):
    return step.get("ask") or step["note"]


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
