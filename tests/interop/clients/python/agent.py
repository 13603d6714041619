"""What the agents of Python clients share: the language of clients.py over the standard streams."""

import heapq
import json
import os
import ssl
import sys
import threading
import time

MAXIMUM_STREAM_RECORDS = 1_000_000
MAXIMUM_BACKOFF_S = 30

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


def settings_of(file):
    """Name to value, from a file of lines; nothing without a file."""
    if not file:
        return {}
    with open(file) as lines:
        return dict(line.rstrip("\n").split("=", 1) for line in lines)


def identity():
    """Who the client is, as the pure Python clients call it."""
    if "CLIENT_CA" not in os.environ:
        return {}
    context = ssl.create_default_context(cafile=os.environ["CLIENT_CA"])
    if "CLIENT_CERTIFICATE" in os.environ:
        context.load_cert_chain(os.environ["CLIENT_CERTIFICATE"])
        return {"security_protocol": "SSL", "ssl_context": context}
    return {"security_protocol": "SASL_SSL", "ssl_context": context, "sasl_mechanism": os.environ["CLIENT_MECHANISM"],
            "sasl_plain_username": os.environ["CLIENT_USER"], "sasl_plain_password": os.environ["CLIENT_PASSWORD"]}


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
        self.acked, self.failed, self.again, self.seen = [], [], [], set()

    def add(self, n, partition, offset):
        self.acked.append([n, partition, offset])
        first = partition not in self.seen
        self.seen.add(partition)
        if first or len(self.acked) % 1000 == 0:
            emit({"stream": self.name, "event": "partition" if first else "progress", "partition": partition,
                  "acked": len(self.acked)})

    def fail(self, n, error, kind=None):
        self.failed.append([n, str(error), kind or type(error).__name__])

    def try_again(self, n, error, kind=None):
        self.again.append([n, kind or type(error).__name__])

    def reply(self):
        return {"acked": self.acked, "failed": self.failed, "again": self.again}


class Shape:
    """What a stream's records look like, how often they come, and how often each is sent at most."""

    def __init__(self, request):
        self.keys = request.get("keys", 97)
        self.partition = request.get("partition")
        self.interval_s = request.get("interval_us", 2000) / 1e6
        self.padding = "v" * request.get("value_bytes", 0)
        self.attempts = request.get("attempts", 1)
        self.backoff_s = request.get("backoff_ms", 1000) / 1000

    def key(self, n):
        return f"k{n % self.keys}".encode() if self.keys else None

    def value(self, n):
        return (f"{n} {self.padding}" if self.padding else str(n)).encode()

    def wait_s(self, attempt):
        """How long to wait after that attempt failed; None if it was the last one."""
        if attempt >= self.attempts:
            return None
        return min(self.backoff_s * 2 ** min(attempt - 1, 20), MAXIMUM_BACKOFF_S)


class StreamThread(threading.Thread):
    """Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged. A deriving
    class sends, waits for what it sent (flush), and ends its producer (end)."""

    def __init__(self, request, producer):
        super().__init__(daemon=True)
        self.topic = request["topic"]
        self.shape = Shape(request)
        self.producer = producer
        self.stop = threading.Event()
        self.progress = Progress(request["name"])
        #: What is to be sent again, as a heap of (when, value, attempt). A callback may come on a thread of the library's.
        self.later = []

    def pause(self, seconds):
        """Lets so much time go by, or less once the stream is to stop."""
        self.stop.wait(seconds)

    def run(self):
        for n in range(MAXIMUM_STREAM_RECORDS):
            self.pause(self.shape.interval_s)
            if self.stop.is_set():
                return
            self.send(n, 1)
            self.send_what_is_due()

    def send_what_is_due(self):
        while self.later and self.later[0][0] <= time.monotonic():
            _, n, attempt = heapq.heappop(self.later)
            self.send(n, attempt)

    def refused(self, n, attempt, error, kind=None):
        """A record was not taken: it is sent again after a while, or given up."""
        wait_s = self.shape.wait_s(attempt)
        if wait_s is None:
            self.progress.fail(n, error, kind)
        else:
            self.progress.try_again(n, error, kind)
            heapq.heappush(self.later, (time.monotonic() + wait_s, n, attempt + 1))

    def finish(self):
        self.stop.set()
        self.join()
        self.flush()
        while self.later:
            time.sleep(max(self.later[0][0] - time.monotonic(), 0))
            self.send_what_is_due()
            self.flush()
        self.end()
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
        #: What it reads without a group; empty of a member that is one.
        self.direct = request.get("assign", [])
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
                if self.uncommitted and not self.direct:
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
