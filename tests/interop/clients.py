"""Client libraries as agents: child processes that all speak one small language over their standard streams.

Each line sent is a request `{"id": n, "op": ..., ...}` and is answered by `{"reply": n, "ok": true, ...}`, or by
`{"reply": n, "ok": false, "code": <Kafka's error code, or a negative one of the client's own>, "message": ...}`.

    create_topic  topic partitions [configs]    create_partitions  topic count    delete_topic  topic
    partitions    topic -> partitions: the ids that the client's metadata shows
    produce       topic records [codec acks idempotence unknown_topic_wait_ms] -> acks: partition and offset, or a
                  failure; a record has key, value (null allowed), headers, and may have partition and timestamp
    read          topic count timeout_ms -> records: the whole topic from the beginning, without a group
    offsets_for_time  topic timestamp -> offsets by partition, -1 where nothing is as late
    committed     group topic -> offsets by partition
    list_topics   -> topics                       list_groups   -> groups
    topic_config  topic config -> value           set_topic_config  topic config value
    describe_group  group -> state, members: how many           delete_group  group
    delete_records  topic partition offset -> low_watermark
    version       -> version: of the library
    stream_start  name topic [keys interval_us metadata_age_ms client_id]  a producer in the background, values 0, 1, 2 ...
                  of java, librdkafka and aiokafka also [partition value_bytes attempts backoff_ms settings], and no keys with
                  keys 0: for one partition that the sender chose; values padded behind a space; how often a record is sent at
                  most, with a pause before the second time that doubles with each; the library's own settings
    stream_stop   name -> acked: [value, partition, offset], failed: [value, message, kind], of these three also again: [value,
                  kind] for each time that a record was sent once more
    member_start  name group topic [assignor session_timeout_ms instance_id metadata_age_ms reset client_id protocol
                  batch_ms]   batch_ms: what a batch takes to work on; of java, librdkafka and aiokafka also [settings assign]:
                  these partitions from their beginning, without a group
    member_stop   name: closes the consumer, which leaves the group

Without more an agent speaks to a listener that asks nobody who he is. These variables of its environment say otherwise:

    CLIENT_PROPERTIES, CLIENT_LIBRDKAFKA   files with all settings, for Java clients and for those on librdkafka
    CLIENT_CA                              for others: the file with the authority to trust
    CLIENT_CERTIFICATE                     a file with a certificate and its key (mTLS)
    CLIENT_MECHANISM CLIENT_USER CLIENT_PASSWORD   or a login: PLAIN or SCRAM-SHA-512

Lines without "reply" are events: `{"member": name, "event": "owned", "partitions": [...]}` after every change of the
assignment, "record" for each record before it is committed, "commit_failed" for a commit that a rebalance refused and
that will be tried again, "failed", "closed"; `{"stream": name, "event":
"partition", ...}` at a stream's first acknowledgement from a partition and "progress" at every thousandth.
"""

import threading
import time

import pytest

import harness
import matrix

CALL_DEADLINE_S = 120

# The clients that tests other than the matrix use, too.
java = matrix.CLIENTS["java"]
franz = matrix.CLIENTS["franz-go"]
confluent = matrix.CLIENTS["librdkafka"]
debian_librdkafka = matrix.CLIENTS["librdkafka-debian"]


class ClientError(Exception):
    """A request that the client library answered with an error."""

    def __init__(self, reply):
        super().__init__(f"{reply.get('code')} {reply.get('type')}: {reply.get('message')}")
        self.code = reply["code"]
        self.message = reply["message"]


class EventLog:
    """Everything that the agents of one test report, in order of arrival, with one condition to wait on."""

    def __init__(self):
        self.changed = threading.Condition()
        self.events = []
        self.forgiven = set()

    def add(self, event):
        event.setdefault("at_ns", time.monotonic_ns())  # Java's nanoTime is the same clock.
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def forget(self):
        """What was told so far counts no more; a test goes on with other members."""
        with self.changed:
            self.events.clear()

    def may_fail(self, member):
        """From now on a failure of this member does not fail the waits; a test expects it."""
        self.forgiven.add(member)

    def wait(self, condition, seconds, what):
        """Returns the first true value of condition(events), which is waited for so many seconds at least."""
        seconds = max(seconds, harness.HANGS_AFTER_S)
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                failures = [e for e in self.events if e.get("event") == "failed" and
                            e["member"] not in self.forgiven]
                assert not failures, f"while waiting for {what}: {failures}"
                value = condition(self.events)
                if value:
                    return value
                left = end - time.monotonic()
                if left <= 0:
                    raise harness.Deadline(f"not within {seconds} s: {what}\n{self.summary()}")
                self.changed.wait(left)

    def summary(self):
        counts = {}
        for event in self.events:
            if event.get("event") == "record":
                counts[event["member"]] = counts.get(event["member"], 0) + 1
        rest = [e for e in self.events if e.get("event") != "record"]
        return f"records by member: {counts}; last other events: {rest[-20:]}"

    def owned(self):
        """Member -> the partitions it says it owns now; members that closed are absent."""
        current = {}
        for event in self.events:
            if event.get("event") == "owned":
                current[event["member"]] = event["partitions"]
            elif event.get("event") == "closed":
                current.pop(event["member"], None)
        return current

    def refused_commits(self):
        """The partitions of which a commit met a rebalance."""
        return {p for event in self.events if event.get("event") == "commit_failed" for p in event["partitions"]}

    def lost_after_refused_commits(self):
        """The partitions that members gave up as lost after a commit of theirs met a rebalance. A loss without such
        a commit is not among them: then it is the broker that took the partitions away."""
        lost, owned, refused = set(), {}, set()
        for event in self.events:
            member = event.get("member")
            if event.get("event") == "commit_failed":
                refused.add(member)
            elif event.get("event") == "owned":
                if event.get("change") == "lost" and member in refused:
                    lost |= set(owned.get(member, ())) - set(event["partitions"])
                    refused.discard(member)
                owned[member] = event["partitions"]
        return lost

    def records(self):
        return [event for event in self.events if event.get("event") == "record"]


def require(client_name):
    """Skips a test whose client was not fetched."""
    if not harness.HAS_ALL_CLIENTS and client_name not in harness.BASIC_CLIENTS:
        pytest.skip("needs a client that scripts/test --full clients fetches")


class Agent:
    """One client process."""

    def __init__(self, client, bootstrap, events=None, environment=None):
        """`client` is a matrix.Client; `environment` says who it is."""
        require(client.name)
        self.bootstrap = bootstrap
        self.events = events or EventLog()
        self.process = harness.LineProcess(client.command(bootstrap), self.events.add, environment)

    def call(self, operation, seconds=CALL_DEADLINE_S, **request):
        reply = self.process.call(operation, seconds, **request)
        if not reply["ok"]:
            raise ClientError(reply)
        return reply

    def create_topic(self, topic, partitions, **request):
        """Creates a topic and sees to it that clients find it; some look again only after minutes."""
        self.call("create_topic", topic=topic, partitions=partitions, **request)
        self.expect_partitions(topic, partitions)

    def create_partitions(self, topic, count):
        self.call("create_partitions", topic=topic, count=count)
        self.expect_partitions(topic, count)

    def expect_partitions(self, topic, count):
        """Waits until metadata shows the partitions, complete and ascending; ours shows them at once."""
        def shown():
            assert self.call("partitions", topic=topic)["partitions"] == list(range(count))
        harness.at_once(shown, self.bootstrap)

    def expect_committed(self, group, topic, offsets, seconds=30):
        """Waits until the group has committed these offsets; what the coordinator says while it loads is no answer."""
        last = None

        def shown():
            nonlocal last
            try:
                last = self.call("committed", group=group, topic=topic)["offsets"]
            except ClientError as e:
                last = e
            return last == offsets
        harness.wait_until(shown, seconds, lambda: f"{group} has committed {offsets}; it says {last}")

    def kill(self):
        self.process.kill()

    def close(self):
        self.process.close()
