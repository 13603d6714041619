"""Transcripts as text files, one per module of conversations, in the order of the scripts:

    == topics/unknown topic
    > DeleteTopics v6 {"Topics": [...]}
    < {"ThrottleTimeMs": 0, ...}
    > DeleteTopics v7 as 1 back: Topics[0].TopicId = "<id 1>"
    < ErrorCode +1 = "NONE"
    > DeleteTopics v8 as 1 back
    > Fetch v4 {"MaxWaitMs": 1000, ...}
    < {"ThrottleTimeMs": 0, ...}
    @ when its wait is over
    . a note, for example of a time that was measured

A step that is much like an earlier one of its API is written as the difference (delta.py): `as N back` names the step, notes not counted.
Without a line of its own the answer is the same, and without a line that begins with @ it came at once. Where several requests stand before `as N back`, each step is the one N before it."""

import itertools
import json
import pathlib
import re

import delta

DIRECTORY = pathlib.Path(__file__).resolve().parent / "recorded"
HEADER = "# What Apache Kafka 4.3.1 answered, normalised. Written by `scripts/compare --record`.\n"
#: How far back a step looks for one to be told by.
REACH = 40
#: What is not shorter than this part of the whole is written as a whole.
WORTH = 0.6
LIKE = re.compile(r"([^{]+?) as (\d+) back(?:: (.*))?")
SAME = re.compile(r"> ([^{]+) as (\d+) back\n")
TIMES = re.compile(r"(.*) \((\d+) times\)")


def whole(step):
    request, answer = (delta.written(step[side]) for side in ("request", "answer"))
    return f"> {step['ask']} {request}\n< {answer}\n" + when(step)


def when(step):
    """The line that says when the answer came."""
    return f"@ {step['when']}\n" if "when" in step else ""


def like(step, base, back):
    """The step by what differs from another one; None when only the whole says it."""
    changes = {side: delta.text_of(base[side], step[side]) for side in ("request", "answer")}
    request = changes["request"]
    if request is None:
        return None
    text = f"> {step['ask']} as {back} back" + (f": {request}" if request else "") + "\n"
    answer = changes["answer"]
    if answer is None:
        answer = delta.written(step["answer"])
    return text + (f"< {answer}\n" if answer else "") + when(step)


def api_of(step):
    return step["ask"].partition(" ")[0]


def shortest(step, exchanges, usual):
    """The shortest text of a step, and how far back it looks: 0 for the whole. `usual`, how far the step before looked, wins ties."""
    best = whole(step)
    limit, found = WORTH * len(best), 0
    places = range(1, min(REACH, len(exchanges)) + 1)
    for back in sorted(places, key=lambda place: (place != usual, place)):
        if api_of(exchanges[-back]) == api_of(step):
            text = like(step, exchanges[-back], back)
            if text is not None and len(text) < min(limit, len(best)):
                best, found = text, back
    return best, found


def told(steps):
    """The lines of a conversation."""
    texts, exchanges, usual = [], [], 0
    for step in steps:
        if "note" in step:
            texts.append(f". {step['note']}\n")
        else:
            text, usual = shortest(step, exchanges, usual)
            texts.append(text)
            exchanges.append(step)
    return "".join(repeats_joined(texts))


def repeats_joined(texts):
    """Neighbours that repeat the steps as far back, each without a change, become one line."""
    lines = []
    for back, run in itertools.groupby(texts, lambda text: (match := SAME.fullmatch(text)) and match.group(2)):
        if back is None:
            lines += run
        else:
            asks = [(ask, len(list(same))) for ask, same in itertools.groupby(SAME.fullmatch(text).group(1) for text in run)]
            names = " | ".join(ask if times == 1 else f"{ask} ({times} times)" for ask, times in asks)
            lines.append(f"> {names} as {back} back\n")
    return lines


def save(module, transcripts, directory=DIRECTORY):
    """transcripts: name of a conversation to its steps."""
    text = HEADER
    for name, steps in transcripts.items():
        text += f"\n== {name}\n" + told(steps)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{module}.txt"
    path.write_text(text)
    read_back = load(module, directory)
    if written_whole(read_back) != written_whole(transcripts):
        raise ValueError(f"{path} does not tell what was recorded")


def written_whole(transcripts):
    """Every step in full: what two recordings are equal by, the order of members included."""
    return {name: [step["note"] if "note" in step else whole(step) for step in steps] for name, steps in transcripts.items()}


def asked(rest, exchanges):
    """The steps that a line of a request begins."""
    match = LIKE.fullmatch(rest)
    if not match:
        ask, _, request = rest.partition(" {")
        return [{"ask": ask, "request": json.loads("{" + request), "answer": None}]
    names, back, changes = match.groups()
    found = []
    for name in names.split(" | "):
        times = TIMES.fullmatch(name)
        for _ in range(int(times.group(2)) if times else 1):
            base = [*exchanges, *found][-int(back)]
            found.append({"ask": times.group(1) if times else name, "request": delta.apply(base["request"], changes or ""),
                          "answer": base["answer"]})
    return found


def answered(rest, step):
    """The answer that a line tells of a step: the whole, or what differs from the answer that the step has by then."""
    return json.loads(rest) if rest[0] in '{"' else delta.apply(step["answer"], rest)


def load(module, directory=DIRECTORY):
    path = directory / f"{module}.txt"
    transcripts, steps = {}, None
    for text in path.read_text().splitlines() if path.exists() else ():
        kind, rest = text[:2], text[2:]
        if text.startswith("== "):
            steps = transcripts[text[3:]] = []
        elif kind == "> ":
            steps += asked(rest, [step for step in steps if "ask" in step])
        elif kind == "< ":
            steps[-1]["answer"] = answered(rest, steps[-1])
        elif kind == "@ ":
            steps[-1]["when"] = rest
        elif kind == ". ":
            steps.append({"note": rest})
    return transcripts


def as_recorded(steps):
    """Steps as they would be read back: what JSON does to tuples and keys."""
    return json.loads(json.dumps(steps))
