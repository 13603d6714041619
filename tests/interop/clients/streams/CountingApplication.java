import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * A Kafka Streams application that counts the records of each key of a topic, and of each value: it keeps state, so it
 * has changelog topics, and regroups, so it has a repartition topic. Arguments: bootstrap servers, application id, topic.
 * Prints each of its states, and the message of what it dies of; runs until its standard input ends.
 */
final class CountingApplication {
    public static void main(String[] arguments) throws Exception {
        final String topic = arguments[2];
        final Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[1]);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("streams").toString());
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        properties.put("consumer.auto.offset.reset", "earliest");
        properties.put("consumer.metadata.max.age.ms", 500);

        final StreamsBuilder builder = new StreamsBuilder();
        final var records = builder.<String, String>stream(topic);
        records.groupByKey().count(Materialized.as(Stores.inMemoryKeyValueStore("by-key")));
        records.groupBy((key, value) -> value, Grouped.as("value")).count(Materialized.as(Stores.inMemoryKeyValueStore("by-value")));

        final CountDownLatch over = new CountDownLatch(1);
        try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
            streams.setStateListener((now, before) -> {
                say("state " + now);
                if (now == KafkaStreams.State.ERROR) {
                    over.countDown();
                }
            });
            streams.setUncaughtExceptionHandler(error -> {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                say("died " + cause.getMessage());
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            final Thread reader = new Thread(() -> {
                try {
                    while (System.in.read() >= 0) {
                    }
                } catch (java.io.IOException closed) {
                    say("input " + closed.getMessage());
                }
                over.countDown();
            });
            reader.setDaemon(true);
            reader.start();
            over.await();
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
