import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;

/** One member of a group on its own thread: reports every record once it has it, then commits it. */
final class Member extends Thread implements ConsumerRebalanceListener {
    private final String name;
    private final List<String> topics;
    /** What it reads without a group; empty of a member that is one. */
    private final List<TopicPartition> direct = new ArrayList<>();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Set<TopicPartition> owned = new HashSet<>();
    private final Map<TopicPartition, OffsetAndMetadata> uncommitted = new HashMap<>();
    private volatile boolean stopping;

    Member(JsonNode request) {
        name = Agent.text(request, "name");
        topics = List.of(Agent.text(request, "topic"));
        request.path("assign").forEach(p -> direct.add(new TopicPartition(topics.get(0), p.asInt())));
        consumer = Agent.consumer(request);
        setDaemon(true);
    }

    void finish() throws InterruptedException {
        stopping = true;
        consumer.wakeup();
        join();
    }

    @Override
    public void run() {
        try {
            if (direct.isEmpty()) {
                consumer.subscribe(topics, this);
            } else {
                consumer.assign(direct);
            }
            while (!stopping) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    ObjectNode event = Agent.describe(record);
                    event.put("member", name).put("event", "record").put("at_ns", System.nanoTime());
                    Agent.emit(event);
                    uncommitted.put(new TopicPartition(record.topic(), record.partition()),
                                    new OffsetAndMetadata(record.offset() + 1));
                }
                commit();
            }
        } catch (WakeupException e) {
            // finish() interrupted a poll; nothing was lost by it.
        } catch (Throwable e) {
            ObjectNode event = Agent.JSON.createObjectNode().put("member", name).put("event", "failed");
            Agent.fail(event, e);
            Agent.emit(event);
        } finally {
            close();
        }
    }

    private void close() {
        try {
            consumer.close();
        } catch (WakeupException e) {
            consumer.close();
        }
        Agent.emit(Agent.JSON.createObjectNode().put("member", name).put("event", "closed"));
    }

    private void commit() {
        if (uncommitted.isEmpty() || !direct.isEmpty()) return;
        try {
            consumer.commitSync(uncommitted);
            uncommitted.clear();
        } catch (RebalanceInProgressException e) {
            // Kept for the next round: the client asks for a poll that completes the rebalance first.
        } catch (CommitFailedException e) {
            // The group went on without this member, or, before 2.4, began a rebalance; others may read this again.
            ObjectNode event = Agent.JSON.createObjectNode().put("member", name).put("event", "commit_failed");
            Agent.partitions(event.putArray("partitions"), uncommitted.keySet());
            event.put("message", e.getMessage());
            Agent.emit(event);
            uncommitted.clear();
        } catch (WakeupException e) {
            consumer.commitSync(uncommitted);
            uncommitted.clear();
        }
    }

    private void report(String change) {
        ObjectNode event = Agent.JSON.createObjectNode().put("member", name).put("event", "owned");
        event.put("change", change);
        Agent.partitions(event.putArray("partitions"), owned);
        Agent.emit(event);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        owned.addAll(partitions);
        report("assigned");
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commit();
        partitions.forEach(uncommitted::remove);
        owned.removeAll(partitions);
        report("revoked");
    }

    /** Called by clients from 2.4 on. */
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        partitions.forEach(uncommitted::remove);
        owned.removeAll(partitions);
        report("lost");
    }
}
