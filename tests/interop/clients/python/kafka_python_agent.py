"""kafka-python as an agent: the requests and events are described in clients.py."""

import sys

import kafka
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import CommitFailedError, KafkaError, KafkaTimeoutError, for_code

from agent import (REFUSED_COMMITS, MemberThread, StreamThread, consumer_properties, describe, emit, failure, identity,
                   producer_properties, read_all, record_properties, serve)

COMMIT_TIMEOUT_MS = 2000
# A poll that ends between JoinGroup and SyncGroup makes the library join again, and when it leads the group everybody else
# with it: on a busy machine a group with short polls never settles.
POLL_MS = 2000
ASSIGNORS = {"cooperative": CooperativeStickyAssignor, "range": RangePartitionAssignor}

bootstrap = sys.argv[1]
IDENTITY = identity()


def base(request):
    properties = {**IDENTITY, "bootstrap_servers": bootstrap, "reconnect_backoff_max_ms": 200}
    if "metadata_age_ms" in request:
        properties["metadata_max_age_ms"] = request["metadata_age_ms"]
    return properties


def with_admin(action):
    admin = KafkaAdminClient(**IDENTITY, bootstrap_servers=bootstrap)
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
    return kafka.KafkaProducer(**base(request), **producer_properties(request),
                               max_block_ms=request.get("unknown_topic_wait_ms", 30000))


def make_consumer(request):
    return kafka.KafkaConsumer(**base(request), **consumer_properties(request, ASSIGNORS))


def produce(request):
    producer = make_producer(request)
    results = []
    for record in request["records"]:
        try:
            results.append(producer.send(request["topic"], **record_properties(record)))
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
    def begin(consumer):
        wanted = topic_partitions(consumer, request["topic"])
        consumer.assign(wanted)
        consumer.seek_to_beginning(*wanted)

    def take(consumer):
        return [describe(record) for batch in consumer.poll(timeout_ms=100).values() for record in batch]

    return read_all(request, make_consumer(request), begin, take)


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


class Stream(StreamThread):
    def __init__(self, request):
        super().__init__(request, make_producer(request))

    def send(self, n, attempt):
        future = self.producer.send(self.topic, key=self.shape.key(n), value=self.shape.value(n), partition=self.shape.partition)
        future.add_callback(lambda metadata: self.progress.add(n, metadata.partition, metadata.offset))
        future.add_errback(lambda error: self.refused(n, attempt, error))

    def flush(self):
        self.producer.flush()

    def end(self):
        self.producer.close()


class Member(MemberThread, kafka.ConsumerRebalanceListener):
    errors = KafkaError

    def __init__(self, request):
        super().__init__(request, make_consumer(request))

    def subscribe(self):
        self.consumer.subscribe([self.topic], listener=self)

    def on_partitions_assigned(self, assigned):
        self.gain(assigned)

    def on_partitions_revoked(self, revoked):
        # Nothing is uncommitted here: callbacks run inside poll(), and every poll is followed by a commit.
        self.give_up(revoked, "revoked")

    def on_partitions_lost(self, lost):
        self.give_up(lost, "lost")

    def commit(self):
        offsets = {kafka.TopicPartition(self.topic, p): kafka.structs.OffsetAndMetadata(offset, "", -1)
                   for p, offset in self.uncommitted.items()}
        try:
            # It repeats a commit that a rebalance refuses until its time is over, and does not join meanwhile.
            self.consumer.commit(offsets, timeout_ms=COMMIT_TIMEOUT_MS)
        except KafkaError as e:
            if getattr(e, "errno", None) not in REFUSED_COMMITS and not isinstance(
                    e, (CommitFailedError, KafkaTimeoutError)):
                raise
            self.commit_failed(e)
        self.uncommitted.clear()

    def take(self):
        for partition, batch in self.consumer.poll(timeout_ms=POLL_MS).items():
            for record in batch:
                emit({"member": self.name_, "event": "record", **describe(record)})
            self.uncommitted[partition.partition] = batch[-1].offset + 1


serve(globals())
