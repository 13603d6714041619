"""librdkafka, through confluent-kafka, as an agent: the requests and events are described in clients.py.

The same program runs on the newest wheel and on Debian's python3-confluent-kafka 1.7 (librdkafka 2.0.2), so it
keeps to what both know.
"""

import json
import sys
import threading
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

ADMIN_TIMEOUT_S = 30
MAXIMUM_STREAM_RECORDS = 1_000_000
MAXIMUM_BATCH = 500

bootstrap = sys.argv[1]
output_lock = threading.Lock()
members = {}
streams = {}


def emit(line):
    with output_lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def failure(error):
    """A KafkaError as the fields of a failed reply."""
    return {"ok": False, "code": error.code(), "message": error.str(), "type": error.name()}


def text(raw):
    return None if raw is None else raw.decode()


def raw(value):
    return None if value is None else value.encode()


def base(request):
    properties = {
        "bootstrap.servers": bootstrap,
        "reconnect.backoff.max.ms": 200,
        # Ask at once after a topic was created; the default waits out a propagation delay of a large cluster.
        "topic.metadata.propagation.max.ms": request.get("unknown_topic_wait_ms", 10000),
        "topic.metadata.refresh.fast.interval.ms": 50,
    }
    if "metadata_age_ms" in request:
        properties["topic.metadata.refresh.interval.ms"] = request["metadata_age_ms"]
    return properties


def admin():
    return AdminClient({"bootstrap.servers": bootstrap})


def make_producer(request):
    properties = base(request)
    properties.update({
        "linger.ms": 5,
        "acks": request.get("acks", "all"),
        "compression.type": request.get("codec", "none"),
        "enable.idempotence": request.get("idempotence", True),
        "message.max.bytes": 20_000_000,
    })
    return Producer(properties)


def make_consumer(request):
    properties = base(request)
    properties.update({
        "enable.auto.commit": False,
        "auto.offset.reset": request.get("reset", "earliest"),
        "client.id": request.get("client_id", "rdkafka"),
        "group.id": request.get("group", "unused"),
        "fetch.wait.max.ms": 100,
    })
    if "session_timeout_ms" in request:
        properties["session.timeout.ms"] = request["session_timeout_ms"]
        properties["heartbeat.interval.ms"] = 500
    if "instance_id" in request:
        properties["group.instance.id"] = request["instance_id"]
    if "assignor" in request:
        properties["partition.assignment.strategy"] = (
            "cooperative-sticky" if request["assignor"] == "cooperative" else "range")
    return Consumer(properties)


def describe(message):
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp()[1],
        "key": text(message.key()),
        "value": text(message.value()),
        "headers": [[key, text(value)] for key, value in message.headers() or []],
    }


def partition_ids(client, topic):
    metadata = client.list_topics(topic, timeout=ADMIN_TIMEOUT_S).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    return sorted(metadata.partitions)


def create_topic(request):
    topic = NewTopic(request["topic"], num_partitions=request["partitions"], replication_factor=1,
                     config={key: str(value) for key, value in request.get("configs", {}).items()})
    client = admin()  # must outlive the futures
    for future in client.create_topics([topic], request_timeout=ADMIN_TIMEOUT_S).values():
        future.result()
    return {}


def create_partitions(request):
    wanted = NewPartitions(request["topic"], request["count"])
    client = admin()
    for future in client.create_partitions([wanted], request_timeout=ADMIN_TIMEOUT_S).values():
        future.result()
    return {}


def delete_topic(request):
    client = admin()
    for future in client.delete_topics([request["topic"]], request_timeout=ADMIN_TIMEOUT_S).values():
        future.result()
    return {}


def partitions(request):
    return {"partitions": partition_ids(admin(), request["topic"])}


def produce(request):
    producer = make_producer(request)
    acks = [None] * len(request["records"])

    def on_delivery(index, error, message):
        acks[index] = failure(error) if error else {"partition": message.partition(), "offset": message.offset()}

    for index, record in enumerate(request["records"]):
        options = {}
        if "partition" in record:
            options["partition"] = record["partition"]
        if "timestamp" in record:
            options["timestamp"] = record["timestamp"]
        producer.produce(request["topic"], raw(record.get("value")), raw(record.get("key")),
                         headers=[(key, raw(value)) for key, value in record.get("headers", [])],
                         on_delivery=lambda error, message, index=index: on_delivery(index, error, message),
                         **options)
    producer.flush()
    return {"acks": acks}


def read(request):
    consumer = make_consumer(request)
    records = []
    deadline = time.monotonic() + request["timeout_ms"] / 1000
    try:
        ids = partition_ids(consumer, request["topic"])
        consumer.assign([TopicPartition(request["topic"], p, confluent_kafka.OFFSET_BEGINNING) for p in ids])
        while len(records) < request["count"] and time.monotonic() < deadline:
            for message in consumer.consume(1000, timeout=0.1):
                if message.error():
                    raise KafkaException(message.error())
                records.append(describe(message))
    finally:
        consumer.close()
    return {"records": records}


def offsets_for_time(request):
    consumer = make_consumer(request)
    try:
        wanted = [TopicPartition(request["topic"], p, request["timestamp"])
                  for p in partition_ids(consumer, request["topic"])]
        answers = consumer.offsets_for_times(wanted, timeout=ADMIN_TIMEOUT_S)
    finally:
        consumer.close()
    # librdkafka says "end" (-1) where no record is as late as asked for.
    return {"offsets": {str(answer.partition): answer.offset for answer in answers}}


def committed(request):
    consumer = make_consumer(request)
    try:
        wanted = [TopicPartition(request["topic"], p) for p in partition_ids(consumer, request["topic"])]
        answers = consumer.committed(wanted, timeout=ADMIN_TIMEOUT_S)
    finally:
        consumer.close()
    return {"offsets": {str(answer.partition): answer.offset for answer in answers if answer.offset >= 0}}


def version(_):
    return {"version": confluent_kafka.libversion()[0]}


def result_of(futures):
    """The result of the one call that a dictionary of futures stands for."""
    future, = futures.values()
    return future.result()


def list_topics(_):
    return {"topics": list(admin().list_topics(timeout=ADMIN_TIMEOUT_S).topics)}


def topic_config(request):
    client = admin()
    configs = result_of(client.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, request["topic"])]))
    return {"value": configs[request["config"]].value}


def set_topic_config(request):
    # Not known to the oldest binding, which lacks all that follows.
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry
    change = ConfigEntry(request["config"], request["value"], incremental_operation=AlterConfigOpType.SET)
    client = admin()
    result_of(client.incremental_alter_configs(
        [ConfigResource(ConfigResource.Type.TOPIC, request["topic"], incremental_configs=[change])]))
    return {}


def list_groups(_):
    client = admin()
    return {"groups": [group.group_id for group in client.list_consumer_groups().result().valid]}


def describe_group(request):
    client = admin()
    group = result_of(client.describe_consumer_groups([request["group"]]))
    return {"state": group.state.name, "members": len(group.members)}


def delete_group(request):
    client = admin()
    result_of(client.delete_consumer_groups([request["group"]]))
    return {}


def delete_records(request):
    client = admin()
    partition = TopicPartition(request["topic"], request["partition"], request["offset"])
    return {"low_watermark": result_of(client.delete_records([partition])).low_watermark}


class Stream(threading.Thread):
    """Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged."""

    def __init__(self, request):
        super().__init__(daemon=True)
        self.name_ = request["name"]
        self.topic = request["topic"]
        self.keys = request.get("keys", 97)
        self.interval_s = request.get("interval_us", 2000) / 1e6
        self.producer = make_producer(request)
        self.stop = threading.Event()
        self.acked = []
        self.failed = []
        self.partitions_seen = set()

    def on_delivery(self, number, error, message):
        if error:
            self.failed.append([number, error.str()])
            return
        partition = message.partition()
        self.acked.append([number, partition, message.offset()])
        first = partition not in self.partitions_seen
        self.partitions_seen.add(partition)
        if first or len(self.acked) % 1000 == 0:
            emit({"stream": self.name_, "event": "partition" if first else "progress", "partition": partition,
                  "acked": len(self.acked)})

    def run(self):
        for number in range(MAXIMUM_STREAM_RECORDS):
            if self.stop.is_set():
                break
            callback = lambda error, message, number=number: self.on_delivery(number, error, message)
            while True:
                try:
                    self.producer.produce(self.topic, str(number).encode(), f"k{number % self.keys}".encode(),
                                          on_delivery=callback)
                    break
                except BufferError:
                    self.producer.poll(0.1)
            self.producer.poll(self.interval_s)

    def finish(self):
        self.stop.set()
        self.join()
        self.producer.flush()
        return {"acked": self.acked, "failed": self.failed}


class Member(threading.Thread):
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
        emit({"member": self.name_, "event": "owned", "change": change, "partitions": sorted(self.owned)})

    def on_assign(self, _, assigned):
        self.owned |= {p.partition for p in assigned}
        self.report("assigned")

    def on_revoke(self, _, revoked):
        self.commit()
        for p in revoked:
            self.uncommitted.pop(p.partition, None)
        self.owned -= {p.partition for p in revoked}
        self.report("revoked")

    def on_lost(self, _, lost):
        for p in lost:
            self.uncommitted.pop(p.partition, None)
        self.owned -= {p.partition for p in lost}
        self.report("lost")

    def commit(self):
        if not self.uncommitted:
            return
        offsets = [TopicPartition(self.topic, p, offset) for p, offset in self.uncommitted.items()]
        try:
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self.uncommitted.clear()
        except KafkaException as e:
            # A rebalance is under way, or is over and the answer to our join not yet here: kept, as the revocation
            # or the next round commits it.
            # A member that is not known any more joins again by itself, too.
            if e.args[0].code() not in (KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION,
                                        KafkaError.UNKNOWN_MEMBER_ID):
                raise
            emit({"member": self.name_, "event": "commit_failed", **failure(e.args[0]),
                  "partitions": sorted(self.uncommitted)})

    def take(self, message):
        if message.error():
            raise KafkaException(message.error())
        emit({"member": self.name_, "event": "record", "at_ns": time.monotonic_ns(), **describe(message)})
        self.uncommitted[message.partition()] = message.offset() + 1

    def run(self):
        try:
            self.consumer.subscribe([self.topic], on_assign=self.on_assign, on_revoke=self.on_revoke,
                                    on_lost=self.on_lost)
            while not self.stop.is_set():
                # Not consume(): before 2.2 it loses what it fetched for a partition that a rebalance takes away.
                message = self.consumer.poll(0.1)
                for _ in range(MAXIMUM_BATCH):
                    if message is None:
                        break
                    self.take(message)
                    message = self.consumer.poll(0)
                if message is not None:
                    self.take(message)
                self.commit()
        except KafkaException as e:
            emit({"member": self.name_, "event": "failed", **failure(e.args[0])})
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
    create_topic, create_partitions, delete_topic, partitions, produce, read, offsets_for_time, committed,
    version, list_topics, topic_config, set_topic_config, list_groups, describe_group, delete_group, delete_records,
    stream_start, stream_stop, member_start, member_stop)}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": True, **OPERATIONS[request["op"]](request)}
        except KafkaException as e:
            reply = failure(e.args[0])
        emit({"reply": request["id"], **reply})


main()
