"""Kafka Streams with exactly-once v2: what an application writes is what a reference computes, whatever is killed meanwhile.

The stores of the applications do not cache, so each change of a count or of a sum is a record of its own: a record that
counted twice, or not, is seen in what was written and not only in the last values."""

import collections
import random
import threading
import time

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

import harness
import insight
import streams

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "transaction.state.log.num.partitions": 5,
                     "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
PARTITIONS = 4
#: A busy machine starts a JVM in a minute, and a rebalance waits for it.
PATIENCE_S = 300
#: Exactly-once v2, as releases before 3.0 call it.
NAMES = {"2.8.2": "exactly_once_beta"}

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Reader:
    """Reads topics to their ends, again and again, from before the first kill until after the last one."""

    def __init__(self, broker, topics, isolation="read_committed"):
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused", "enable.auto.commit": False,
                                  "isolation.level": isolation, "reconnect.backoff.max.ms": 200, "fetch.wait.max.ms": 100,
                                  "enable.partition.eof": True})
        self.places = [(topic, partition) for topic in topics for partition in range(PARTITIONS)]
        #: What was read of each partition, in order: offset, key and value.
        self.read = {place: [] for place in self.places}
        self.at_end = set()
        self.failures = []
        self.is_over = threading.Event()
        self.consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in self.places])
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_over.is_set():
            for message in self.consumer.consume(1000, 0.1):
                place = message.topic(), message.partition()
                if message.error() is None:
                    self.read[place].append((message.offset(), message.key().decode(), message.value().decode()))
                elif message.error().name() == "_PARTITION_EOF":
                    self.at_end.add(place)
                elif not message.error().retriable():
                    self.failures.append(str(message.error()))
        self.consumer.close()

    def count(self, topic):
        return sum(len(self.read[place]) for place in self.places if place[0] == topic)

    def close(self):
        self.is_over.set()
        self.thread.join()


def read(broker, topics, isolation="read_committed"):
    """All that such a reader sees of them now, as Reader.read."""
    reader = Reader(broker, topics, isolation)
    try:
        harness.wait_until(lambda: len(reader.at_end) == len(reader.places), 60,
                           lambda: f"the ends of {sorted(set(reader.places) - reader.at_end)}")
    finally:
        reader.close()
    assert reader.failures == []
    return reader.read


def by_key(found, topic):
    """The values of each key of a topic, in their order; a key has one partition."""
    values, places = collections.defaultdict(list), {}
    for place, records in found.items():
        for _, key, value in records if place[0] == topic else []:
            assert places.setdefault(key, place) == place
            values[key].append(value)
    return dict(values)


def counted(count):
    """What is written of something that is counted `count` times, each time once."""
    return [str(number) for number in range(1, count + 1)]


def differences(found, expected):
    """By key, what was found and what was expected from where they part; empty when they are the same."""
    parted = {}
    for key in sorted({*found, *expected}):
        ours, theirs = found.get(key, []), expected.get(key, [])
        if ours != theirs:
            place = next((place for place, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), min(len(ours), len(theirs)))
            parted[key] = place, ours[place:place + 3], theirs[place:place + 3]
    return parted


class Scene:
    """Two instances of an application, what they are fed with, and a reader of what they write. A subclass says which application,
    makes its input and knows what must become of it."""

    program = None
    inputs, outputs = ("input",), ()
    settings = {}

    def __init__(self, broker, unique, guarantee="exactly_once_v2", release=streams.NEWEST):
        self.broker = broker
        self.topics = [unique(name) for name in (*self.inputs, *self.outputs)]
        for topic in self.topics:
            insight.create(broker, topic, PARTITIONS)
        self.random = random.Random(18)
        self.fed = 0
        self.is_exact = guarantee != "at_least_once"
        self.producer = Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random", "linger.ms": 2,
                                  "enable.idempotence": True, "reconnect.backoff.max.ms": 200})
        self.prepare()
        # A member that was killed is missed soon, and so is a transaction that it left open. One that comes back has work at once, not
        # only when it has caught up.
        settings = {"processing.guarantee": NAMES.get(release, guarantee), "consumer.session.timeout.ms": 6000,
                    "consumer.heartbeat.interval.ms": 500, "producer.transaction.timeout.ms": 8000,
                    "acceptable.recovery.lag": 1_000_000, **self.settings}
        self.reader = Reader(broker, self.written, "read_committed" if self.is_exact else "read_uncommitted")
        self.instances = []
        application_id = unique("application")
        for _ in range(2):
            self.instances.append(streams.Application(broker, self.program, application_id, self.topics, settings, release))

    @property
    def written(self):
        return self.topics[len(self.inputs):]

    def prepare(self):
        """What is there before the application starts."""

    def feed(self, count=8):
        """Adds records to the input, and to what is expected of it."""
        self.fed += count
        for _ in range(count):
            self.feed_one()
        assert self.producer.flush(60) == 0

    def send(self, topic, key, value, **options):
        self.producer.produce(topic, key=key, value=value, **options)
        self.producer.poll(0)

    def wait_for_work(self, instance, count=1, what=None):
        """Until it has read so many records more, and whatever else is asked for. It always finds some."""
        goal = instance.processed + count

        def has_worked():
            self.check_health()
            if self.fed - self.reader.count(self.written[0]) < 500:  # A slow machine does not fall behind without end.
                self.feed()
            return instance.processed >= goal and (what is None or what(instance))
        harness.wait_until(has_worked, PATIENCE_S, lambda: f"{goal} are processed by the first of\n{[instance, *self.instances]}")

    def check_health(self):
        """An application survives the kills of others by itself."""
        for one in self.instances:
            if not one.is_well():
                pytest.fail(f"it is over with {one}", pytrace=False)

    def kill_one(self, number, forget=False, what=None):
        """Kills an instance and then the broker under the other one, both in the midst of it, and starts them again."""
        victim, other = self.instances[number % 2], self.instances[(number + 1) % 2]
        self.wait_for_work(victim)
        victim.kill(forget)
        victim.start()
        self.kill_broker()
        self.wait_for_work(other)
        self.wait_for_work(victim, what=what)

    def kill_broker(self):
        self.broker.kill()
        self.broker.restart()

    def finish(self):
        """What is written of everything that was fed, after the last of it, with all closed."""
        self.feed()
        def is_complete():
            self.check_health()
            return self.is_complete()
        harness.wait_until(is_complete, PATIENCE_S, lambda: f"all is written: {self.progress()}\n{self.instances}")
        for one in self.instances:
            one.stop()
        found = read(self.broker, self.written, "read_committed" if self.is_exact else "read_uncommitted")
        # Nothing was shown that was aborted later, and nothing was hidden that was committed.
        harness.wait_until(lambda: self.progress(self.reader.read) == self.progress(found), 60, "the reader sees all of it")
        self.reader.close()
        assert self.reader.failures == []
        assert differences(self.reader.read, found) == {}
        return found

    def progress(self, found=None):
        found = found or self.reader.read
        return {topic: sum(len(records) for place, records in found.items() if place[0] == topic) for topic in self.written}

    def remove(self):
        if not self.reader.is_over.is_set():
            self.reader.close()
        for one in self.instances:
            one.remove()


class Words(Scene):
    program, outputs = "WordCount", ("copies", "counts")
    vocabulary = [f"word-{number}" for number in range(23)]

    def prepare(self):
        self.lines = collections.defaultdict(list)
        self.words = collections.Counter()

    def feed_one(self):
        writer = f"writer-{self.random.randrange(16)}"
        words = self.random.choices(self.vocabulary, k=3)
        line = f"{' '.join(words)} line-{len(self.lines[writer])}"
        self.lines[writer].append(line)
        self.words.update(line.split())
        self.send(self.topics[0], writer, line)

    def is_complete(self):
        copies, counts = self.written
        return self.reader.count(copies) >= sum(map(len, self.lines.values())) and self.reader.count(counts) >= self.words.total()

    def check(self, found):
        copies, counts = self.written
        assert differences(by_key(found, copies), self.lines) == {}
        assert differences(by_key(found, counts), {word: counted(count) for word, count in self.words.items()}) == {}


class Orders(Scene):
    program, inputs, outputs = "JoinedOrders", ("orders", "customers"), ("joined", "sums")
    regions = {f"customer-{number}": f"region-{number % 5}" for number in range(40)}

    def prepare(self):
        self.orders = {}
        # Long before the first order, whose customer is known therefore.
        for customer, region in self.regions.items():
            self.send(self.topics[1], customer, region, timestamp=int((time.time() - 3600) * 1000))
        assert self.producer.flush(60) == 0

    def feed_one(self):
        order, customer = f"order-{len(self.orders)}", self.random.choice(list(self.regions))
        self.orders[order] = customer, self.random.randrange(1, 100)
        self.send(self.topics[0], order, "{} {}".format(*self.orders[order]))

    def is_complete(self):
        joined, sums = self.written
        if self.is_exact:
            return min(self.reader.count(joined), self.reader.count(sums)) >= len(self.orders)
        return len(by_key(self.reader.read, joined)) == len(self.orders) and self.reader.count(sums) >= len(self.orders)

    def check(self, found):
        joined, sums = (by_key(found, topic) for topic in self.written)
        expected = {order: f"{customer} {amount} {self.regions[customer]}" for order, (customer, amount) in self.orders.items()}
        totals = collections.Counter()
        for customer, amount in self.orders.values():
            totals[self.regions[customer]] += amount
        if not self.is_exact:
            # Nothing is lost; what was killed may have been done again.
            assert {order: set(values) for order, values in joined.items()} == {order: {value} for order, value in expected.items()}
            assert set(sums) == set(totals)
            assert [region for region in totals if max(map(int, sums[region])) < totals[region]] == []
            return
        assert differences(joined, {order: [value] for order, value in expected.items()}) == {}
        # A sum grows by an order each time, so that its steps are the orders: none is twice there, none is left out.
        steps = {region: [after - before for before, after in zip([0, *map(int, values)], map(int, values))]
                 for region, values in sums.items()}
        amounts = collections.defaultdict(list)
        for customer, amount in self.orders.values():
            amounts[self.regions[customer]].append(amount)
        assert differences({region: sorted(of_region) for region, of_region in steps.items()},
                           {region: sorted(of_region) for region, of_region in amounts.items()}) == {}
        assert {region: int(values[-1]) for region, values in sums.items()} == dict(totals)


class Windows(Scene):
    program, outputs = "WindowedCounts", ("counts",)
    settings = {"num.standby.replicas": 1}
    keys = [f"key-{number}" for number in range(31)]
    size_ms = 10_000

    def prepare(self):
        self.began_ms = int((time.time() - 3600) * 1000)
        self.windows = collections.Counter()

    def feed_one(self):
        key = self.random.choice(self.keys)
        # Slowly on, and back and forth: several windows are open at any time.
        at_ms = self.began_ms + 20 * self.windows.total() + self.random.randrange(30_000)
        self.windows[f"{key}@{at_ms - at_ms % self.size_ms}"] += 1
        self.send(self.topics[0], key, "value", timestamp=at_ms)

    def is_complete(self):
        return self.reader.count(self.written[0]) >= self.windows.total()

    def check(self, found):
        assert differences(by_key(found, self.written[0]), {window: counted(count) for window, count in self.windows.items()}) == {}


@pytest.fixture
def scene(broker, unique):
    """scene(Class, ...) makes one."""
    made = []

    def make(kind, **options):
        made.append(kind(broker, unique, **options))
        return made[-1]
    yield make
    for one in made:
        one.remove()


def survive(scene, rounds):
    """Something is killed in each round, and what was written in the end is what it must be."""
    for number in range(rounds):
        scene.kill_one(number)
    scene.check(scene.finish())


def test_words_are_counted_exactly_once_whatever_is_killed(scene):
    survive(scene(Words), rounds=1)


@pytest.mark.long
@pytest.mark.parametrize("release", ["4.3.1", "2.8.2"])
def test_words_are_counted_exactly_once_for_long(scene, release):
    survive(scene(Words, release=release), rounds=4)


@pytest.mark.long
@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_orders_are_joined_as_promised_whatever_is_killed(scene, guarantee):
    survive(scene(Orders, guarantee=guarantee), rounds=3)


@pytest.mark.long
def test_windows_come_back_from_their_changelog_and_have_a_standby(scene):
    windows = scene(Windows)
    for one in windows.instances:
        windows.wait_for_work(one, what=lambda one: one.standby.total() > 0)
    for number in range(2):
        # Its disk is gone: its tasks start with what their changelogs have.
        windows.kill_one(number, forget=True, what=lambda one: one.restored.total() > 0)
    windows.check(windows.finish())
