"""Transcripts as text files, one per module of conversations, in the order of the scripts:

    == topics/unknown topic
    > DeleteTopics v6 {"Topics": [...]}
    < {"ThrottleTimeMs": 0, ...}
    . a note, for example of a time that was measured
"""

import json
import pathlib

DIRECTORY = pathlib.Path(__file__).resolve().parent / "recorded"
HEADER = "# What Apache Kafka 4.3.1 answered, normalised. Written by `scripts/compare --record`.\n"


def line(step):
    if "note" in step:
        return f". {step['note']}\n"
    request, answer = (json.dumps(step[side], ensure_ascii=False) for side in ("request", "answer"))
    return f"> {step['ask']} {request}\n< {answer}\n"


def save(module, transcripts, directory=DIRECTORY):
    """transcripts: name of a conversation to its steps."""
    text = HEADER
    for name, steps in transcripts.items():
        text += f"\n== {name}\n" + "".join(line(step) for step in steps)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{module}.txt").write_text(text)


def load(module, directory=DIRECTORY):
    path = directory / f"{module}.txt"
    transcripts, steps = {}, None
    for text in path.read_text().splitlines() if path.exists() else ():
        kind, rest = text[:2], text[2:]
        if text.startswith("== "):
            steps = transcripts[text[3:]] = []
        elif kind == "> ":
            ask, _, request = rest.partition(" {")
            steps.append({"ask": ask, "request": json.loads("{" + request), "answer": None})
        elif kind == "< ":
            steps[-1]["answer"] = json.loads(rest)
        elif kind == ". ":
            steps.append({"note": rest})
    return transcripts


def as_recorded(steps):
    """Steps as they would be read back: what JSON does to tuples and keys."""
    return json.loads(json.dumps(steps))
