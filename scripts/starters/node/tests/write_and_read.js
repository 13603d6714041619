import kafkajs from "kafkajs";

/// Writes a record, reads it in a group, and returns the topic's partition count.
export async function writeAndRead(server) {
  const kafka = new kafkajs.Kafka({ brokers: [server], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer();
  const consumer = kafka.consumer({ groupId: "g" });
  const admin = kafka.admin();
  try {
    await Promise.all([producer.connect(), consumer.connect(), admin.connect()]);
    await producer.send({ topic: "orders", messages: [{ value: "one" }] });
    await consumer.subscribe({ topic: "orders", fromBeginning: true });
    const value = await new Promise((resolve, reject) => {
      consumer.run({ eachMessage: async ({ message }) => resolve(message.value.toString()) }).catch(reject);
    });
    const { topics } = await admin.fetchTopicMetadata({ topics: ["orders"] });
    return { value, partitions: topics[0].partitions.length };
  } finally {
    await Promise.all([producer.disconnect(), consumer.disconnect(), admin.disconnect()]);
  }
}
