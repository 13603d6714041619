"""What the agents of Python clients share: the language of clients.py over the standard streams."""

import json
import os
import sys
import threading
import time

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
    """An exception of a pure Python client as the fields of a failed reply."""
    code = getattr(error, "errno", None)
    return {"ok": False, "code": code if isinstance(code, int) else -1, "message": str(error),
            "type": type(error).__name__}


def text(raw):
    return None if raw is None else raw.decode()


def raw(value):
    return None if value is None else value.encode()


def describe(record):
    """A record as the pure Python clients hand it out."""
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset,
            "timestamp": record.timestamp, "key": text(record.key), "value": text(record.value),
            "headers": [[key, text(value)] for key, value in record.headers]}


def producer_properties(request):
    """What the pure Python clients' producers call alike."""
    codec, acks = request.get("codec", "none"), request.get("acks", "all")
    return {"linger_ms": 5, "acks": acks if acks == "all" else int(acks), "max_request_size": 20_000_000,
            "compression_type": None if codec == "none" else codec,
            "enable_idempotence": request.get("idempotence", True)}


def consumer_properties(request, assignors):
    """What their consumers call alike; `assignors` are the library's, by our names."""
    properties = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 100}
    if "group" in request:
        properties["group_id"] = request["group"]
    if "session_timeout_ms" in request:
        properties.update(session_timeout_ms=request["session_timeout_ms"], heartbeat_interval_ms=500)
    if "instance_id" in request:
        properties["group_instance_id"] = request["instance_id"]
    if "assignor" in request:
        properties["partition_assignment_strategy"] = [assignors[request["assignor"]]]
    return properties


def record_properties(record):
    """What the pure Python clients' send() calls alike."""
    return {"value": raw(record.get("value")), "key": raw(record.get("key")), "partition": record.get("partition"),
            "headers": [(key, raw(value)) for key, value in record.get("headers", [])],
            "timestamp_ms": record.get("timestamp")}


def read_all(request, consumer, begin, take):
    """The reply to read: what take() hands out after begin(), until all that is asked for is there or its time over."""
    records = []
    deadline = time.monotonic() + request["timeout_ms"] / 1000
    try:
        begin(consumer)
        while len(records) < request["count"] and time.monotonic() < deadline:
            records += take(consumer)
    finally:
        consumer.close()
    return {"records": records}


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


class StreamThread(threading.Thread):
    """Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged. A deriving
    class sends, and flushes at the end."""

    def __init__(self, request, producer):
        super().__init__(daemon=True)
        self.topic = request["topic"]
        self.keys = request.get("keys", 97)
        self.interval_s = request.get("interval_us", 2000) / 1e6
        self.producer = producer
        self.stop = threading.Event()
        self.progress = Progress(request["name"])

    def pause(self):
        """Lets the interval go by."""
        self.stop.wait(self.interval_s)

    def run(self):
        for n in range(MAXIMUM_STREAM_RECORDS):
            self.pause()
            if self.stop.is_set():
                return
            self.send(n, f"k{n % self.keys}".encode(), str(n).encode())

    def finish(self):
        self.stop.set()
        self.join()
        self.flush()
        return self.progress.reply()


class MemberThread(threading.Thread):
    """One member of a group on its own thread: reports every record once it has it, then commits it. A deriving class
    subscribes, takes and commits, and names the library's errors."""

    errors = ()
    failure = staticmethod(failure)

    def __init__(self, request, consumer):
        super().__init__(daemon=True)
        self.name_ = request["name"]
        self.topic = request["topic"]
        self.consumer = consumer
        self.stop = threading.Event()
        self.owned = set()
        #: Partition -> the offset after the last record that was reported.
        self.uncommitted = {}

    def gain(self, assigned):
        self.owned |= {p.partition for p in assigned}
        self.report("assigned")

    def give_up(self, partitions, change):
        for p in partitions:
            self.uncommitted.pop(p.partition, None)
        self.owned -= {p.partition for p in partitions}
        self.report(change)

    def report(self, change):
        emit({"member": self.name_, "event": "owned", "change": change, "partitions": sorted(self.owned)})

    def commit_failed(self, error):
        emit({"member": self.name_, "event": "commit_failed", **self.failure(error),
              "partitions": sorted(self.uncommitted)})

    def run(self):
        try:
            self.subscribe()
            while not self.stop.is_set():
                self.take()
                if self.uncommitted:
                    self.commit()
        except self.errors as e:
            emit({"member": self.name_, "event": "failed", **self.failure(e)})
        finally:
            self.consumer.close()
            emit({"member": self.name_, "event": "closed"})

    def finish(self):
        self.stop.set()
        self.join()
        return {}


#: The requests of clients.py that are functions of an agent, by these names.
OPERATIONS = ("version", "create_topic", "create_partitions", "delete_topic", "partitions", "produce", "read",
              "offsets_for_time", "committed", "list_topics", "topic_config", "set_topic_config", "list_groups",
              "describe_group", "delete_group", "delete_records")


def operations_of(agent):
    """The operations among the names of an agent's module."""
    return {name: agent[name] for name in OPERATIONS if name in agent}


def serve(agent):
    """Answers requests until standard input ends. `agent` are the names of an agent's module: its operations, and the
    classes Stream and Member, which are made of a request to start one."""
    operations, stream, member = operations_of(agent), agent["Stream"], agent["Member"]
    running = {}

    def start(request, kind):
        running[request["name"]] = kind(request)
        running[request["name"]].start()
        return {}

    def stop(request):
        return running.pop(request["name"]).finish()

    operations.update(stream_start=lambda request: start(request, stream), stream_stop=stop,
                      member_start=lambda request: start(request, member), member_stop=stop)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": True, **operations[request["op"]](request)}
        except member.errors as e:
            reply = member.failure(e)
        emit({"reply": request["id"], **reply})
