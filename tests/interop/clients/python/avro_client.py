"""avro_client produce|consume REGISTRY BOOTSTRAP TOPIC COUNT: confluent-kafka's own Avro serializer and deserializer.

Writes orders 0 to COUNT - 1, or reads COUNT of them from the beginning and prints them as one line of JSON."""

import json
import sys
import warnings

warnings.simplefilter("ignore")  # What it imports warns of its own imports.

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition  # noqa: E402
from confluent_kafka.schema_registry import SchemaRegistryClient  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

SCHEMA = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
                                                                   {"name": "item", "type": "string"}]})

what, registry, bootstrap, topic, count = sys.argv[1:]
client, context = SchemaRegistryClient({"url": registry}), SerializationContext(topic, MessageField.VALUE)
if what == "produce":
    serialize, producer = AvroSerializer(client, SCHEMA), Producer({"bootstrap.servers": bootstrap})
    for number in range(int(count)):
        producer.produce(topic, value=serialize({"id": number, "item": f"item-{number}"}, context))
    assert producer.flush(30) == 0
else:
    deserialize = AvroDeserializer(client)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    orders = []
    while len(orders) < int(count):
        message = consumer.poll(30)
        assert message is not None and message.error() is None, f"{message} after {len(orders)}"
        orders.append(deserialize(message.value(), context))
    print(json.dumps(orders))
