"""librdkafka, through confluent-kafka, as an agent: the requests and events are described in clients.py.

The same program runs on the newest wheel and on Debian's python3-confluent-kafka 1.7 (librdkafka 2.0.2), so it
keeps to what both know.
"""

import os
import sys
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

from agent import REFUSED_COMMITS, MemberThread, StreamThread, emit, raw, read_all, serve, settings_of, text

ADMIN_TIMEOUT_S = 30
MAXIMUM_BATCH = 500

bootstrap = sys.argv[1]
IDENTITY = settings_of(os.environ.get("CLIENT_LIBRDKAFKA"))


def failure(error):
    """A KafkaError, alone or within an exception, as the fields of a failed reply."""
    if isinstance(error, KafkaException):
        error = error.args[0]
    return {"ok": False, "code": error.code(), "message": error.str(), "type": error.name()}


def base(request):
    properties = {
        **IDENTITY,
        "bootstrap.servers": bootstrap,
        "reconnect.backoff.max.ms": 200,
        # Ask at once after a topic was created; the default waits out a propagation delay of a large cluster.
        "topic.metadata.propagation.max.ms": request.get("unknown_topic_wait_ms", 10000),
        "topic.metadata.refresh.fast.interval.ms": 50,
    }
    if "metadata_age_ms" in request:
        properties["topic.metadata.refresh.interval.ms"] = request["metadata_age_ms"]
    if "client_id" in request:
        properties["client.id"] = request["client_id"]
    return properties


def admin():
    return AdminClient({**IDENTITY, "bootstrap.servers": bootstrap})


def make_producer(request):
    properties = base(request)
    properties.update({
        "linger.ms": 5,
        "acks": request.get("acks", "all"),
        "compression.type": request.get("codec", "none"),
        "enable.idempotence": request.get("idempotence", True),
        "message.max.bytes": 20_000_000,
        **request.get("settings", {}),
    })
    return Producer(properties)


def make_consumer(request):
    properties = base(request)
    properties.update({
        "enable.auto.commit": False,
        "auto.offset.reset": request.get("reset", "earliest"),
        "group.id": request.get("group", "unused"),
        "fetch.wait.max.ms": 100,
    })
    if "protocol" in request:
        properties["group.protocol"] = request["protocol"]
    if "session_timeout_ms" in request:
        properties["session.timeout.ms"] = request["session_timeout_ms"]
        properties["heartbeat.interval.ms"] = 500
    if "instance_id" in request:
        properties["group.instance.id"] = request["instance_id"]
    if "protocol" in request and "assignor" in request:
        properties["group.remote.assignor"] = request["assignor"]
    elif "assignor" in request:
        properties["partition.assignment.strategy"] = (
            "cooperative-sticky" if request["assignor"] == "cooperative" else "range")
    properties.update(request.get("settings", {}))
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


def checked(message):
    if message.error():
        raise KafkaException(message.error())
    return message


def read(request):
    def begin(consumer):
        ids = partition_ids(consumer, request["topic"])
        consumer.assign([TopicPartition(request["topic"], p, confluent_kafka.OFFSET_BEGINNING) for p in ids])

    def take(consumer):
        return [describe(checked(message)) for message in consumer.consume(1000, timeout=0.1)]

    return read_all(request, make_consumer(request), begin, take)


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


class Stream(StreamThread):
    def __init__(self, request):
        super().__init__(request, make_producer(request))

    def pause(self, seconds):
        # Acknowledgements are handed out meanwhile; poll() ends with the first of them.
        end = time.monotonic() + seconds
        while not self.stop.is_set() and (left := end - time.monotonic()) > 0:
            self.producer.poll(left)

    def send(self, n, attempt):
        def on_delivery(error, message):
            if error:
                self.refused(n, attempt, error, error.name())
            else:
                self.progress.add(n, message.partition(), message.offset())

        options = {} if self.shape.partition is None else {"partition": self.shape.partition}
        while True:
            try:
                return self.producer.produce(self.topic, self.shape.value(n), self.shape.key(n), on_delivery=on_delivery, **options)
            except BufferError:
                self.producer.poll(0.1)

    def flush(self):
        self.producer.flush()

    def end(self):
        """A producer of librdkafka ends with its last reference."""


class Member(MemberThread):
    errors = KafkaException
    failure = staticmethod(failure)

    def __init__(self, request):
        super().__init__(request, make_consumer(request))

    def subscribe(self):
        if self.direct:
            self.consumer.assign([TopicPartition(self.topic, p, confluent_kafka.OFFSET_BEGINNING) for p in self.direct])
            return
        self.consumer.subscribe([self.topic], on_assign=lambda _, assigned: self.gain(assigned),
                                on_revoke=self.on_revoke, on_lost=lambda _, lost: self.give_up(lost, "lost"))

    def on_revoke(self, _, revoked):
        if self.uncommitted:
            self.commit()
        self.give_up(revoked, "revoked")

    def commit(self):
        offsets = [TopicPartition(self.topic, p, offset) for p, offset in self.uncommitted.items()]
        try:
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self.uncommitted.clear()
        except KafkaException as e:
            # A rebalance is under way, or is over and the answer to our join not yet here: kept, as the revocation
            # or the next round commits it. A member that is not known any more joins again by itself, too.
            if e.args[0].code() not in REFUSED_COMMITS:
                raise
            self.commit_failed(e)

    def take_one(self, message):
        emit({"member": self.name_, "event": "record", "at_ns": time.monotonic_ns(), **describe(checked(message))})
        self.uncommitted[message.partition()] = message.offset() + 1

    def take(self):
        # Not consume(): before 2.2 it loses what it fetched for a partition that a rebalance takes away.
        message = self.consumer.poll(0.1)
        for _ in range(MAXIMUM_BATCH):
            if message is None:
                return
            self.take_one(message)
            message = self.consumer.poll(0)
        if message is not None:
            self.take_one(message)


serve(globals())
