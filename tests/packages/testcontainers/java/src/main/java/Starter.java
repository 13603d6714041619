import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.kafka.ConfluentKafkaContainer;
import org.testcontainers.redpanda.RedpandaContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts the container that the argument names by the library, says where it is, and stops it when standard input ends. */
public class Starter {
    record Choice<C extends GenericContainer<?>>(Supplier<C> make, Function<C, String> address) {
        void run() throws Exception {
            try (C container = make.get()) {
                container.start();
                System.out.println("READY " + address.apply(container).replace("PLAINTEXT://", ""));
                System.in.readAllBytes();
            }
        }
    }

    static DockerImageName image(String version, String instead) {
        return DockerImageName.parse("partita:" + version).asCompatibleSubstituteFor(instead);
    }

    @SuppressWarnings("deprecation")
    static org.testcontainers.containers.KafkaContainer old(String version) {
        return new org.testcontainers.containers.KafkaContainer(image(version, "confluentinc/cp-kafka"));
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] arguments) throws Exception {
        Map.<String, Choice<?>>of(
            "kafka.KafkaContainer",
            new Choice<>(() -> new org.testcontainers.kafka.KafkaContainer(image("4.3.1", "apache/kafka")),
                org.testcontainers.kafka.KafkaContainer::getBootstrapServers),
            "kafka.KafkaContainer withListener",
            new Choice<>(() -> new org.testcontainers.kafka.KafkaContainer(image("4.3.1", "apache/kafka")).withListener("localhost:19092"),
                org.testcontainers.kafka.KafkaContainer::getBootstrapServers),
            "ConfluentKafkaContainer",
            new Choice<>(() -> new ConfluentKafkaContainer(image("8.0.0", "confluentinc/cp-kafka")),
                ConfluentKafkaContainer::getBootstrapServers),
            "containers.KafkaContainer 7.2",
            new Choice<>(() -> old("7.2.0"), org.testcontainers.containers.KafkaContainer::getBootstrapServers),
            "containers.KafkaContainer 7.2 withKraft",
            new Choice<>(() -> old("7.2.0").withKraft(), org.testcontainers.containers.KafkaContainer::getBootstrapServers),
            "containers.KafkaContainer 7.6 withKraft",
            new Choice<>(() -> old("7.6.0").withKraft(), org.testcontainers.containers.KafkaContainer::getBootstrapServers),
            "RedpandaContainer",
            new Choice<>(() -> new RedpandaContainer(image("24.1.1", "redpandadata/redpanda")), RedpandaContainer::getBootstrapServers)
        ).get(arguments[0]).run();
    }
}
