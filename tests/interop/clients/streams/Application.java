import java.io.IOException;
import java.nio.file.Files;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * What the applications here have in common. Arguments: bootstrap servers, application id, topics with commas between
 * them, and any number of settings of Kafka Streams as name=value. Says, in a line each: its states, how many records it
 * has processed, how many of which changelog it has restored, and the message of what it dies of. Runs until its standard
 * input ends.
 */
final class Application {
    private final AtomicLong processed = new AtomicLong();
    private final String[] arguments;

    Application(String[] arguments) {
        this.arguments = arguments;
    }

    String topic(int place) {
        return arguments[2].split(",")[place];
    }

    /** A topology calls this for each of the records that it reads. */
    void processed() {
        say("processed " + processed.incrementAndGet());
    }

    void run(StreamsBuilder builder) throws IOException, InterruptedException {
        run(builder, streams -> { });
    }

    /** `prepare` sees the application before it starts. */
    void run(StreamsBuilder builder, Consumer<KafkaStreams> prepare) throws IOException, InterruptedException {
        final CountDownLatch over = new CountDownLatch(1);
        final Properties properties = properties();
        try (KafkaStreams streams = new KafkaStreams(builder.build(properties), properties)) {
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
            streams.setGlobalStateRestoreListener(new Restoring());
            prepare.accept(streams);
            streams.start();
            final Thread reader = new Thread(() -> {
                try {
                    while (System.in.read() >= 0) {
                    }
                } catch (IOException closed) {
                    say("input " + closed.getMessage());
                }
                over.countDown();
            });
            reader.setDaemon(true);
            reader.start();
            over.await();
        }
    }

    private Properties properties() throws IOException {
        final Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[1]);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("streams").toString());
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        properties.put("consumer.auto.offset.reset", "earliest");
        properties.put("consumer.metadata.max.age.ms", 500);
        for (int place = 3; place < arguments.length; ++place) {
            final String[] setting = arguments[place].split("=", 2);
            properties.put(setting[0], setting[1]);
        }
        return properties;
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static final class Restoring implements StateRestoreListener {
        @Override
        public void onRestoreStart(TopicPartition changelog, String store, long start, long end) {
        }

        @Override
        public void onBatchRestored(TopicPartition changelog, String store, long end, long count) {
        }

        @Override
        public void onRestoreEnd(TopicPartition changelog, String store, long total) {
            say("restored " + changelog + " " + total);
        }
    }
}
