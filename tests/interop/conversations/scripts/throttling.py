"""Quotas on rates: bytes produced and fetched (KIP-13), time that requests take (KIP-124), connections that an address
makes (KIP-612); and how a broker tells and holds those who are above one (KIP-219).

A rate is taken over eleven windows of a second, so a client that was quiet may use at once what it may use in ten seconds.
"""

import time

import records
from scripts.fetch import fetch, fill, wanted
from scripts.produce import partition, produce
from scripts.quotas import limit
from talk import conversation, ends

PRODUCED, FETCHED, TIME = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
PER_SECOND = 100.0


def value_of(size):
    return "x" * size


def throttled(talk, answer, seconds, tolerance):
    """Notes whether the answer tells the client to wait that long: 0 for not at all."""
    found = answer.get("ThrottleTimeMs", 0) / 1000
    near = (found > 0) == (seconds > 0) and abs(found - seconds) <= tolerance
    talk.note(f"the client has to wait {seconds} s, within {tolerance} s" if near else
              f"the client has to wait {found:.1f} s, not {seconds} s")


class Client:
    """Asks as one client, on a new connection each time unless one is named."""

    def __init__(self, talk, word):
        self.talk, self.name, self.count = talk, talk.named(word), 0

    def connect(self):
        self.count += 1
        on = f"{self.name}-{self.count}"
        self.talk.connect(on, self.name)
        return on

    def produce(self, version, name, size, seconds, on=None, tolerance=1.5, **fields):
        data = records.batch((None, value_of(size)))
        answer = produce(self.talk, version, name, partition(0, data), on=on or self.connect(), **fields)
        throttled(self.talk, answer, seconds, tolerance)

    def fetch(self, version, *topics, seconds=0, on=None, tolerance=1.5, **fields):
        answer = fetch(self.talk, version, *topics, on=on or self.connect(), **fields)
        throttled(self.talk, answer, seconds, tolerance)
        return answer


@conversation
def who_produces_too_much_has_to_wait(talk):
    for version in ends("Produce"):
        client = Client(talk, f"client-{version}")
        name, topic_id = talk.topic(f"topic-{version}")
        limit(talk, client.name, PER_SECOND, PRODUCED)
        # About 750 bytes each, of 1000 that are free.
        client.produce(version, name, 650, 0, topic_id=topic_id)
        client.produce(version, name, 650, 6, topic_id=topic_id, tolerance=2.5)  # It is written: only the next one waits.
        client.produce(version, name, 650, 15, topic_id=topic_id, tolerance=3)
        limit(talk, client.name, None, PRODUCED)
        client.produce(version, name, 650, 0, topic_id=topic_id)
        talk.ask("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
            {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])


@conversation
def the_connection_of_a_throttled_producer_rests(talk):
    client = Client(talk, "client")
    name, topic_id = talk.topic()
    limit(talk, client.name, PER_SECOND, PRODUCED)
    on = client.connect()
    client.produce(13, name, 1200, 3, on=on, topic_id=topic_id)
    began = time.monotonic()
    talk.ask("Metadata", 12, on=on, Topics=[])
    talk.takes("the next answer", 3, 1.5, began)


@conversation
def the_connection_rests_where_nobody_is_told(talk):
    client = Client(talk, "client")
    name, topic_id = talk.topic()
    limit(talk, client.name, PER_SECOND, PRODUCED)
    on = client.connect()
    pending = talk.send("Produce", 13, on=on, TransactionalId=None, Acks=0, TimeoutMs=1000, TopicData=[
        {"Name": name, "TopicId": topic_id, "PartitionData": [partition(0, records.batch((None, value_of(1200))))]}])
    pending.connection.waiting.remove(pending)  # Nothing will answer it.
    began = time.monotonic()
    talk.ask("Metadata", 12, on=on, Topics=[])
    talk.takes("the answer to the request behind it", 3, 1.5, began)


@conversation
def who_fetches_too_much_gets_nothing_and_has_to_wait(talk):
    name, topic_id = talk.topic()
    fill(talk, name, value_of(600))
    for version in ends("Fetch"):
        client = Client(talk, f"client-{version}")
        topic = wanted(name, (0, 0), topic_id=topic_id)
        limit(talk, client.name, PER_SECOND, FETCHED)
        client.fetch(version, topic)
        client.fetch(version, topic, seconds=5, tolerance=2)
        # What was not sent is not counted.
        client.fetch(version, topic, seconds=5, tolerance=2)
        limit(talk, client.name, None, FETCHED)
        client.fetch(version, topic)


@conversation
def a_throttled_client_gets_no_session_and_loses_none(talk):
    name, topic_id = talk.topic()
    topic = wanted(name, (0, 0), topic_id=topic_id)
    client, other = Client(talk, "client"), Client(talk, "other")
    on = client.connect()
    session = client.fetch(12, topic, on=on, session=(0, 0))["SessionId"]
    fill(talk, name, value_of(600))
    limit(talk, client.name, PER_SECOND, FETCHED)
    client.fetch(12, topic)
    client.fetch(12, topic, seconds=5, tolerance=2, session=(0, 0))
    client.fetch(12, seconds=5, tolerance=2, on=on, session=(session, 1))
    limit(talk, client.name, None, FETCHED)
    client.fetch(12, session=(session, 2))
    other.fetch(12, topic, session=(0, 0))


@conversation
def a_fetch_is_cut_to_what_the_quota_can_give(talk):
    name, topic_id = talk.topic()
    for n in range(4):
        fill(talk, name, value_of(400))
    client = Client(talk, "client")
    limit(talk, client.name, PER_SECOND, FETCHED)
    topic = wanted(name, (0, 0), topic_id=topic_id)
    # All four are 1,900 bytes, which would be a wait of nine seconds. What is above 1,000 could never be had without one, so
    # the fetch is cut to that, and only what stands around the records is too much.
    client.fetch(12, topic, least=1500, wait=300, seconds=1, tolerance=0.95)


@conversation
def time_is_limited_for_every_request(talk):
    client = Client(talk, "client")
    name, topic_id = talk.topic()
    # A ten millionth of a thread: every request takes more. Nobody has to wait longer than a window for that.
    limit(talk, client.name, 0.00001, TIME)

    def ask(api, version, **fields):
        throttled(talk, talk.ask(api, version, on=client.connect(), **fields), 1, 0.1)

    ask("Metadata", 12, Topics=[])
    ask("FindCoordinator", 4, KeyType=0, CoordinatorKeys=["group"])
    ask("ListOffsets", 7, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
        {"PartitionIndex": 0, "CurrentLeaderEpoch": -1, "Timestamp": -1}]}])
    ask("OffsetFetch", 8, Groups=[{"GroupId": talk.named("group"), "Topics": None}])
    ask("DescribeCluster", 1)
    ask("DescribeConfigs", 4, Resources=[{"ResourceType": 2, "ResourceName": name, "ConfigurationKeys": ["retention.ms"]}])
    ask("CreateTopics", 7, Topics=[{"Name": name, "NumPartitions": 1, "ReplicationFactor": 1}], TimeoutMs=5000,
        ValidateOnly=True, error="TOPIC_ALREADY_EXISTS")
    ask("InitProducerId", 4, TransactionalId=None, TransactionTimeoutMs=60000)
    client.fetch(12, wanted(name, (0, 0), topic_id=topic_id), seconds=1, tolerance=0.1)
    client.produce(9, name, 10, 1, tolerance=0.1)
    client.produce(3, name, 10, 1, tolerance=0.1)


@conversation
def the_most_specific_quota_of_bytes_counts(talk):
    client = Client(talk, "client")
    name, topic_id = talk.topic()
    limit(talk, client.name, PER_SECOND, PRODUCED)
    talk.ask("AlterClientQuotas", 1, ValidateOnly=False, Entries=[
        {"Entity": [{"EntityType": "user", "EntityName": "ANONYMOUS"},
                    {"EntityType": "client-id", "EntityName": client.name}],
         "Ops": [{"Key": PRODUCED, "Value": 1_000_000.0, "Remove": False}]}])
    time.sleep(1)
    client.produce(13, name, 5000, 0, topic_id=topic_id)


# Two windows, so that only one second's worth may be used at once, and is forgotten two seconds later.
FEW_WINDOWS = {"quota.window.num": "2"}


def set_broker_config(talk, name, value):
    talk.ask("IncrementalAlterConfigs", 1, ValidateOnly=False, Resources=[
        {"ResourceType": 4, "ResourceName": "", "Configs": [
            {"Name": name, "ConfigOperation": 0 if value else 1, "Value": value}]}])
    time.sleep(0.5)


def limit_address(talk, rate):
    talk.ask("AlterClientQuotas", 1, ValidateOnly=False, Entries=[
        {"Entity": [{"EntityType": "ip", "EntityName": "127.0.0.1"}],
         "Ops": [{"Key": "connection_creation_rate", "Value": rate or 0.0, "Remove": rate is None}]}])
    time.sleep(0.5)


@conversation(properties=FEW_WINDOWS)
def an_address_that_connects_too_quickly_is_refused_for_a_while(talk):
    time.sleep(2.5)
    limit_address(talk, 4.0)
    time.sleep(2.5)
    for n in range(4):
        talk.ask("Metadata", 12, on=f"in time {n}", Topics=[])
    began = time.monotonic()
    talk.ask("Metadata", 12, on="too soon", Topics=[], error="closed")
    # One more than four in a second: a quarter of a second too soon. (Kafka looks twice a second for whom to close.)
    talk.takes("to be closed", 0.5, 0.4, began)
    time.sleep(2.5)
    talk.ask("Metadata", 12, on="later", Topics=[])
    limit_address(talk, None)
    for n in range(8):
        talk.ask("Metadata", 12, on=f"unlimited {n}", Topics=[])


@conversation(properties={**FEW_WINDOWS, "quota.window.size.seconds": "2"})
def connections_that_come_too_quickly_are_accepted_later(talk):
    set_broker_config(talk, "max.connection.creation.rate", "2")
    time.sleep(4.5)
    for n in range(4):
        talk.ask("Metadata", 12, on=f"in time {n}", Topics=[])
    began = time.monotonic()
    talk.ask("Metadata", 12, on="too soon", Topics=[])
    # Four may come at once; one more is a quarter of two seconds too soon.
    talk.takes("the answer", 0.5, 0.35, began)
    set_broker_config(talk, "max.connection.creation.rate", None)
