package partita.suites;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import kafka.server.ControllerServer;
import kafka.server.KafkaBroker;
import kafka.server.KafkaConfig;
import kafka.server.KRaftQuorumImplementation;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What Kafka's older test harness does here instead of starting brokers (see `Rewrites`): each method stands for the one of its
 * name. The tests see one broker, a Partita process, and no controller.
 */
public final class Harness {
    /** The broker of the running test. Tests run one after the other. */
    private static volatile BrokerView current;
    private static BrokerProcess process;
    /** How many brokers the running test asked for. */
    private static volatile int brokersWanted = 1;

    private Harness() {
    }

    public static KRaftQuorumImplementation newKRaftQuorum() {
        return null;
    }

    public static synchronized KafkaBroker createBroker(KafkaConfig config, Time time, boolean startup, Option<String> threads) {
        if (process != null) {
            process.close();
        }
        process = new BrokerProcess(config.originals());
        current = new BrokerView(process, config);
        if (startup) {
            process.start();
        }
        return current.broker();
    }

    public static ControllerServer controllerServer() {
        throw Denied.of("inner: controllerServer()");
    }

    public static Seq<ControllerServer> controllerServers() {
        return CollectionConverters.asScala(List.<ControllerServer>of()).toSeq();
    }

    /** A change that Partita has acknowledged is there. */
    public static void ensureConsistentKRaftMetadata() {
    }

    /** It knows itself as soon as it has started. */
    public static void waitUntilBrokerMetadataIsPropagated() {
    }

    /** Of the class GroupCoordinatorBaseRequestTest. */
    public static Map<String, Uuid> getTopicIds() throws Exception {
        return view().topicIds();
    }

    /** The offsets topic comes into being when a coordinator is first looked for. */
    public static scala.collection.Map<Object, Object> createOffsetsTopicWithAdmin(Admin admin, Seq<KafkaBroker> brokers,
            Seq<ControllerServer> controllers) throws Exception {
        try {
            admin.describeConsumerGroups(List.of("nobody")).all().get();
        } catch (ExecutionException error) {
            if (!(error.getCause() instanceof GroupIdNotFoundException)) {
                throw error;
            }
        }
        return CollectionConverters.asScala(new HashMap<>());
    }

    /** Of the class KafkaServerTestHarness. */
    public static scala.collection.immutable.Map<String, Uuid> topicIds() throws Exception {
        return scala.collection.immutable.Map.from(CollectionConverters.asScala(view().topicIds()));
    }

    /** Of the class KafkaServerTestHarness. */
    public static scala.collection.immutable.Map<Uuid, String> topicNames() throws Exception {
        Map<Uuid, String> names = new HashMap<>();
        view().topicIds().forEach((name, id) -> names.put(id, name));
        return scala.collection.immutable.Map.from(CollectionConverters.asScala(names));
    }

    public static Seq<KafkaConfig> firstOf(Seq<KafkaConfig> configs) {
        if (configs.size() > 1) {
            Denied.note("brokers: asked for " + configs.size());
        }
        brokersWanted = configs.size();
        return CollectionConverters.asScala(List.of(configs.head())).toSeq();
    }

    public static int oneReplica(int replicas) {
        if (replicas > 1) {
            Denied.note("brokers: " + replicas + " replicas");
        }
        return Math.min(replicas, 1);
    }

    public static scala.collection.Map<Object, Seq<Object>> onOneBroker(scala.collection.Map<Object, Seq<Object>> assignment) {
        Map<Object, Seq<Object>> here = new HashMap<>();
        Seq<Object> only = CollectionConverters.asScala(List.<Object>of(0)).toSeq();
        CollectionConverters.asJava(assignment).forEach((partition, brokers) -> {
            if (!brokers.equals(only)) {
                Denied.note("brokers: partition " + partition + " on " + brokers);
            }
            here.put(partition, only);
        });
        return CollectionConverters.asScala(here);
    }

    /** Gives a topic one replica on broker 0, if the test asked for brokers enough; otherwise the broker judges what it asks for. */
    public static void placeHere(CreatableTopic topic) {
        if (topic.replicationFactor() > 1 && topic.replicationFactor() <= brokersWanted) {
            Denied.note("brokers: " + topic.replicationFactor() + " replicas");
            topic.setReplicationFactor((short) 1);
        }
        topic.assignments().forEach(assignment -> {
            List<Integer> brokers = assignment.brokerIds();
            boolean isPossible = !brokers.isEmpty() && new HashSet<>(brokers).size() == brokers.size()
                && brokers.stream().allMatch(broker -> broker >= 0 && broker < brokersWanted);
            if (isPossible && !brokers.equals(List.of(0))) {
                Denied.note("brokers: partition " + assignment.partitionIndex() + " on " + brokers);
                assignment.setBrokerIds(List.of(0));
            }
        });
    }

    /** The broker of a test that asked for so many. */
    static void setCurrent(BrokerView view, int wanted) {
        current = view;
        brokersWanted = wanted;
    }

    private static BrokerView view() {
        return current;
    }
}
