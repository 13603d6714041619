"""protobuf_client produce|consume REGISTRY BOOTSTRAP TOPIC COUNT: confluent-kafka's own Protobuf serializer and deserializer.

Writes orders 0 to COUNT - 1, or reads COUNT of them from the beginning and prints them as one line of JSON."""

import json
import sys
import warnings

warnings.simplefilter("ignore")  # What it imports warns of its own imports.

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition  # noqa: E402
from confluent_kafka.schema_registry import SchemaRegistryClient  # noqa: E402
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory  # noqa: E402

what, registry, bootstrap, topic, count = sys.argv[1:]
file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
order = file.message_type.add(name="Order")
order.field.add(name="id", number=1, type="TYPE_INT64", label="LABEL_OPTIONAL", json_name="id")
order.field.add(name="item", number=2, type="TYPE_STRING", label="LABEL_OPTIONAL", json_name="item")
Order = message_factory.GetMessageClass(descriptor_pool.Default().AddSerializedFile(file.SerializeToString()).message_types_by_name["Order"])

client, context = SchemaRegistryClient({"url": registry}), SerializationContext(topic, MessageField.VALUE)
if what == "produce":
    serialize, producer = ProtobufSerializer(Order, client, {"use.deprecated.format": False}), Producer({"bootstrap.servers": bootstrap})
    for number in range(int(count)):
        producer.produce(topic, value=serialize(Order(id=number, item=f"item-{number}"), context))
    assert producer.flush(30) == 0
else:
    deserialize = ProtobufDeserializer(Order, {"use.deprecated.format": False}, client)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    orders = []
    while len(orders) < int(count):
        message = consumer.poll(30)
        assert message is not None and message.error() is None, f"{message} after {len(orders)}"
        orders.append(json_format.MessageToDict(deserialize(message.value(), context), preserving_proto_field_name=True))
    print(json.dumps(orders))
