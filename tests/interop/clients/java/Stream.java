import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A producer that writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged. */
final class Stream extends Thread {
    /** Bounds what a stream may hold; a test never comes near it. */
    private static final int MAXIMUM_RECORDS = 1_000_000;

    private final String name;
    private final String topic;
    private final int keys;
    private final long intervalUs;
    private final KafkaProducer<byte[], byte[]> producer;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Set<Integer> partitionsSeen = new HashSet<>();
    private final ArrayNode acked = Agent.JSON.createArrayNode();
    private final ArrayNode failed = Agent.JSON.createArrayNode();

    Stream(JsonNode request) {
        name = Agent.text(request, "name");
        topic = Agent.text(request, "topic");
        keys = request.path("keys").asInt(97);
        intervalUs = request.path("interval_us").asLong(2000);
        producer = Agent.producer(request);
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            for (int n = 0; n < MAXIMUM_RECORDS && !stop.await(intervalUs, TimeUnit.MICROSECONDS); ++n) {
                send(n);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send(int n) {
        byte[] key = ("k" + n % keys).getBytes(StandardCharsets.UTF_8);
        byte[] value = String.valueOf(n).getBytes(StandardCharsets.UTF_8);
        producer.send(new ProducerRecord<>(topic, key, value), (metadata, error) -> {
            if (error != null) {
                failed.addArray().add(n).add(String.valueOf(error.getMessage()));
                return;
            }
            acked.addArray().add(n).add(metadata.partition()).add(metadata.offset());
            boolean first = partitionsSeen.add(metadata.partition());
            if (first || acked.size() % 1000 == 0) {
                ObjectNode event = Agent.JSON.createObjectNode().put("stream", name);
                event.put("event", first ? "partition" : "progress");
                Agent.emit(event.put("partition", metadata.partition()).put("acked", acked.size()));
            }
        });
    }

    void finish(ObjectNode reply) throws InterruptedException {
        stop.countDown();
        join();
        producer.flush();
        producer.close();
        reply.set("acked", acked);
        reply.set("failed", failed);
    }
}
