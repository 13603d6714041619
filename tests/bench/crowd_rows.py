"""Topics that grow on a broker with a crowd on it: how long the request takes, and what others notice."""

import crowd
from rows import Row


class GrowingInACrowd(Row):
    figures = (("produce_beside_p99_ms", "ms", "less"), ("produce_longer_ms", "ms", "less"), ("create_partitions_median_ms", "ms", "less"),
               ("create_partitions_max_ms", "ms", "less"), ("idle_share", "of a core", "less"))
    # Joining thousands of groups takes hours where each waits for three seconds first.
    contenders = ("B",)
    rivals = False
    bars = (("create_partitions_median_ms", None, 50), ("produce_longer_ms", None, 10), ("idle_share", None, 0.015))

    def __init__(self, mode, growths=20):
        self.name = f"expansion-crowd-{mode}"
        self.text = f"a topic grows (mode {mode}) among 2,000 of one count, read by 2,000 groups that subscribe to 300 each"
        self.mode, self.growths = mode, growths

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            crowded = crowd.Crowd(fresh.port, topics=2000, groups=2000, subscribed=300, mode=self.mode)
            return crowded.measure(self.growths, at_once=1, pid=fresh.pid)


ROWS = [GrowingInACrowd("faithful"), GrowingInACrowd("safe-offsets")]
