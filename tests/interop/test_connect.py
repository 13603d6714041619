"""A distributed Kafka Connect worker: lines of a file go into a topic exactly once and from there into a file, whatever is
killed."""

import contextlib
import re

import pytest

import connect
import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "group.min.session.timeout.ms": 1000, "transaction.state.log.num.partitions": 5,
                     "offsets.topic.num.partitions": 5, "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
#: A transaction is one poll of the source, so this many lines; a kill comes with hundreds of transactions still to do.
BATCH_LINES = 8
ROUND_LINES = 2000
#: What is in the topic before the kill.
SEEN_LINES = 200
#: A batch of lines is as long as the source's buffer: what it holds back beyond a batch it forgets until the file grows.
LINE_BYTES = 1024 // BATCH_LINES

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Pipeline:
    """A worker with a source that reads source.txt into a topic, and a sink that writes the topic to sink.txt."""

    def __init__(self, broker, directory, group):
        self.source_file, self.sink_file = directory / "source.txt", directory / "sink.txt"
        self.source_file.touch()
        self.topic = f"{group}-lines"
        self.lines = []
        self.broker = broker
        self.worker = connect.Worker(broker, directory, group)
        self.reader = None

    @contextlib.contextmanager
    def running(self):
        with self.worker:
            self.append(ROUND_LINES)
            # The source makes its topic, as the worker's producers may.
            self.worker.run_connector("source", **{
                "connector.class": "FileStreamSource", "tasks.max": "1", "file": str(self.source_file), "topic": self.topic,
                "batch.size": str(BATCH_LINES), "exactly.once.support": "required", "transaction.boundary": "poll",
                "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"})
            self.worker.run_connector("sink", **{"connector.class": "FileStreamSink", "tasks.max": "1",
                                                 "file": str(self.sink_file), "topics": self.topic})
            self.reader = connect.Reader(self.broker, self.topic)
            yield self
            self.reader.close()

    def append(self, count):
        new = [f"line-{number:06}".ljust(LINE_BYTES - 1, ".") for number in range(len(self.lines), len(self.lines) + count)]
        with open(self.source_file, "a") as file:
            file.writelines(line + "\n" for line in new)
        self.lines += new

    def wait_amid_the_work(self):
        """Gives the source something to do, and returns when it has done a part of it."""
        if len(self.lines) - self.reader.count < ROUND_LINES // 2:
            self.append(ROUND_LINES)
        self.wait_for(self.reader.count + SEEN_LINES)

    def wait_for(self, count):
        self.reader.wait_for(count, told=lambda: f"{self.worker.task_states('source')}\n{self.worker.log_text()}")

    def kill_the_worker(self):
        self.worker.kill()
        self.worker.start()

    def kill_the_broker(self):
        self.broker.kill()
        self.broker.restart()

    def sunk(self):
        """The lines in the sink's file. Of one that was torn by a kill the end is missing, and the next follows at once."""
        return re.findall(rf"line-[0-9.]{{{LINE_BYTES - 6}}}", self.sink_file.read_text())

    def check(self):
        self.wait_for(len(self.lines))
        everything = connect.Reader(self.broker, self.topic)
        everything.wait_for(len(self.lines))
        # Behind a last line there is nothing that a late transaction could still bring.
        self.append(1)
        for reader in (everything, self.reader):
            reader.wait_for(len(self.lines))
            assert reader.found[0] == self.lines, "every line once, in order"
        everything.close()
        harness.wait_until(lambda: self.lines[-1] in self.sunk(), 60, lambda: f"the sink has it all\n{self.worker.log_text()}")
        assert list(dict.fromkeys(self.sunk())) == self.lines, "every line at least once, first in order"


def test_every_line_arrives_exactly_once_though_worker_and_broker_are_killed(broker, unique, tmp_path):
    with Pipeline(broker, tmp_path, unique("worker")).running() as pipeline:
        pipeline.wait_amid_the_work()
        pipeline.kill_the_worker()
        pipeline.wait_amid_the_work()
        pipeline.kill_the_broker()
        pipeline.check()


# Apache Kafka 4.3.1 itself was seen to stop for good after one of these kills of it.
@pytest.mark.skipif(harness.TARGET != "partita", reason="not every kill of a broker is survived elsewhere")
@pytest.mark.long
def test_every_line_arrives_exactly_once_through_many_kills(broker, unique, tmp_path):
    with Pipeline(broker, tmp_path, unique("worker")).running() as pipeline:
        for _ in range(4):
            for kill in (pipeline.kill_the_broker, pipeline.kill_the_worker, pipeline.kill_the_broker):
                pipeline.wait_amid_the_work()
                kill()
        pipeline.check()
