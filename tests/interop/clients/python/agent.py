"""What the agents of pure Python clients share: the language of clients.py over the standard streams."""

import json
import os
import sys
import threading

MAXIMUM_STREAM_RECORDS = 1_000_000

#: Codes with which a coordinator refuses a commit during or after a rebalance.
REFUSED_COMMITS = (22, 25, 27)

_output = os.fdopen(os.dup(sys.stdout.fileno()), "w")
_output_lock = threading.Lock()
# Standard output belongs to the replies; anything else that prints must not get between them.
sys.stdout = sys.stderr


def emit(line):
    with _output_lock:
        _output.write(json.dumps(line) + "\n")
        _output.flush()


def failure(error):
    """An exception as the fields of a failed reply."""
    code = getattr(error, "errno", None)
    return {"ok": False, "code": code if isinstance(code, int) else -1, "message": str(error),
            "type": type(error).__name__}


def text(raw):
    return None if raw is None else raw.decode()


def raw(value):
    return None if value is None else value.encode()


def describe(record):
    """A record as both libraries hand it out."""
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset,
            "timestamp": record.timestamp, "key": text(record.key), "value": text(record.value),
            "headers": [[key, text(value)] for key, value in record.headers]}


class Progress:
    """What a stream learned from its acknowledgements."""

    def __init__(self, name):
        self.name = name
        self.acked, self.failed, self.seen = [], [], set()

    def add(self, n, partition, offset):
        self.acked.append([n, partition, offset])
        first = partition not in self.seen
        self.seen.add(partition)
        if first or len(self.acked) % 1000 == 0:
            emit({"stream": self.name, "event": "partition" if first else "progress", "partition": partition,
                  "acked": len(self.acked)})

    def fail(self, n, error):
        self.failed.append([n, str(error)])

    def reply(self):
        return {"acked": self.acked, "failed": self.failed}
