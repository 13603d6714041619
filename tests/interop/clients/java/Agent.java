import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * The Java client as an agent: the requests and events are described in clients.py. It is compiled against each Java
 * client of the matrix, so it keeps to what all of them have; ConfigChange is what they do not share.
 */
public final class Agent {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = System.out;
    static String bootstrap;
    private static final Properties IDENTITY = identity();
    private static final Map<String, Member> MEMBERS = new ConcurrentHashMap<>();
    private static final Map<String, Stream> STREAMS = new ConcurrentHashMap<>();

    static void emit(ObjectNode line) {
        synchronized (OUT) {
            OUT.println(line);
            OUT.flush();
        }
    }

    public static void main(String[] arguments) throws Exception {
        bootstrap = arguments[0];
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // Standard output belongs to the replies; anything else that prints must not get between them.
        System.setOut(System.err);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode request = JSON.readTree(line);
            answer(request, Agent::handle);
        }
        System.exit(0);
    }

    /** What serves a request by filling its reply. */
    interface Handler {
        void handle(JsonNode request, ObjectNode reply) throws Exception;
    }

    static void answer(JsonNode request, Handler handler) {
        ObjectNode reply = JSON.createObjectNode();
        reply.put("reply", request.get("id").asInt());
        reply.put("ok", true);
        try {
            handler.handle(request, reply);
        } catch (Throwable e) {
            fail(reply, e);
        }
        emit(reply);
    }

    static void fail(ObjectNode node, Throwable e) {
        Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
        node.put("ok", false);
        node.put("code", Errors.forException(cause).code());
        node.put("message", String.valueOf(cause.getMessage()));
        node.put("type", cause.getClass().getSimpleName());
        if (Errors.forException(cause) == Errors.UNKNOWN_SERVER_ERROR) {
            cause.printStackTrace();
        }
    }

    static void handle(JsonNode request, ObjectNode reply) throws Exception {
        switch (request.get("op").asText()) {
            case "create_topic" -> {
                Map<String, String> configs = new HashMap<>();
                request.path("configs").properties().forEach(e -> configs.put(e.getKey(), e.getValue().asText()));
                NewTopic topic = new NewTopic(text(request, "topic"), request.get("partitions").asInt(), (short) 1)
                    .configs(configs);
                try (AdminClient admin = admin()) {
                    admin.createTopics(List.of(topic)).all().get();
                }
            }
            case "create_partitions" -> {
                try (AdminClient admin = admin()) {
                    admin.createPartitions(Map.of(text(request, "topic"),
                                                  NewPartitions.increaseTo(request.get("count").asInt()))).all().get();
                }
            }
            case "delete_topic" -> {
                try (AdminClient admin = admin()) {
                    admin.deleteTopics(List.of(text(request, "topic"))).all().get();
                }
            }
            case "partitions" -> {
                try (KafkaConsumer<byte[], byte[]> consumer = consumer(request)) {
                    ArrayNode partitions = reply.putArray("partitions");
                    consumer.partitionsFor(text(request, "topic")).stream().map(PartitionInfo::partition).sorted()
                        .forEach(partitions::add);
                }
            }
            case "produce" -> produce(request, reply);
            case "read" -> read(request, reply);
            case "offsets_for_time" -> offsetsForTime(request, reply);
            case "committed" -> committed(request, reply);
            case "version" -> reply.put("version", AppInfoParser.getVersion());
            case "list_topics" -> {
                try (AdminClient admin = admin()) {
                    ArrayNode topics = reply.putArray("topics");
                    admin.listTopics().names().get().forEach(topics::add);
                }
            }
            case "topic_config" -> {
                ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, text(request, "topic"));
                try (AdminClient admin = admin()) {
                    reply.put("value", admin.describeConfigs(List.of(topic)).all().get().get(topic)
                        .get(text(request, "config")).value());
                }
            }
            case "set_topic_config" -> {
                ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, text(request, "topic"));
                try (AdminClient admin = admin()) {
                    ConfigChange.set(admin, topic, text(request, "config"), text(request, "value"));
                }
            }
            case "list_groups" -> {
                try (AdminClient admin = admin()) {
                    ArrayNode groups = reply.putArray("groups");
                    for (ConsumerGroupListing group : admin.listConsumerGroups().all().get()) groups.add(group.groupId());
                }
            }
            case "describe_group" -> {
                String group = text(request, "group");
                try (AdminClient admin = admin()) {
                    ConsumerGroupDescription description =
                        admin.describeConsumerGroups(List.of(group)).all().get().get(group);
                    reply.put("state", description.state().toString());
                    reply.put("members", description.members().size());
                }
            }
            case "delete_group" -> {
                try (AdminClient admin = admin()) {
                    admin.deleteConsumerGroups(List.of(text(request, "group"))).all().get();
                }
            }
            case "delete_records" -> {
                TopicPartition partition =
                    new TopicPartition(text(request, "topic"), request.get("partition").asInt());
                try (AdminClient admin = admin()) {
                    reply.put("low_watermark", admin.deleteRecords(
                        Map.of(partition, RecordsToDelete.beforeOffset(request.get("offset").asLong())))
                        .lowWatermarks().get(partition).get().lowWatermark());
                }
            }
            case "stream_start" -> {
                Stream stream = new Stream(request);
                STREAMS.put(text(request, "name"), stream);
                stream.start();
            }
            case "stream_stop" -> STREAMS.remove(text(request, "name")).finish(reply);
            case "member_start" -> {
                Member member = new Member(request);
                MEMBERS.put(text(request, "name"), member);
                member.start();
            }
            case "member_stop" -> MEMBERS.remove(text(request, "name")).finish();
            default -> throw new IllegalArgumentException("unknown op " + request.get("op"));
        }
    }

    static String text(JsonNode node, String field) {
        return node.get(field).asText();
    }

    /** Who this client is, from a file of settings. */
    private static Properties identity() {
        Properties properties = new Properties();
        String file = System.getenv("CLIENT_PROPERTIES");
        if (file == null) return properties;
        try (Reader reader = Files.newBufferedReader(Paths.get(file))) {
            properties.load(reader);
            return properties;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Properties base(JsonNode request) {
        Properties properties = new Properties();
        properties.putAll(IDENTITY);
        properties.put("bootstrap.servers", bootstrap);
        properties.put("reconnect.backoff.max.ms", "200");
        if (request.has("metadata_age_ms")) properties.put("metadata.max.age.ms", text(request, "metadata_age_ms"));
        if (request.has("client_id")) properties.put("client.id", text(request, "client_id"));
        return properties;
    }

    /** The library's own settings, which stand over all that this agent chooses. */
    private static void addSettings(JsonNode request, Properties properties) {
        request.path("settings").properties().forEach(e -> properties.put(e.getKey(), e.getValue().asText()));
    }

    static AdminClient admin() {
        return AdminClient.create(base(JSON.createObjectNode()));
    }

    static KafkaProducer<byte[], byte[]> producer(JsonNode request) {
        Properties properties = base(request);
        properties.put("linger.ms", "5");
        properties.put("acks", request.path("acks").asText("all"));
        properties.put("compression.type", request.path("codec").asText("none"));
        properties.put("enable.idempotence", request.path("idempotence").asBoolean(true));
        properties.put("max.block.ms", request.path("unknown_topic_wait_ms").asText("30000"));
        properties.put("max.request.size", "20000000");
        addSettings(request, properties);
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static KafkaConsumer<byte[], byte[]> consumer(JsonNode request) {
        Properties properties = base(request);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", request.has("reset") ? text(request, "reset") : "earliest");
        if (request.has("group")) properties.put("group.id", text(request, "group"));
        if (request.has("protocol")) properties.put("group.protocol", text(request, "protocol"));
        if (request.has("session_timeout_ms")) {
            properties.put("session.timeout.ms", text(request, "session_timeout_ms"));
            properties.put("heartbeat.interval.ms", "500");
        }
        if (request.has("instance_id")) properties.put("group.instance.id", text(request, "instance_id"));
        if (request.has("protocol") && request.has("assignor")) {
            properties.put("group.remote.assignor", text(request, "assignor"));
        } else if (request.has("assignor")) {
            properties.put("partition.assignment.strategy", text(request, "assignor").equals("cooperative")
                ? "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
                : "org.apache.kafka.clients.consumer.RangeAssignor");
        }
        addSettings(request, properties);
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    static byte[] bytes(JsonNode node) {
        return node == null || node.isNull() ? null : node.asText().getBytes(StandardCharsets.UTF_8);
    }

    static String string(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    private static void produce(JsonNode request, ObjectNode reply) throws Exception {
        ArrayNode acks = reply.putArray("acks");
        try (KafkaProducer<byte[], byte[]> producer = producer(request)) {
            List<Object> results = new ArrayList<>();
            for (JsonNode record : request.get("records")) {
                List<Header> headers = new ArrayList<>();
                for (JsonNode header : record.path("headers")) {
                    headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
                }
                Integer partition = record.has("partition") ? record.get("partition").asInt() : null;
                Long timestamp = record.has("timestamp") ? record.get("timestamp").asLong() : null;
                results.add(producer.send(new ProducerRecord<>(text(request, "topic"), partition, timestamp,
                    bytes(record.get("key")), bytes(record.get("value")), headers)));
            }
            producer.flush();
            for (Object result : results) {
                ObjectNode ack = acks.addObject();
                try {
                    @SuppressWarnings("unchecked")
                    RecordMetadata metadata = ((Future<RecordMetadata>) result).get();
                    ack.put("partition", metadata.partition());
                    ack.put("offset", metadata.hasOffset() ? metadata.offset() : -1);
                } catch (ExecutionException e) {
                    fail(ack, e);
                }
            }
        }
    }

    static ObjectNode describe(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode node = JSON.createObjectNode();
        node.put("topic", record.topic());
        node.put("partition", record.partition());
        node.put("offset", record.offset());
        node.put("timestamp", record.timestamp());
        node.put("key", string(record.key()));
        node.put("value", string(record.value()));
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(string(header.value()));
        }
        return node;
    }

    private static void read(JsonNode request, ObjectNode reply) {
        ArrayNode records = reply.putArray("records");
        long deadline = System.nanoTime() + request.get("timeout_ms").asLong() * 1_000_000;
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(request)) {
            List<TopicPartition> partitions = consumer.partitionsFor(text(request, "topic")).stream()
                .map(p -> new TopicPartition(p.topic(), p.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (records.size() < request.get("count").asInt() && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> records.add(describe(record)));
            }
        }
    }

    private static void offsetsForTime(JsonNode request, ObjectNode reply) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(request)) {
            Map<TopicPartition, Long> times = new HashMap<>();
            consumer.partitionsFor(text(request, "topic")).forEach(
                p -> times.put(new TopicPartition(p.topic(), p.partition()), request.get("timestamp").asLong()));
            ObjectNode offsets = reply.putObject("offsets");
            for (Map.Entry<TopicPartition, OffsetAndTimestamp> entry : consumer.offsetsForTimes(times).entrySet()) {
                offsets.put(String.valueOf(entry.getKey().partition()),
                            entry.getValue() == null ? -1 : entry.getValue().offset());
            }
        }
    }

    private static void committed(JsonNode request, ObjectNode reply) throws Exception {
        try (AdminClient admin = admin()) {
            ObjectNode offsets = reply.putObject("offsets");
            Map<TopicPartition, OffsetAndMetadata> all = admin.listConsumerGroupOffsets(text(request, "group"))
                .partitionsToOffsetAndMetadata().get();
            all.forEach((partition, offset) -> {
                if (offset != null) offsets.put(String.valueOf(partition.partition()), offset.offset());
            });
        }
    }

    static void partitions(ArrayNode array, Set<TopicPartition> owned) {
        owned.stream().sorted((a, b) -> a.topic().equals(b.topic()) ? a.partition() - b.partition()
                                                                    : a.topic().compareTo(b.topic()))
            .forEach(p -> array.add(p.partition()));
    }
}
