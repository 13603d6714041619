import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A producer that writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged. */
final class Stream extends Thread {
    /** Bounds what a stream may hold; a test never comes near it. */
    private static final int MAXIMUM_RECORDS = 1_000_000;
    private static final long MAXIMUM_BACKOFF_MS = 30_000;

    private final String name;
    private final String topic;
    private final int keys;
    private final Integer partition;
    private final long intervalUs;
    private final String padding;
    private final int attempts;
    private final long backoffMs;
    private final KafkaProducer<byte[], byte[]> producer;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    // Guarded by this: callbacks come from the thread of the producer, and from those that send.
    /** Records of which it is not known yet what becomes of them. */
    private int undecided = 0;
    private final Set<Integer> partitionsSeen = new HashSet<>();
    private final ArrayNode acked = Agent.JSON.createArrayNode();
    private final ArrayNode failed = Agent.JSON.createArrayNode();
    private final ArrayNode again = Agent.JSON.createArrayNode();

    Stream(JsonNode request) {
        name = Agent.text(request, "name");
        topic = Agent.text(request, "topic");
        keys = request.path("keys").asInt(97);
        partition = request.has("partition") ? (Integer) request.get("partition").asInt() : null;
        intervalUs = request.path("interval_us").asLong(2000);
        padding = "v".repeat(request.path("value_bytes").asInt(0));
        attempts = request.path("attempts").asInt(1);
        backoffMs = request.path("backoff_ms").asLong(1000);
        producer = Agent.producer(request);
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            for (int n = 0; n < MAXIMUM_RECORDS && !stop.await(intervalUs, TimeUnit.MICROSECONDS); ++n) {
                begin(n);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void begin(int n) {
        synchronized (this) {
            ++undecided;
        }
        send(n, 1);
    }

    private void send(int n, int attempt) {
        byte[] key = keys == 0 ? null : ("k" + n % keys).getBytes(StandardCharsets.UTF_8);
        String value = padding.isEmpty() ? String.valueOf(n) : n + " " + padding;
        producer.send(new ProducerRecord<>(topic, partition, key, value.getBytes(StandardCharsets.UTF_8)), (metadata, error) -> {
            if (error == null) {
                acknowledged(n, metadata.partition(), metadata.offset());
            } else {
                refused(n, attempt, error);
            }
        });
    }

    private synchronized void acknowledged(int n, int where, long offset) {
        acked.addArray().add(n).add(where).add(offset);
        boolean first = partitionsSeen.add(where);
        if (first || acked.size() % 1000 == 0) {
            ObjectNode event = Agent.JSON.createObjectNode().put("stream", name);
            event.put("event", first ? "partition" : "progress");
            Agent.emit(event.put("partition", where).put("acked", acked.size()));
        }
        decided();
    }

    private synchronized void refused(int n, int attempt, Exception error) {
        String type = error.getClass().getSimpleName();
        if (attempt < attempts) {
            again.addArray().add(n).add(type);
            long waitMs = Math.min(backoffMs << Math.min(attempt - 1, 20), MAXIMUM_BACKOFF_MS);
            timer.schedule(() -> send(n, attempt + 1), waitMs, TimeUnit.MILLISECONDS);
            return;
        }
        failed.addArray().add(n).add(String.valueOf(error.getMessage())).add(type);
        decided();
    }

    private synchronized void decided() {
        --undecided;
        notifyAll();
    }

    void finish(ObjectNode reply) throws InterruptedException {
        stop.countDown();
        join();
        producer.flush();
        synchronized (this) {
            while (undecided > 0) wait();
        }
        timer.shutdown();
        producer.close();
        reply.set("acked", acked);
        reply.set("failed", failed);
        reply.set("again", again);
    }
}
