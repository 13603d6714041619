"""An application with Spring Kafka and @Transactional (clients/spring/Shop.java): whatever is killed, each order that was placed has
one invoice and one parcel, or is one dead letter."""

import collections
import random

import pytest
from confluent_kafka import Producer

import clients
import connect
import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 5,
                     "transaction.state.log.num.partitions": 5,
                     "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
                     # A member that was killed is soon known to be gone.
                     "group.min.session.timeout.ms": 1000}
PARTITIONS = 3
START_S = 240
PATIENCE_S = 300

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Shop:
    """A process of it."""

    def __init__(self, broker, topics, group, name):
        self.broker = broker
        #: How many its earlier processes were given.
        self.delivered_before = 0
        self.delivered = []
        libraries = harness.TOOLS / "spring"
        self.command = [*harness.bare_java_command(), "-cp", f"{libraries / 'classes'}:{libraries}/*", "Shop", broker.bootstrap,
                        ",".join(topics), group, name]
        self.start()

    def start(self):
        self.delivered_before += len(self.delivered)
        #: What this process was given to deliver: orders, with the attempt.
        self.delivered = []
        self.process = harness.LineProcess(self.command, self.delivered.append)

    def place(self, order):
        """Whether it is placed; the application says so when its transaction is over."""
        reply = self.process.call("place", START_S, order=order)
        assert reply["ok"] or reply["type"] == "IllegalStateException", reply
        return reply["ok"]

    def check_alive(self):
        assert self.process.process.poll() is None, f"it ended\n{self.process.error_text()}"

    def kill(self):
        """kill -9"""
        self.process.kill()
        self.process.errors.close()

    def close(self):
        """As its operator would: the application context is closed."""
        if self.process.process.poll() is None:
            self.process.close()


class Scene:
    """Applications, orders that they are given, and what must become of these."""

    def __init__(self, broker, unique, count):
        self.broker = broker
        self.topics = self.orders, self.invoices, self.parcels, self.letters = \
            [unique(name) for name in ("orders", "invoices", "parcels", "letters")]
        self.random = random.Random(18)
        self.fed, self.placed, self.refused = 0, [], []
        group = unique("group")
        self.shops = [Shop(broker, self.topics, group, unique(f"shop-{number}")) for number in range(count)]
        self.producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "reconnect.backoff.max.ms": 200})

    def next_order(self, kinds):
        self.fed += 1
        return f"{self.fed}{self.random.choice(kinds)}"

    def place(self, shop, count):
        """By the application itself, each in a transaction."""
        for _ in range(count):
            order = self.next_order("aaabcd")
            (self.placed if shop.place(order) else self.refused).append(order)

    def feed(self, count):
        """Past the application, so that it has more to do than it can at once."""
        for _ in range(count):
            order = self.next_order("aaabbc")
            self.placed.append(order)
            self.producer.produce(self.orders, key=order, value=order)
        assert self.producer.flush(60) == 0

    def work(self, shop, count):
        """Until an application was given so many, of an input that does not end."""
        goal = len(shop.delivered) + count

        def has_worked():
            for one in self.shops:
                one.check_alive()
            if len(shop.delivered) >= goal:
                return True
            if self.fed - sum(one.delivered_before + len(one.delivered) for one in self.shops) < 200:
                self.feed(10)
            return False
        harness.wait_until(has_worked, PATIENCE_S, lambda: f"{goal} deliveries, not {len(shop.delivered)}\n{shop.process.error_text()}")

    def kill(self, number):
        """An application in the midst of its work, then the broker under all of them."""
        victim = self.shops[number % len(self.shops)]
        self.work(victim, 20)
        victim.kill()
        victim.start()
        self.work(victim, 20)
        self.broker.kill()
        self.broker.restart()
        for shop in self.shops:
            self.work(shop, 20)

    def check(self):
        outcome = {self.invoices: [order for order in self.placed if not order.endswith("c")],
                   self.letters: [order for order in self.placed if order.endswith("c")]}
        outcome[self.parcels] = outcome[self.invoices]
        for topic, expected in outcome.items():
            reader = connect.Reader(self.broker, topic, PARTITIONS)
            reader.wait_for(len(expected), PATIENCE_S, lambda: "\n".join(shop.process.error_text() for shop in self.shops))
            reader.close()
        for shop in self.shops:
            shop.check_alive()
            shop.close()
        outcome[self.orders] = self.placed
        for topic, expected in outcome.items():
            found = collections.Counter(order for orders in connect.read(self.broker, topic, PARTITIONS).values() for order in orders)
            assert found == collections.Counter(expected), topic
        # It is a proof only if the listener failed behind what it had written, and orders were taken back.
        assert self.refused and {order[-1] for order in self.refused} == {"d"}
        for topic, committed in ((self.invoices, outcome[self.invoices]), (self.orders, self.placed)):
            written = connect.read(self.broker, topic, PARTITIONS, "read_uncommitted")
            assert sum(map(len, written.values())) > len(committed)

    def remove(self):
        for shop in self.shops:
            if shop.process.process.poll() is None:
                shop.kill()


@pytest.fixture
def scene(broker, unique):
    """scene(count) makes one with so many applications."""
    clients.require("spring-kafka")
    made = []

    def make(count):
        made.append(Scene(broker, unique, count))
        return made[-1]
    yield make
    for one in made:
        one.remove()


def test_each_order_is_delivered_once_whatever_is_killed(scene):
    shop = scene(1)
    shop.place(shop.shops[0], 30)
    shop.kill(0)
    shop.check()


@pytest.mark.long
def test_two_shops_deliver_each_order_once_whatever_is_killed(scene):
    shops = scene(2)
    for number in range(8):
        shops.place(shops.shops[number % 2], 30)
        shops.kill(number)
    shops.check()
