// Starts the container of the argument with the library, prints its address, and stops it when standard input ends.
import { KafkaContainer } from "@testcontainers/kafka";
import { RedpandaContainer } from "@testcontainers/redpanda";

const make = {
  "KafkaContainer 8": () => new KafkaContainer("partita:8.0.0"),
  "KafkaContainer 7.2": () => new KafkaContainer("partita:7.2.0"),
  "KafkaContainer 7.2 withKraft": () => new KafkaContainer("partita:7.2.0").withKraft(),
  RedpandaContainer: () => new RedpandaContainer("partita:8.0.0"),
};
const name = process.argv[2];
const container = await make[name]().start();
const address =
  name === "RedpandaContainer" ? container.getBootstrapServers() : `${container.getHost()}:${container.getMappedPort(9093)}`;
console.log("READY", address);
process.stdin.on("end", async () => {
  await container.stop();
  process.exit(0);
});
process.stdin.resume();
