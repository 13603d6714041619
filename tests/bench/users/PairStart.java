import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * PairStart BOOTSTRAP PROTOCOL TOPIC PAIRS GAP_MS...: two consumers of a new group start GAP_MS apart; how long until both own
 * partitions, in ms from the first one's start. Prints {"GAP_MS": [ms, ...], ..., "alone": [ms, ...]}; ends with 1 when a consumer is
 * given nothing.
 */
public final class PairStart {
    private static final int WARM_UPS = 3;
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final long READY_NS = 3_000_000L;
    private static final Duration POLL = Duration.ofMillis(20);

    private final String bootstrap;
    private final String protocol;
    private final String topic;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private PairStart(String bootstrap, String protocol, String topic) {
        this.bootstrap = bootstrap;
        this.protocol = protocol;
        this.topic = topic;
    }

    private Consumer<byte[], byte[]> consumer(String group) {
        Consumer<byte[], byte[]> consumer = new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap, "group.id", group, "group.protocol", protocol, "auto.offset.reset", "earliest"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    /** Goes on polling, as the other one's share depends on it, until all own something. Returns when this one did. */
    private static long ownedAt(Consumer<byte[], byte[]> consumer, long startNs, CountDownLatch owners) {
        while (System.nanoTime() < startNs) {
            Thread.onSpinWait();
        }
        long owned = 0;
        while (owners.getCount() > 0) {
            consumer.poll(POLL);
            if (owned == 0 && !consumer.assignment().isEmpty()) {
                owned = System.nanoTime();
                owners.countDown();
            }
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                throw new IllegalStateException("a consumer was given nothing");
            }
        }
        return owned;
    }

    private double startTogether(int count, double gapMs) throws Exception {
        String group = "pair-" + UUID.randomUUID();
        List<Consumer<byte[], byte[]>> consumers = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            consumers.add(consumer(group));
        }
        CountDownLatch owners = new CountDownLatch(count);
        long start = System.nanoTime() + READY_NS;
        List<Future<Long>> running = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            Consumer<byte[], byte[]> consumer = consumers.get(i);
            long mine = start + (long) (i * gapMs * 1e6);
            running.add(threads.submit(() -> ownedAt(consumer, mine, owners)));
        }
        long last = start;
        for (Future<Long> each : running) {
            last = Math.max(last, each.get());
        }
        for (Consumer<byte[], byte[]> consumer : consumers) {
            consumer.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
        }
        return (last - start) / 1e6;
    }

    private String figures(String name, int times, int count, double gapMs) throws Exception {
        List<Double> took = new ArrayList<>();
        for (int i = 0; i < times; ++i) {
            took.add(startTogether(count, gapMs));
        }
        return "\"" + name + "\": [" + took.stream().map(ms -> String.format("%.3f", ms)).collect(Collectors.joining(", ")) + "]";
    }

    public static void main(String[] arguments) {
        try {
            PairStart pairs = new PairStart(arguments[0], arguments[1], arguments[2]);
            int times = Integer.parseInt(arguments[3]);
            for (int i = 0; i < WARM_UPS; ++i) {
                pairs.startTogether(1, 0);
            }
            List<String> figures = new ArrayList<>();
            for (int i = 4; i < arguments.length; ++i) {
                figures.add(pairs.figures(arguments[i], times, 2, Double.parseDouble(arguments[i])));
            }
            figures.add(pairs.figures("alone", times, 1, 0));
            System.out.println("{" + String.join(", ", figures) + "}");
            System.exit(0);
        } catch (Exception failed) {
            failed.printStackTrace();
            System.exit(1);
        }
    }
}
