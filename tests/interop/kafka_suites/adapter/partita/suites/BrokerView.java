package partita.suites;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import kafka.network.SocketServer;
import kafka.server.KafkaBroker;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.metadata.BrokerState;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.metadata.MetadataCache;
import org.mockito.Mockito;

/**
 * A broker in another process, seen as the object that tests hold. It answers what a client could ask (which topics there are, who
 * leads them, its own settings) and what starts and stops it; whatever else is asked of it is denied and noted. `Denied` says how.
 */
final class BrokerView {
    private final BrokerProcess process;
    private final KafkaConfig config;
    private final KafkaBroker broker = proxy(KafkaBroker.class, this::brokerCall);
    private final SocketServer sockets = Mockito.mock(SocketServer.class, call -> socketCall(call.getMethod().getName()));
    private final MetadataCache metadata = proxy(MetadataCache.class, this::metadataCall);

    BrokerView(BrokerProcess process, KafkaConfig config) {
        this.process = process;
        this.config = config;
    }

    KafkaBroker broker() {
        return broker;
    }

    private interface Call {
        Object answer(String method, Object[] arguments) throws Exception;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        InvocationHandler handler = (self, method, arguments) -> switch (method.getName()) {
            case "equals" -> self == arguments[0];
            case "hashCode" -> System.identityHashCode(self);
            case "toString" -> "a " + type.getSimpleName() + " in another process";
            default -> call.answer(method.getName(), arguments);
        };
        return type.cast(Proxy.newProxyInstance(BrokerView.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Object brokerCall(String method, Object[] arguments) throws Exception {
        switch (method) {
            case "config": return config;
            case "metadataCache": return metadata;
            case "socketServer": return sockets;
            case "boundPort": return process.port();
            case "isShutdown": return !process.isRunning();
            case "brokerState": return process.isRunning() ? BrokerState.RUNNING : BrokerState.NOT_RUNNING;
            case "clusterId": return ask(admin -> admin.describeCluster().clusterId().get());
            case "startup": process.start(); return null;
            case "shutdown": process.stop(); return null;
            case "awaitShutdown": return null;
            default: throw Denied.of("inner: KafkaBroker." + method);
        }
    }

    private Object socketCall(String method) {
        if (method.equals("boundPort")) {
            return process.port();
        }
        throw Denied.of("inner: SocketServer." + method);
    }

    private Object metadataCall(String method, Object[] arguments) throws Exception {
        switch (method) {
            case "numPartitions": return describe((String) arguments[0]).map(topic -> topic.partitions().size());
            case "contains":
                if (arguments[0] instanceof TopicPartition partition) {
                    return describe(partition.topic()).filter(topic -> topic.partitions().size() > partition.partition()).isPresent();
                }
                return describe((String) arguments[0]).isPresent();
            case "getLeaderAndIsr":
                return describe((String) arguments[0]).filter(topic -> topic.partitions().size() > (Integer) arguments[1]).map(
                    topic -> new LeaderAndIsr(topic.partitions().get((Integer) arguments[1]).leader().id(), List.of(config.brokerId())));
            case "getTopicId": return describe((String) arguments[0]).map(TopicDescription::topicId).orElse(Uuid.ZERO_UUID);
            case "getAllTopics": return topicIds().keySet();
            case "topicNamesToIds": return topicIds();
            case "topicIdsToNames":
                return topicIds().entrySet().stream().collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey));
            case "getTopicName":
                return topicIds().entrySet().stream().filter(topic -> topic.getValue().equals(arguments[0])).map(Map.Entry::getKey).findFirst();
            case "getAliveBrokerNodes":
                return process.isRunning() ? List.of(new Node(config.brokerId(), "127.0.0.1", process.port())) : List.of();
            case "hasAliveBroker": return arguments[0].equals(config.brokerId()) && process.isRunning();
            default: throw Denied.of("inner: MetadataCache." + method);
        }
    }

    /** Topic to id, of all topics. */
    Map<String, Uuid> topicIds() throws Exception {
        return ask(admin -> {
            Set<String> names = admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
            Map<String, Uuid> ids = new HashMap<>();
            admin.describeTopics(names).allTopicNames().get().forEach((name, topic) -> ids.put(name, topic.topicId()));
            return ids;
        });
    }

    private Optional<TopicDescription> describe(String name) throws Exception {
        return ask(admin -> {
            try {
                return Optional.of(admin.describeTopics(List.of(name)).allTopicNames().get().get(name));
            } catch (ExecutionException error) {
                if (error.getCause() instanceof UnknownTopicOrPartitionException) {
                    return Optional.empty();
                }
                throw error;
            }
        });
    }

    interface Question<T> {
        T of(Admin admin) throws Exception;
    }

    /** Asks as a client does, on a connection that does not outlive the question: tests look for threads that are left. */
    <T> T ask(Question<T> question) throws Exception {
        Properties properties = new Properties();
        properties.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:" + process.port());
        try (Admin admin = Admin.create(properties)) {
            return question.of(admin);
        }
    }
}
