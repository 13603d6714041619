"""What one JSON value has that another one has not, as text:

    ErrorCode +1 = "NONE"; Responses[0].Partitions[0].HighWatermark = 5; Responses[0].Topic -; Topics[1] -

A path leads from the outermost value inward. `=` replaces what is there, `+N =` puts a member in at place N of its object or appends an
element to its list, `-` removes. Objects keep the order of their members: what is applied gives the same text again, byte for byte."""

import json
import re

PATH = re.compile(r"(?:\w+|\[\d+\])(?:\.\w+|\[\d+\])*")
PART = re.compile(r"\w+|\[\d+\]")
DECODER = json.JSONDecoder()


class NotADelta(ValueError):
    """Text that says no difference of the value it is applied to."""


def written(value):
    return json.dumps(value, ensure_ascii=False)


def of(old, new, path=""):
    """The steps from one value to another, as texts; each of `path` itself when nothing smaller says it."""
    whole = [f"{path} = {written(new)}"]
    if type(old) is type(new) is dict:
        steps = _of_objects(old, new, path)
    elif type(old) is type(new) is list:
        steps = _of_lists(old, new, path)
    elif type(old) is type(new) and old == new:
        return []
    else:
        return whole
    return whole if steps is None or (path and sum(map(len, steps)) >= len(whole[0])) else steps


def _of_objects(old, new, path):
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old] or not all(map(PART.fullmatch, new)):
        return None
    at = f"{path}." if path else ""
    steps = [f"{at}{name} -" for name in old if name not in new]
    for place, (name, value) in enumerate(new.items()):
        steps += of(old[name], value, f"{at}{name}") if name in old else [f"{at}{name} +{place} = {written(value)}"]
    return steps


def _of_lists(old, new, path):
    shared = min(len(old), len(new))
    steps = [step for index in range(shared) for step in of(old[index], new[index], f"{path}[{index}]")]
    steps += [f"{path}[{index}] +{index} = {written(new[index])}" for index in range(shared, len(new))]
    return steps + [f"{path}[{index}] -" for index in range(len(old) - 1, shared - 1, -1)]


def text_of(old, new):
    """The difference in one line; None when the two have nothing in common that a path could lead to."""
    steps = of(old, new)
    return None if any(step.startswith(" = ") for step in steps) else "; ".join(steps)


def apply(old, text):
    """The value that `text_of(old, it)` describes."""
    value = json.loads(json.dumps(old))
    position = 0
    while position < len(text):
        match = PATH.match(text, position)
        if not match:
            raise NotADelta(f"no path: {text[position:]}")
        *way, last = (int(part[1:-1]) if part[0] == "[" else part for part in PART.findall(match.group()))
        position = _change(value, way, last, text, match.end())
        if text.startswith("; ", position):
            position += 2
        elif position != len(text):
            raise NotADelta(f"more than a step: {text[position:]}")
    return value


def _change(value, way, last, text, position):
    """Takes one step whose path was read already; the position behind it."""
    try:
        for part in way:
            value = value[part]
        if text.startswith(" -", position):
            del value[last]
            return position + 2
        operation = re.compile(r" (?:\+(\d+) )?= ").match(text, position)
        if not operation:
            raise NotADelta(f"no operation: {text[position:]}")
        new, position = DECODER.raw_decode(text, operation.end())
        if operation.group(1) is None:
            value[last]  # Only what is there can be replaced.
            value[last] = new
        else:
            _insert(value, last, int(operation.group(1)), new)
        return position
    except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
        raise NotADelta(f"{error!r} in {text}") from error


def _insert(value, last, place, new):
    if isinstance(value, list):
        if last != place or place != len(value):
            raise NotADelta(f"element {place} is not the next one")
        value.append(new)
        return
    if last in value or place > len(value):
        raise NotADelta(f"{last} cannot be member {place}")
    members = list(value.items())
    members.insert(place, (last, new))
    value.clear()
    value.update(members)
