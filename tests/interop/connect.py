"""Kafka Connect and MirrorMaker 2 as processes that can be killed, and readers of what they wrote."""

import collections
import json
import subprocess
import urllib.error
import urllib.request

import confluent_kafka

import harness

#: A JVM with Connect starts within seconds, and within minutes where others have the processors.
START_S = 240
TRANSACTION_TIMEOUT_MS = 10_000


JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx400m"]


class Program:
    """A process with a log that can be killed and started again."""

    def __init__(self, directory, name, command, environment=None):
        self.command, self.environment, self.log_path = command, environment, directory / f"{name}.log"
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment)

    def kill(self):
        """kill -9: no goodbye to anybody."""
        self.process.kill()
        self.process.wait()

    def check_alive(self):
        assert self.process.poll() is None, f"it ended with {self.process.returncode}\n{self.log_text()}"

    def log_text(self):
        return self.log_path.read_text(errors="replace")[-6000:]


class JavaProgram(Program):
    """A main class of Connect's jars with a file of properties, in a JVM of its own."""

    def __init__(self, main_class, directory, name, properties):
        configuration = directory / f"{name}.properties"
        configuration.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        super().__init__(directory, name, [
            *JAVA, f"-Dlog4j2.configurationFile={harness.HERE / 'clients' / 'log4j2.properties'}",
            "-cp", f"{harness.TOOLS / 'connect'}/*", main_class, str(configuration)])


class Worker(JavaProgram):
    """A distributed Connect worker whose sources are exactly once; values are strings."""

    def __init__(self, broker, directory, group):
        self.address = f"http://127.0.0.1:{harness.free_port()}"
        super().__init__("org.apache.kafka.connect.cli.ConnectDistributed", directory, group, {
            "bootstrap.servers": broker.bootstrap, "group.id": group, "listeners": self.address,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "exactly.once.source.support": "enabled", "consumer.isolation.level": "read_committed",
            **{f"{kind}.storage.{what}": value for kind in ("config", "offset", "status")
               for what, value in (("topic", f"{group}-{kind}"), ("replication.factor", 1))},
            "offset.storage.partitions": 2, "status.storage.partitions": 1, "offset.flush.interval.ms": 500,
            "plugin.discovery": "service_load", "scheduled.rebalance.max.delay.ms": 0,
            # A killed worker and its readers are soon known to be gone, and so is the transaction it had open: the next one reads the
            # topic of offsets to its end before it fences anybody.
            "producer.transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "session.timeout.ms": 3000, "heartbeat.interval.ms": 500, "consumer.session.timeout.ms": 3000,
            "consumer.heartbeat.interval.ms": 500,
            **{f"{client}reconnect.backoff.max.ms": 200 for client in ("", "producer.", "consumer.", "admin.")}})

    def start(self):
        super().start()
        harness.wait_until(self._is_healthy, START_S, lambda: f"the worker is healthy\n{self.log_text()}")

    def _is_healthy(self):
        self.check_alive()
        try:
            return self.ask("health", seconds=30)["status"] == "healthy"
        except (urllib.error.URLError, OSError):
            return False  # Nobody listens yet, or the worker has not read its topics yet (503).

    def ask(self, path, method="GET", body=None, seconds=30):
        request = urllib.request.Request(f"{self.address}/{path}", method=method, data=body and json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.load(answer)

    def run_connector(self, name, **configuration):
        """Creates a connector and waits until its task runs."""
        def is_taken():
            try:
                return self.ask(f"connectors/{name}/config", "PUT", configuration)
            except urllib.error.HTTPError as refused:
                assert refused.code == 409, refused.read().decode()  # Its group is being rebalanced: try again.
        harness.wait_until(is_taken, 60, f"the worker takes {name}")
        harness.wait_until(lambda: self.task_states(name) == ["RUNNING"], 60,
                           lambda: f"{name} runs: {self.ask(f'connectors/{name}/status')}\n{self.log_text()}")

    def task_states(self, name):
        try:
            return [task["state"] for task in self.ask(f"connectors/{name}/status")["tasks"]]
        except urllib.error.HTTPError as unknown:
            assert unknown.code == 404, unknown.read().decode()
            return []


class Reader:
    """All that a reader of committed records is given of a topic, by partition, from its beginning on."""

    def __init__(self, broker, topic, partitions=1):
        self.found = {partition: [] for partition in range(partitions)}
        #: Behind the last record of each partition.
        self.ends = dict.fromkeys(self.found, 0)
        self.consumer = confluent_kafka.Consumer({
            "bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 200, "group.id": "unused", "fetch.wait.max.ms": 50,
            "enable.auto.commit": False, "isolation.level": "read_committed"})
        self.consumer.assign([confluent_kafka.TopicPartition(topic, partition, confluent_kafka.OFFSET_BEGINNING)
                              for partition in range(partitions)])

    @property
    def count(self):
        return sum(map(len, self.found.values()))

    def wait_for(self, count, seconds=240, told=lambda: ""):
        """Reads until it has so many records."""
        def has_them():
            for message in self.consumer.consume(500, 0.05):
                if message.error() is None:
                    self.found[message.partition()].append(message.value().decode())
                    self.ends[message.partition()] = message.offset() + 1
            return self.count >= count
        harness.wait_until(has_them, seconds, lambda: f"{count} records, of which {self.count} are here\n{told()}")

    def close(self):
        self.consumer.close()


def read(broker, topic, partitions=1, isolation="read_committed"):
    """All values of the topic that such a reader sees, by partition, in their order."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 200, "group.id": "unused",
                                         "enable.auto.commit": False, "fetch.wait.max.ms": 100, "isolation.level": isolation,
                                         "enable.partition.eof": True})
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, confluent_kafka.OFFSET_BEGINNING)
                     for partition in range(partitions)])
    found, ended = collections.defaultdict(list), set()
    while len(ended) < partitions:
        message = consumer.poll(30)
        assert message is not None, f"nothing more of {topic}, of which {sorted(ended)} have ended"
        if message.error() is not None:
            ended.add(message.partition())
        else:
            found[message.partition()].append(message.value().decode())
    consumer.close()
    return dict(found)
