"""A job of Flink with its exactly-once sink (clients/flink/Job.java): whatever is killed, readers of committed records find each record of
the input once, in the order of its partition, and nothing stays open."""

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

import clients
import connect
import harness
from connect import read
from proxy import DESCRIBE_PRODUCERS, END_TXN, INIT_PRODUCER_ID, LIST_TRANSACTIONS, Proxy

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "transaction.state.log.num.partitions": 5, "offsets.topic.num.partitions": 5,
                     "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
PARTITIONS = 3
#: More than the transactions of one checkpoint can have.
MARKERS = 20
PATIENCE_S = 300

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Job:
    """A process of it. Where it goes on is on disk, in the newest of its checkpoints and savepoints."""

    def __init__(self, broker, topics, prefix, naming, parallelism, directory):
        self.directory = directory
        libraries = harness.TOOLS / "flink"
        self.command = [*harness.bare_java_command(), "-cp", f"{libraries / 'classes'}:{libraries}/*", "Job", broker.bootstrap,
                        ",".join(topics), prefix, naming, str(parallelism), str(directory)]
        self.start()

    def start(self):
        found = sorted(self.checkpoints(), key=lambda path: path.stat().st_mtime_ns)
        self.process = harness.LineProcess([*self.command, str(found[-1].parent) if found else ""])

    def checkpoints(self):
        """Those that are complete; it keeps the newest."""
        return set(self.directory.glob("**/_metadata"))

    def check_alive(self):
        assert self.process.process.poll() is None, f"it ended\n{self.process.error_text()}"

    def kill(self):
        """kill -9; what it said can still be read."""
        self.process.kill()

    def stop(self):
        """As its operator would: with a savepoint."""
        harness.wait_until(lambda: self.process.call("stop", PATIENCE_S)["ok"], PATIENCE_S,
                           lambda: f"it stops\n{self.process.error_text()}")
        self.process.close()


class Scene:
    """A job, its input, and what must become of that."""

    def __init__(self, broker, tools, unique, directory, naming, parallelism):
        self.broker, self.tools = broker, tools
        self.topics = self.source, self.target = unique("input"), unique("output")
        for topic in self.topics:
            tools("kafka-topics", "--create", "--topic", topic, "--partitions", PARTITIONS).succeeded()
        self.producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "reconnect.backoff.max.ms": 200,
                                  "partitioner": "murmur2_random"})
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 200})
        self.fed = 0
        self.reader = connect.Reader(broker, self.target, PARTITIONS)
        self.prefix = unique("sink")
        self.job = Job(broker, self.topics, self.prefix, naming, parallelism, directory)

    def feed(self, count):
        for value in map(str, range(self.fed, self.fed + count)):
            self.producer.produce(self.source, key=value, value=value)
        assert self.producer.flush(60) == 0
        self.fed += count

    def work(self, commits):
        """Until records were committed so many times."""
        for _ in range(commits):
            self.feed(100)
            self.job.check_alive()
            self.reader.wait_for(self.reader.count + 1, PATIENCE_S, self.job.process.error_text)

    def open_transactions(self):
        """The ids of those that the job has open."""
        listed = self.tools("kafka-transactions", "--bootstrap-server", self.broker.bootstrap, "list").succeeded().lines[1:]
        states = {name: state for name, _, _, state in map(str.split, listed) if name.startswith(self.prefix)}
        return {name for name, state in states.items() if state not in ("Empty", "CompleteCommit", "CompleteAbort")}

    def end(self):
        """Of the output, committed or not: the sum over its partitions."""
        latest = {TopicPartition(self.target, partition): OffsetSpec.latest() for partition in range(PARTITIONS)}
        return sum(found.result(60).offset for found in self.admin.list_offsets(latest).values())

    def kill_in_transaction(self):
        """With records that were written after its last checkpoint. Returns the ids of what is open."""
        def is_in_transaction():
            self.job.check_alive()
            end, checkpoints = self.end(), self.job.checkpoints()
            self.feed(2 * MARKERS)
            harness.wait_until(lambda: self.end() > end + MARKERS, PATIENCE_S, self.job.process.error_text)
            with self.job.process.stopped():
                if self.job.checkpoints() == checkpoints:
                    self.job.kill()
                    return True
            return False
        harness.wait_until(is_in_transaction, PATIENCE_S, self.job.process.error_text)
        opened = self.open_transactions()
        assert opened, self.job.process.error_text()
        return opened

    def kill_before_commit(self, proxy):
        """With a checkpoint whose transactions it has not committed. Returns their ids, as far as it was about to commit them."""
        with proxy.holding(END_TXN):
            self.feed(100)
            prepared = proxy.wait_for_held(PATIENCE_S)
            self.job.kill()
        assert self.open_transactions() >= prepared
        return prepared

    def kill_broker(self):
        self.feed(100)
        self.broker.kill()
        self.broker.restart()

    def wait_for_all(self):
        self.reader.wait_for(self.fed, PATIENCE_S, self.job.process.error_text)

    def check(self):
        """The job ends when it has done all."""
        self.wait_for_all()
        self.job.stop()
        found, fed = read(self.broker, self.target, PARTITIONS), read(self.broker, self.source, PARTITIONS)
        assert found == {partition: [value + "!" for value in values] for partition, values in fed.items()}
        self.wait_until_nothing_is_open()

    def wait_until_nothing_is_open(self):
        harness.wait_until(lambda: not self.open_transactions(), 30, lambda: f"the end of {self.open_transactions()}")

    def written(self):
        """How many records are in the output, committed or not."""
        return sum(map(len, read(self.broker, self.target, PARTITIONS, "read_uncommitted").values()))

    def remove(self):
        if self.job.process.process.poll() is None:
            self.job.kill()
        self.reader.close()


@pytest.fixture(scope="module")
def proxy():
    started = Proxy()
    yield started
    started.close()


@pytest.fixture(scope="module")
def broker(proxy):
    """Clients reach it by the proxy alone."""
    with harness.start_broker({**BROKER_PROPERTIES, "advertised.listeners": f"PLAINTEXT://{proxy.address}"}) as started:
        proxy.target = started.host, started.port
        yield started


@pytest.fixture
def scene(broker, tools, unique, tmp_path):
    """scene(naming) makes one."""
    clients.require("flink")
    made = []

    def make(naming, parallelism=1):
        made.append(Scene(broker, tools, unique, tmp_path, naming, parallelism))
        return made[-1]
    yield make
    for one in made:
        one.remove()


def test_each_record_is_written_once_whatever_is_killed(scene, proxy):
    copy = scene("INCREMENTING")
    copy.work(2)
    left_open, before = copy.kill_in_transaction(), len(proxy.seen())
    copy.job.start()
    copy.work(2)
    copy.kill_broker()
    copy.work(2)
    copy.check()
    assert copy.written() > copy.fed
    # The next job has ended what the killed one left by taking its ids, and has looked for another part of the job.
    taken = {name for api, name in proxy.seen(before) if api == INIT_PRODUCER_ID}
    assert taken & left_open and [name for name in taken if name.startswith(f"{copy.prefix}-1-")], taken


def test_what_was_in_a_checkpoint_is_committed_by_the_next_job(scene, proxy):
    copy = scene("POOLING")
    copy.work(1)
    prepared = copy.kill_before_commit(proxy)
    copy.broker.kill()
    copy.broker.restart()
    before = len(proxy.seen())
    copy.job.start()
    copy.feed(10)
    copy.wait_for_all()
    seen = proxy.seen(before)
    copy.check()
    # It went on with their producers: none was initialised before it was committed.
    for name in prepared:
        assert next(api for api, named in seen if named == name) == END_TXN, seen
    # It asks the broker for what else is open, instead of trying ids.
    assert {LIST_TRANSACTIONS, DESCRIBE_PRODUCERS} <= {api for api, _ in seen}


def test_what_a_job_left_that_does_not_come_back_is_ended_by_its_ids(scene):
    copy = scene("POOLING")
    copy.work(1)
    for name in copy.kill_in_transaction():
        copy.tools("kafka-transactions", "--bootstrap-server", copy.broker.bootstrap, "forceTerminateTransaction",
                   "--transactionalId", name).succeeded()
    copy.wait_until_nothing_is_open()
    # Nobody waits for it any more: what comes behind it is read, and what it wrote is not.
    for partition in range(PARTITIONS):
        copy.producer.produce(copy.target, value="behind", partition=partition)
    assert copy.producer.flush(60) == 0
    found = read(copy.broker, copy.target, PARTITIONS)
    assert {partition: values[-1] for partition, values in found.items()} == dict.fromkeys(range(PARTITIONS), "behind")
    assert copy.written() > sum(map(len, found.values()))


@pytest.mark.long
@pytest.mark.parametrize("naming", ["INCREMENTING", "POOLING"])
def test_each_record_is_written_once_by_two_tasks_whatever_is_killed(scene, proxy, naming):
    copy = scene(naming, 2)
    for number in range(8):
        copy.work(2)
        copy.kill_before_commit(proxy) if number % 2 else copy.kill_in_transaction()
        if number % 4 > 1:
            copy.kill_broker()
        copy.job.start()
        copy.work(1)
        copy.kill_broker()
    copy.check()
    assert copy.written() > copy.fed
