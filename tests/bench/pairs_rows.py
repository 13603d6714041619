"""Two consumers of a new group that start together: until both own partitions. The clients have their defaults; what they wait
for is the coordinator's first rebalance, and, who misses it, the other one's next heartbeat."""

import json
import statistics
import subprocess

from contenders import HERE, harness
from rows import Row

PARTITIONS = 4
GAPS_MS = (0.2, 1, 2)
TIMEOUT_S = 900
# A member that joins by heartbeats gets its share 5 to 10 s later, whoever serves it: few of them tell as much.
SLOWER_BY_HEARTBEATS = 3
ALONE = "alone"


class JavaPairs:
    name = "java"

    def command(self):
        # Compiled by the launcher before its clock begins.
        return ["java", "-Xmx256m", "-cp", (harness.TOOLS / "classpath").read_text(), HERE / "users" / "PairStart.java"]


class LibrdkafkaPairs:
    """The newest, which knows both protocols, as confluent-kafka brings it."""

    name = "librdkafka"

    def command(self):
        return [harness.TOOLS / "venv" / "bin" / "python", "-B", HERE / "users" / "rdkafka_pairs.py"]


class Pairs(Row):
    figures = (*((f"apart_{gap}ms_ms", "ms, mean", "less") for gap in GAPS_MS), ("alone_ms", "ms, median", "less"))
    contenders = ("K", "B")
    rivals = False

    def __init__(self, client, protocol):
        self.client, self.protocol = client, protocol
        self.name = f"pairs-{client.name}-{protocol}"
        self.text = (f"two {client.name} consumers of a new group (group.protocol={protocol}), started so far apart, until both own "
                     "partitions; and one alone")
        # Who misses the first rebalance waits for seconds: within a millisecond that should not happen here more often than there.
        self.bars = tuple((f"apart_{gap}ms_ms", "K", 1) for gap in GAPS_MS[:2]) if protocol == "classic" else ()

    def measure(self, session, bench):
        topic = f"{self.name}-{bench.next_number()}"
        session.create_topic(topic, PARTITIONS)
        pairs = bench.scale.pairs if self.protocol == "classic" else bench.scale.pairs // SLOWER_BY_HEARTBEATS
        command = [*self.client.command(), f"127.0.0.1:{session.port}", self.protocol, topic, str(pairs), *map(str, GAPS_MS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} against {session.contender.name}: {done.stderr[-2000:]}\n{session.log_text()}")
        times = json.loads(done.stdout)
        session.delete_topic(topic)
        return {f"apart_{gap}ms_ms": statistics.mean(times[str(gap)]) for gap in GAPS_MS} | {"alone_ms": statistics.median(times[ALONE])}


ROWS = [Pairs(client, protocol) for client in (JavaPairs(), LibrdkafkaPairs()) for protocol in ("classic", "consumer")]
