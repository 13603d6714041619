"""The quota controller_mutation_rate (KIP-599): partitions created and deleted per second.

Clients are told apart by their client id, so every conversation has clients of its own; every request has a connection of
its own where the answer before it said that the client has to wait.
"""

import time

from talk import conversation
from scripts.topics import creatable


def limit(talk, client, rate, key="controller_mutation_rate", **fields):
    """rate None removes the limit."""
    talk.ask("AlterClientQuotas", 1, ValidateOnly=False, Entries=[
        {"Entity": [{"EntityType": "client-id", "EntityName": client}],
         "Ops": [{"Key": key, "Value": rate or 0.0, "Remove": rate is None}]}], **fields)
    talk.quietly("DescribeClientQuotas", 1, lambda answer: bool(answer["Entries"]) == (rate is not None), Components=[
        {"EntityType": "client-id", "MatchType": 0, "Match": client}], Strict=True)
    time.sleep(0.3)  # Kafka's controller takes a moment longer than the broker that describes.


class Client:
    """Asks as one client, on a new connection each time."""

    def __init__(self, talk, word):
        self.talk, self.name, self.count = talk, talk.named(word), 0
        self.since = None  # Its first request: everything that it owes it has owed since then.

    def connect(self):
        self.count += 1
        self.since = self.since or time.monotonic()
        on = f"{self.name}-{self.count}"
        self.talk.connect(on, self.name)
        return on

    def throttled(self, answer, seconds, tolerance=4):
        """Notes whether what it has to wait, and what passed already, come to what it took too much: 0 for nothing."""
        found = answer.get("ThrottleTimeMs", 0) / 1000
        if found:
            found += time.monotonic() - self.since
        near = (found > 0) == (seconds > 0) and abs(found - seconds) <= tolerance
        self.talk.note(f"the client has to wait {seconds} s in all, within {tolerance} s" if near else
                       f"the client has to wait {found:.1f} s in all, not {seconds} s")

    def create(self, version, *topics, error="NONE", validate=False, seconds=0, on=None):
        answer = self.talk.ask("CreateTopics", version, on=on or self.connect(), Topics=list(topics), TimeoutMs=30000,
                               ValidateOnly=validate, error=error)
        self.throttled(answer, seconds)
        return answer


# A rate of 0.1 allows 1.1 partitions at once (eleven windows of a second), and pays one back in ten seconds.

@conversation
def creating_beyond_the_quota_is_refused(talk):
    client = Client(talk, "client")
    named = lambda word, partitions=1: creatable(talk.named(word), partitions)
    limit(talk, client.name, 0.1)
    client.create(7, named("a", 2))
    client.create(7, named("b"), error="THROTTLING_QUOTA_EXCEEDED", seconds=9)
    client.create(6, named("c"), named("d", 0), error=None, seconds=9)
    client.create(6, named("c"), error="THROTTLING_QUOTA_EXCEEDED", validate=True, seconds=9)
    client.create(7, named("a"), error="TOPIC_ALREADY_EXISTS")
    client.create(5, named("e"), seconds=19)  # Older clients are not refused: they wait.
    client.create(2, named("f"), seconds=29)
    client.create(7, named("g"), error="THROTTLING_QUOTA_EXCEEDED", seconds=29)
    limit(talk, client.name, None)
    client.create(7, named("g"))
    other = Client(talk, "other")
    other.create(7, named("h", 20))


@conversation
def validating_counts_against_the_quota(talk):
    client = Client(talk, "client")
    limit(talk, client.name, 0.1)
    client.create(7, creatable(talk.named("a"), 2), validate=True)
    client.create(7, creatable(talk.named("a"), 2), validate=True, error=None, seconds=9)


@conversation
def adding_partitions_beyond_the_quota_is_refused(talk):
    client = Client(talk, "client")
    name, _ = talk.topic(partitions=2)
    limit(talk, client.name, 0.1)
    grow = lambda version, count, error="NONE", seconds=0: client.throttled(talk.ask(
        "CreatePartitions", version, on=client.connect(), TimeoutMs=30000, ValidateOnly=False, error=error, Topics=[
            {"Name": name, "Count": count, "Assignments": None}]), seconds)
    grow(3, 4)
    grow(3, 5, error="THROTTLING_QUOTA_EXCEEDED", seconds=9)
    grow(3, 3, error="INVALID_PARTITIONS")
    grow(2, 5, seconds=19)
    grow(0, 6, seconds=29)
    grow(3, 7, error="THROTTLING_QUOTA_EXCEEDED", seconds=29)


@conversation
def deleting_beyond_the_quota_is_refused(talk):
    client = Client(talk, "client")
    one, _ = talk.topic("one", partitions=2)
    two, two_id = talk.topic("two", partitions=1)
    three, _ = talk.topic("three", partitions=1)
    limit(talk, client.name, 0.1)
    delete = lambda version, *names, error="NONE", seconds=0: client.throttled(talk.ask(
        "DeleteTopics", version, on=client.connect(), TopicNames=list(names), Topics=[{"Name": name} for name in names],
        TimeoutMs=30000, error=error), seconds)
    delete(6, one)
    delete(6, two, error="THROTTLING_QUOTA_EXCEEDED", seconds=9)
    delete(5, two, talk.named("nobody"), error=None, seconds=9)
    delete(4, two, seconds=19)
    delete(1, three, seconds=29)


@conversation
def the_connection_of_a_throttled_client_rests(talk):
    client = Client(talk, "client")
    limit(talk, client.name, 1.0)  # Eleven at once.
    client.create(7, creatable(talk.named("a"), 13))
    on = client.connect()
    client.create(7, creatable(talk.named("b")), error="THROTTLING_QUOTA_EXCEEDED", seconds=2, on=on)
    began = time.monotonic()
    talk.ask("Metadata", 12, on=on, Topics=[])
    talk.takes("the next answer", 1.5, 1.2, began)


@conversation
def a_quota_of_a_user_and_a_client_goes_before_one_of_the_client(talk):
    # Nobody logs in, so everybody is the user ANONYMOUS; a quota for it and one client id is more specific than one for
    # the client id alone.
    client = Client(talk, "client")
    limit(talk, client.name, 1000.0)
    talk.ask("AlterClientQuotas", 1, ValidateOnly=False, Entries=[
        {"Entity": [{"EntityType": "user", "EntityName": "ANONYMOUS"},
                    {"EntityType": "client-id", "EntityName": client.name}],
         "Ops": [{"Key": "controller_mutation_rate", "Value": 0.1, "Remove": False}]}])
    time.sleep(1)
    client.create(7, creatable(talk.named("a"), 2))
    client.create(7, creatable(talk.named("b"), 2), error="THROTTLING_QUOTA_EXCEEDED", seconds=9)
