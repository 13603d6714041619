"""A topic's writer, and what its records tell an application: their order, by key."""

import confluent_kafka


class Writer:
    """Writes records whose value is their number; key and order of each follow from it."""

    def __init__(self, broker, topic, keys):
        self.broker = broker
        self.topic = topic
        self.keys = keys
        self.written = 0
        #: The first producer. It does not ask for metadata again.
        self.first = None

    def key_of(self, number):
        return f"key-{number * 7919 % self.keys}"

    def write(self, count):
        """By a producer of its own, which knows the present count."""
        producer = confluent_kafka.Producer({"bootstrap.servers": self.broker.bootstrap, "partitioner": "murmur2_random",
                                             "queue.buffering.max.messages": 1_000_000,
                                             "topic.metadata.refresh.interval.ms": 3_600_000})
        self.first = self.first or producer
        self.write_by(producer, count)

    def write_late(self, count):
        """By the first producer, which knows the count of its time."""
        self.write_by(self.first, count)

    def write_by(self, producer, count):
        for number in range(self.written, self.written + count):
            producer.produce(self.topic, key=self.key_of(number), value=str(number))
        self.written += count
        assert producer.flush(60) == 0

    def ends(self):
        """By partition, where its log ends."""
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": "nobody"})
        partitions = consumer.list_topics(self.topic, 30).topics[self.topic].partitions
        ends = {partition: consumer.get_watermark_offsets(confluent_kafka.TopicPartition(self.topic, partition), 30)[1]
                for partition in partitions}
        consumer.close()
        return ends

    def wrong_keys(self, numbers):
        """Keys with a newer record that came before an older one came for the first time."""
        seen, newest, wrong = set(), {}, set()
        for number in numbers:
            if number in seen:
                continue
            seen.add(number)
            key = self.key_of(number)
            if newest.get(key, -1) > number:
                wrong.add(key)
            newest[key] = max(newest.get(key, -1), number)
        return wrong
