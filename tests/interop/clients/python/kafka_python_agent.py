"""kafka-python as an agent: the requests and events are described in clients.py."""

import json
import sys
import threading
import time

import kafka
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import CommitFailedError, KafkaError, KafkaTimeoutError, for_code

from agent import MAXIMUM_STREAM_RECORDS, REFUSED_COMMITS, Progress, describe, emit, failure, raw

COMMIT_TIMEOUT_MS = 2000

bootstrap = sys.argv[1]
members = {}
streams = {}


def base(request):
    properties = {"bootstrap_servers": bootstrap, "reconnect_backoff_max_ms": 200}
    if "metadata_age_ms" in request:
        properties["metadata_max_age_ms"] = request["metadata_age_ms"]
    return properties


def with_admin(action):
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        return action(admin)
    finally:
        admin.close()


def check(answers):
    """Raises the first error of a response's entries, with the broker's text."""
    for answer in answers:
        if answer["error_code"]:
            raise for_code(answer["error_code"])(answer.get("error_message"))


def version(_):
    return {"version": kafka.__version__}


def create_topic(request):
    topic = {request["topic"]: {"num_partitions": request["partitions"], "replication_factor": 1,
                                "configs": {k: str(v) for k, v in request.get("configs", {}).items()}}}
    check(with_admin(lambda admin: admin.create_topics(topic, raise_errors=False))["topics"])
    return {}


def create_partitions(request):
    wanted = {request["topic"]: request["count"]}
    response = with_admin(lambda admin: admin.create_partitions(wanted, raise_errors=False))
    check(response.to_dict()["results"])
    return {}


def delete_topic(request):
    with_admin(lambda admin: admin.delete_topics([request["topic"]]))
    return {}


def partitions(request):
    topic, = with_admin(lambda admin: admin.describe_topics([request["topic"]]))
    check([topic])
    return {"partitions": sorted(p["partition_index"] for p in topic["partitions"])}


def make_producer(request):
    codec = request.get("codec", "none")
    acks = request.get("acks", "all")
    return kafka.KafkaProducer(
        **base(request), linger_ms=5, acks=acks if acks == "all" else int(acks),
        compression_type=None if codec == "none" else codec, enable_idempotence=request.get("idempotence", True),
        max_block_ms=request.get("unknown_topic_wait_ms", 30000), max_request_size=20_000_000)


def make_consumer(request):
    properties = base(request)
    if "group" in request:
        properties["group_id"] = request["group"]
    if "session_timeout_ms" in request:
        properties.update(session_timeout_ms=request["session_timeout_ms"], heartbeat_interval_ms=500)
    if "instance_id" in request:
        properties["group_instance_id"] = request["instance_id"]
    if "assignor" in request:
        properties["partition_assignment_strategy"] = [
            CooperativeStickyAssignor if request["assignor"] == "cooperative" else RangePartitionAssignor]
    return kafka.KafkaConsumer(**properties, enable_auto_commit=False, auto_offset_reset="earliest",
                               fetch_max_wait_ms=100)


def produce(request):
    producer = make_producer(request)
    results = []
    for record in request["records"]:
        try:
            results.append(producer.send(
                request["topic"], value=raw(record.get("value")), key=raw(record.get("key")),
                headers=[(key, raw(value)) for key, value in record.get("headers", [])],
                partition=record.get("partition"), timestamp_ms=record.get("timestamp")))
        except KafkaError as e:
            results.append(e)
    acks = []
    for result in results:
        try:
            if isinstance(result, KafkaError):
                raise result
            metadata = result.get(timeout=30)
            acks.append({"partition": metadata.partition, "offset": metadata.offset})
        except KafkaError as e:
            acks.append(failure(e))
    producer.close()
    return {"acks": acks}


def topic_partitions(consumer, topic):
    return [kafka.TopicPartition(topic, p) for p in sorted(consumer.partitions_for_topic(topic))]


def read(request):
    consumer = make_consumer(request)
    records = []
    deadline = time.monotonic() + request["timeout_ms"] / 1000
    try:
        wanted = topic_partitions(consumer, request["topic"])
        consumer.assign(wanted)
        consumer.seek_to_beginning(*wanted)
        while len(records) < request["count"] and time.monotonic() < deadline:
            for batch in consumer.poll(timeout_ms=100).values():
                records += [describe(record) for record in batch]
    finally:
        consumer.close()
    return {"records": records}


def offsets_for_time(request):
    consumer = make_consumer(request)
    try:
        answers = consumer.offsets_for_times(
            {p: request["timestamp"] for p in topic_partitions(consumer, request["topic"])})
    finally:
        consumer.close()
    return {"offsets": {str(p.partition): -1 if found is None else found.offset for p, found in answers.items()}}


def committed(request):
    offsets = with_admin(lambda admin: admin.list_group_offsets(request["group"]))[request["group"]]
    return {"offsets": {str(p.partition): found.offset for p, found in offsets.items() if found.offset >= 0}}


def list_topics(_):
    return {"topics": with_admin(lambda admin: admin.list_topics())}


def topic_config(request):
    wanted = ConfigResource(ConfigResourceType.TOPIC, request["topic"])
    found = with_admin(lambda admin: admin.describe_configs([wanted], config_filter="all"))
    return {"value": found["topic"][request["topic"]][request["config"]]["value"]}


def set_topic_config(request):
    wanted = ConfigResource(ConfigResourceType.TOPIC, request["topic"], {request["config"]: request["value"]})
    with_admin(lambda admin: admin.alter_configs([wanted]))
    return {}


def list_groups(_):
    return {"groups": [g["group_id"] for g in with_admin(lambda admin: admin.list_groups())]}


def describe_group(request):
    group = with_admin(lambda admin: admin.describe_groups([request["group"]]))[request["group"]]
    return {"state": group["group_state"], "members": len(group["members"])}


def delete_group(request):
    result = with_admin(lambda admin: admin.delete_groups([request["group"]]))[request["group"]]
    if result != "OK":
        raise getattr(kafka.errors, result)()
    return {}


def delete_records(request):
    partition = kafka.TopicPartition(request["topic"], request["partition"])
    answers = with_admin(lambda admin: admin.delete_records({partition: request["offset"]}))
    return {"low_watermark": answers[partition]["low_watermark"]}


class Stream(threading.Thread):
    """Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged."""

    def __init__(self, request):
        super().__init__(daemon=True)
        self.topic = request["topic"]
        self.keys = request.get("keys", 97)
        self.interval_s = request.get("interval_us", 2000) / 1e6
        self.producer = make_producer(request)
        self.stop = threading.Event()
        self.progress = Progress(request["name"])

    def run(self):
        for n in range(MAXIMUM_STREAM_RECORDS):
            if self.stop.wait(self.interval_s):
                return
            future = self.producer.send(self.topic, key=f"k{n % self.keys}".encode(), value=str(n).encode())
            future.add_callback(lambda metadata, n=n: self.progress.add(n, metadata.partition, metadata.offset))
            future.add_errback(lambda error, n=n: self.progress.fail(n, error))

    def finish(self):
        self.stop.set()
        self.join()
        self.producer.flush()
        self.producer.close()
        return self.progress.reply()


class Member(threading.Thread, kafka.ConsumerRebalanceListener):
    """One member of a group on its own thread: reports every record once it has it, then commits it."""

    def __init__(self, request):
        super().__init__(daemon=True)
        self.name_ = request["name"]
        self.topic = request["topic"]
        self.consumer = make_consumer(request)
        self.stop = threading.Event()
        self.owned = set()
        self.uncommitted = {}

    def report(self, change):
        emit({"member": self.name_, "event": "owned", "change": change,
              "partitions": sorted(p.partition for p in self.owned)})

    def on_partitions_assigned(self, assigned):
        self.owned |= set(assigned)
        self.report("assigned")

    def on_partitions_revoked(self, revoked):
        # Nothing is uncommitted here: callbacks run inside poll(), and every poll is followed by a commit.
        self.owned -= set(revoked)
        self.report("revoked")

    def on_partitions_lost(self, lost):
        self.owned -= set(lost)
        self.report("lost")

    def commit(self):
        if not self.uncommitted:
            return
        try:
            # It repeats a commit that a rebalance refuses until its time is over, and does not join meanwhile.
            self.consumer.commit({p: kafka.structs.OffsetAndMetadata(offset, "", -1)
                                  for p, offset in self.uncommitted.items()}, timeout_ms=COMMIT_TIMEOUT_MS)
        except KafkaError as e:
            if getattr(e, "errno", None) not in REFUSED_COMMITS and not isinstance(
                    e, (CommitFailedError, KafkaTimeoutError)):
                raise
            emit({"member": self.name_, "event": "commit_failed", **failure(e),
                  "partitions": sorted(p.partition for p in self.uncommitted)})
        self.uncommitted.clear()

    def run(self):
        try:
            self.consumer.subscribe([self.topic], listener=self)
            while not self.stop.is_set():
                for partition, batch in self.consumer.poll(timeout_ms=100).items():
                    for record in batch:
                        emit({"member": self.name_, "event": "record", **describe(record)})
                    self.uncommitted[partition] = batch[-1].offset + 1
                self.commit()
        except KafkaError as e:
            emit({"member": self.name_, "event": "failed", **failure(e)})
        finally:
            self.consumer.close()
            emit({"member": self.name_, "event": "closed"})

    def finish(self):
        self.stop.set()
        self.join()
        return {}


def stream_start(request):
    streams[request["name"]] = Stream(request)
    streams[request["name"]].start()
    return {}


def stream_stop(request):
    return streams.pop(request["name"]).finish()


def member_start(request):
    members[request["name"]] = Member(request)
    members[request["name"]].start()
    return {}


def member_stop(request):
    return members.pop(request["name"]).finish()


OPERATIONS = {f.__name__: f for f in (
    version, create_topic, create_partitions, delete_topic, partitions, produce, read, offsets_for_time, committed,
    list_topics, topic_config, set_topic_config, list_groups, describe_group, delete_group, delete_records,
    stream_start, stream_stop, member_start, member_stop)}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": True, **OPERATIONS[request["op"]](request)}
        except KafkaError as e:
            reply = failure(e)
        emit({"reply": request["id"], **reply})


main()
