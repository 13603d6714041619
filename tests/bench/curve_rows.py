"""Costs against what there may be more of: the same load at several sizes. A figure's name ends with the size, as in
`mb_per_s@65536`. The curves are drawn, not judged."""

from rows import Replay

SHARE = 0.3  # of a row's load, for one point


class Curve(Replay):
    rivals = False
    x_label = ""
    sizes = ()
    y = (("mb_per_s", "MB/s", "more"), ("cpu_s_per_gb", "cpu-s/GB", "less"))

    @property
    def figures(self):
        return tuple((f"{figure}@{size}", unit, better) for figure, unit, better in self.y for size in self.sizes)

    def sizes_of(self, session):
        return self.sizes

    def load(self, size):
        """(partitions of the topic, options of the replay client)"""
        raise NotImplementedError

    def measure(self, session, bench):
        figures = {}
        for size in self.sizes_of(session):
            partitions, options = self.load(size)
            name = f"{self.name}-{bench.next_number()}"
            session.create_topic(name, partitions)
            megabytes = max(20, int(bench.scale.megabytes * SHARE))
            found = self.replay(session, bench, name, "produce", partitions=partitions, megabytes=megabytes,
                                touch_megabytes=3 * megabytes if bench.scale.touch else 0, **options)
            session.delete_topic(name)
            figures |= {f"{figure}@{size}": found[figure] for figure, *_ in self.y}
        return figures


class BatchCurve(Curve):
    name = "curve-batches"
    text = "produce 1 KB records, by bytes of a batch"
    x_label = "bytes of a batch"
    sizes = (1200, 4096, 16384, 65536, 262144, 1_000_000)

    def load(self, size):
        return 1, {"batch_bytes": size, "record_bytes": min(1024, size - 100)}


class PartitionCurve(Curve):
    name = "curve-partitions"
    text = "produce 1 KB records in 16 KiB batches, by partitions"
    x_label = "partitions"
    sizes = (1, 10, 100, 1000)

    def sizes_of(self, session):
        # The limit program has a hundred, and Kafka needs long to make more.
        return [size for size in self.sizes if session.contender.name == "B" or size <= 100]

    def load(self, size):
        return size, {"batch_bytes": 16384}


class ConnectionCurve(Curve):
    name = "curve-connections"
    text = "produce 1 KB records in 16 KiB batches, one in flight, by producers"
    x_label = "producers"
    sizes = (1, 10, 100, 500)

    def load(self, size):
        return 1, {"batch_bytes": 16384, "connections": size, "in_flight": 1}


ROWS = [BatchCurve(), PartitionCurve(), ConnectionCurve()]
