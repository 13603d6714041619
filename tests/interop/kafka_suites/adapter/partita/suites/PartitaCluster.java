package partita.suites;

import java.util.AbstractMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import kafka.server.ControllerServer;
import kafka.server.KafkaBroker;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.test.ClusterInstance;

import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.FaultHandlerException;
import org.apache.kafka.test.TestUtils;

/**
 * What a test gets as its cluster: one Partita process, whatever number of brokers it asked for. Topics that the test creates
 * through this object have one replica then; where it depends on more, it fails and is counted as needing several brokers.
 */
public final class PartitaCluster implements ClusterInstance {
    private static final int BROKER_ID = 0;
    private static final int CONTROLLER_ID = 3000;

    private final ClusterConfig config;
    private final Type type;
    private final Map<String, String> properties = new HashMap<>();
    private BrokerProcess process;
    private BrokerView view;
    private boolean stopped;

    public PartitaCluster(ClusterConfig config, boolean isCombined) {
        this.config = config;
        this.type = isCombined ? Type.CO_KRAFT : Type.KRAFT;
        // The test kit says these of its own brokers.
        properties.put("unstable.api.versions.enable", "true");
        properties.put("log.cleaner.dedupe.buffer.size", "2097152");
        properties.putAll(config.serverProperties());
        properties.putAll(config.perServerOverrideProperties().getOrDefault(BROKER_ID, Map.of()));
    }

    @Override
    public synchronized void start() {
        if (started()) {
            return;
        }
        if (config.brokerSecurityProtocol() != SecurityProtocol.PLAINTEXT) {
            throw Denied.of("unserved: " + config.brokerSecurityProtocol());
        }
        process = new BrokerProcess(properties);
        process.start();
        view = new BrokerView(process, kafkaConfig());
        Harness.setCurrent(view, config.numBrokers());
        setFeatures();
    }

    /** Brings features to the levels that Kafka's own cluster would be formatted with, where the test says some. */
    private void setFeatures() {
        Map<String, FeatureUpdate> updates = new HashMap<>();
        config.features().forEach((feature, level) -> updates.put(feature.featureName(), update(level)));
        if (config.metadataVersion().isLessThan(MetadataVersion.latestProduction())) {
            updates.put(MetadataVersion.FEATURE_NAME, update(config.metadataVersion().featureLevel()));
        }
        if (updates.isEmpty()) {
            return;
        }
        try (Admin admin = admin()) {
            admin.updateFeatures(updates, new UpdateFeaturesOptions()).all().get();
        } catch (ExecutionException error) {
            throw Denied.of("unserved: " + updates.keySet() + ": " + error.getCause().getMessage());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    private static FeatureUpdate update(short level) {
        return new FeatureUpdate(level, FeatureUpdate.UpgradeType.UNSAFE_DOWNGRADE);
    }

    private KafkaConfig kafkaConfig() {
        Properties all = new Properties();
        all.putAll(properties);
        String listener = config.brokerListenerName().value();
        String controller = config.controllerListenerName().value();
        all.putAll(Map.of("process.roles", "broker", "node.id", String.valueOf(BROKER_ID),
            "listeners", listener + "://localhost:" + process.port(),
            "listener.security.protocol.map", listener + ":PLAINTEXT," + controller + ":PLAINTEXT",
            "inter.broker.listener.name", listener, "controller.listener.names", controller,
            "controller.quorum.voters", CONTROLLER_ID + "@localhost:1", "log.dirs", process.dataDirectory().toString()));
        return KafkaConfig.fromProps(all);
    }

    @Override
    public synchronized void stop() {
        stopped = true;
        if (process != null) {
            process.close();
        }
    }

    @Override
    public synchronized boolean started() {
        return process != null;
    }

    @Override
    public synchronized boolean stopped() {
        return stopped;
    }

    /** A map whose keys may be seen and whose values exist for one key only. */
    private static <V> Map<Integer, V> one(int id, V value, String what) {
        return new AbstractMap<>() {
            @Override
            public Set<Entry<Integer, V>> entrySet() {
                if (value == null) {
                    throw Denied.of("inner: " + what);
                }
                return Map.of(id, value).entrySet();
            }

            @Override
            public V get(Object key) {
                if (value == null) {
                    throw Denied.of("inner: " + what);
                }
                if (!key.equals(id)) {
                    Denied.note("brokers: " + what + " of another broker");
                }
                return key.equals(id) ? value : null;
            }

            @Override
            public Set<Integer> keySet() {
                return Set.of(id);
            }

            @Override
            public int size() {
                return 1;
            }
        };
    }

    @Override
    public Map<Integer, KafkaBroker> brokers() {
        if (config.numBrokers() > 1) {
            Denied.note("brokers: asked for " + config.numBrokers());
        }
        return one(BROKER_ID, view == null ? null : view.broker(), "brokers()");
    }

    @Override
    public Map<Integer, ControllerServer> controllers() {
        return one(CONTROLLER_ID, null, "controllers()");
    }

    @Override
    public Set<Integer> controllerIds() {
        return Set.of(type == Type.CO_KRAFT ? BROKER_ID : CONTROLLER_ID);
    }

    @Override
    public Set<Integer> brokerIds() {
        // Tests change it.
        return new HashSet<>(Set.of(BROKER_ID));
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public ClusterConfig config() {
        return config;
    }

    @Override
    public ListenerName clientListener() {
        return config.brokerListenerName();
    }

    @Override
    public ListenerName controllerListenerName() {
        return config.controllerListenerName();
    }

    @Override
    public String bootstrapServers() {
        return "localhost:" + process.port();
    }

    @Override
    public String bootstrapControllers() {
        throw Denied.of("inner: bootstrapControllers()");
    }

    @Override
    public List<Integer> controllerBoundPorts() {
        throw Denied.of("inner: controllerBoundPorts()");
    }

    @Override
    public List<Integer> brokerBoundPorts() {
        return List.of(process.port());
    }

    @Override
    public String clusterId() {
        return view.broker().clusterId();
    }

    @Override
    public Set<org.apache.kafka.clients.consumer.GroupProtocol> supportedGroupProtocols() {
        return Set.of(org.apache.kafka.clients.consumer.GroupProtocol.values());
    }

    @Override
    public Optional<FaultHandlerException> firstFatalException() {
        return Optional.empty();
    }

    @Override
    public Optional<FaultHandlerException> firstNonFatalException() {
        return Optional.empty();
    }

    @Override
    public void shutdownBroker(int brokerId) {
        only(brokerId);
        process.stop();
    }

    @Override
    public void startBroker(int brokerId) {
        only(brokerId);
        process.start();
    }

    private static void only(int brokerId) {
        if (brokerId != BROKER_ID) {
            throw Denied.of("brokers: broker " + brokerId);
        }
    }

    @Override
    public void waitForReadyBrokers() {
    }

    @Override
    public void createTopic(String topic, int partitions, short replicas, Map<String, String> configs) throws InterruptedException {
        if (replicas > 1) {
            Denied.note("brokers: " + replicas + " replicas");
        }
        create(new NewTopic(topic, partitions, (short) Math.min(replicas, 1)).configs(configs));
        waitTopicCreation(topic, partitions);
    }

    @Override
    public void createTopicWithAssignment(String topic, Map<Integer, List<Integer>> assignment) throws InterruptedException {
        Map<Integer, List<Integer>> here = new HashMap<>();
        assignment.forEach((partition, brokers) -> {
            if (!brokers.equals(List.of(BROKER_ID))) {
                Denied.note("brokers: partition " + partition + " on " + brokers);
            }
            here.put(partition, List.of(BROKER_ID));
        });
        create(new NewTopic(topic, here));
        waitTopicCreation(topic, here.size());
    }

    private void create(NewTopic topic) throws InterruptedException {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(topic)).all().get();
        } catch (ExecutionException error) {
            // Kafka's own cluster asks no more than that it is there in the end.
            if (!(error.getCause() instanceof TopicExistsException)) {
                throw new IllegalStateException(topic.name() + " was not created", error.getCause());
            }
        }
    }

    @Override
    public void waitTopicCreation(String topic, int partitions) throws InterruptedException {
        TestUtils.waitForCondition(() -> view.broker().metadataCache().numPartitions(topic).equals(Optional.of(partitions)),
            topic + " with " + partitions + " partitions");
    }

    @Override
    public void waitTopicDeletion(String topic) throws InterruptedException {
        TestUtils.waitForCondition(() -> view.broker().metadataCache().numPartitions(topic).isEmpty(), topic + " is deleted");
    }

    @Override
    public void ensureConsistentMetadata() {
    }

    @Override
    public void ensureConsistentMetadata(java.util.Collection<KafkaBroker> brokers, java.util.Collection<ControllerServer> controllers) {
    }

    @Override
    public List<Authorizer> authorizers() {
        throw Denied.of("unserved: authorizers()");
    }

    @Override
    public void waitAcls(AclBindingFilter filter, java.util.Collection<AccessControlEntry> entries) {
        throw Denied.of("unserved: ACLs");
    }
}
