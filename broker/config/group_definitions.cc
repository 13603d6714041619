#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Groups, their coordinator and committed offsets. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours where the
// text says so.
constexpr ConfigDefinition kGroupDefinitions[] = {
    define("group.consumer.assignment.interval.ms", ConfigType::int32, "1000", range(0), kClusterWide,
           "Least time between two target assignments of a consumer group."),
    define("group.consumer.assignors", ConfigType::list, "uniform,range", list_of({}, false, false), kReadOnly,
           "Server-side assignors in order of preference; the first is the default."),
    define("group.consumer.heartbeat.interval.ms", ConfigType::int32, "5000", range(1), kReadOnly,
           "Heartbeat interval given to members of consumer groups."),
    define("group.consumer.max.assignment.interval.ms", ConfigType::int32, "15000", range(0), kReadOnly,
           "Largest assignment interval that a group may set."),
    define("group.consumer.max.heartbeat.interval.ms", ConfigType::int32, "15000", range(1), kReadOnly,
           "Largest heartbeat interval that a group may set."),
    define("group.consumer.max.session.timeout.ms", ConfigType::int32, "60000", range(1), kReadOnly,
           "Largest session timeout that a group may set."),
    define("group.consumer.max.size", ConfigType::int32, "2147483647", range(1), kReadOnly, "Most members of a consumer group."),
    define("group.consumer.migration.policy", ConfigType::string, "bidirectional", one_of_ignoring_case(kMigrationPolicies),
           kReadOnly,
           "Which way groups may convert between the classic and the consumer protocol while members "
           "are in them."),
    define("group.consumer.min.assignment.interval.ms", ConfigType::int32, "0", range(0), kReadOnly,
           "Smallest assignment interval that a group may set."),
    define("group.consumer.min.heartbeat.interval.ms", ConfigType::int32, "5000", range(1), kReadOnly,
           "Smallest heartbeat interval that a group may set."),
    define("group.consumer.min.session.timeout.ms", ConfigType::int32, "45000", range(1), kReadOnly,
           "Smallest session timeout that a group may set."),
    internal("group.consumer.regex.refresh.interval.ms", ConfigType::int32, "600000", range(10000), kReadOnly,
             "Time after which regular expressions of a group are resolved again."),
    define("group.consumer.session.timeout.ms", ConfigType::int32, "45000", range(1), kReadOnly,
           "A member of a consumer group that is silent for longer is removed."),
    kept(define("group.coordinator.append.linger.ms", ConfigType::int32, "-1", range(-1), kReadOnly,
                "How long the coordinator gathers writes; -1 lets it choose.")),
    kept(define("group.coordinator.background.threads", ConfigType::int32, "2", range(1), kReadOnly,
                "Threads for background work of the group coordinator.")),
    kept(define("group.coordinator.cached.buffer.max.bytes", ConfigType::int32, "1048588", range(524288), kClusterWide,
                "Largest write buffer that the group coordinator keeps.")),
    define("group.coordinator.rebalance.protocols", ConfigType::list, "classic,consumer,streams",
           list_of(kRebalanceProtocols, false, false), kReadOnly, "Group protocols that are served."),
    kept(define("group.coordinator.threads", ConfigType::int32, "4", range(1), kReadOnly, "Threads of the group coordinator.")),
    define("group.initial.rebalance.delay.ms", ConfigType::int32, "0", kAny, kReadOnly,
           "How long the first rebalance of an empty classic group waits for more members. 0 here, "
           "3000 in Apache Kafka: on one machine, waiting gains nothing."),
    define("group.max.session.timeout.ms", ConfigType::int32, "1800000", kAny, kReadOnly,
           "Largest session timeout that a classic member may ask for."),
    define("group.max.size", ConfigType::int32, "2147483647", range(1), kReadOnly, "Most members of a classic group."),
    define("group.min.session.timeout.ms", ConfigType::int32, "6000", kAny, kReadOnly,
           "Smallest session timeout that a classic member may ask for."),
    kept(define("group.streams.assignment.interval.ms", ConfigType::int32, "1000", range(0), kClusterWide,
                "Least time between two target assignments of a streams group.")),
    kept(define("group.streams.heartbeat.interval.ms", ConfigType::int32, "5000", range(1), kReadOnly,
                "Heartbeat interval given to members of streams groups.")),
    kept(define("group.streams.initial.rebalance.delay.ms", ConfigType::int32, "3000", range(0), kReadOnly,
                "How long the first assignment of an empty streams group waits for more members.")),
    kept(define("group.streams.max.assignment.interval.ms", ConfigType::int32, "15000", range(0), kReadOnly,
                "Largest assignment interval that a streams group may set.")),
    kept(define("group.streams.max.heartbeat.interval.ms", ConfigType::int32, "15000", range(1), kReadOnly,
                "Largest heartbeat interval that a streams group may set.")),
    kept(define("group.streams.max.session.timeout.ms", ConfigType::int32, "60000", range(1), kReadOnly,
                "Largest session timeout that a streams group may set.")),
    kept(define("group.streams.max.size", ConfigType::int32, "2147483647", range(1), kReadOnly,
                "Most members of a streams group.")),
    kept(define("group.streams.max.standby.replicas", ConfigType::int32, "2", range(0), kReadOnly,
                "Most standby replicas that a streams group may set.")),
    kept(define("group.streams.min.assignment.interval.ms", ConfigType::int32, "0", range(0), kReadOnly,
                "Smallest assignment interval that a streams group may set.")),
    kept(define("group.streams.min.heartbeat.interval.ms", ConfigType::int32, "5000", range(1), kReadOnly,
                "Smallest heartbeat interval that a streams group may set.")),
    kept(define("group.streams.min.session.timeout.ms", ConfigType::int32, "45000", range(1), kReadOnly,
                "Smallest session timeout that a streams group may set.")),
    kept(define("group.streams.num.standby.replicas", ConfigType::int32, "0", range(0), kReadOnly,
                "Standby replicas of each task of a streams group.")),
    kept(define("group.streams.session.timeout.ms", ConfigType::int32, "45000", range(1), kReadOnly,
                "A member of a streams group that is silent for longer is removed.")),
    define("offset.metadata.max.bytes", ConfigType::int32, "4096", kAny, kReadOnly,
           "Longest metadata text of a committed offset."),
    kept(define("offsets.commit.timeout.ms", ConfigType::int32, "5000", range(1), kReadOnly,
                "Longest wait until an offset commit is durable.")),
    kept(define("offsets.load.buffer.size", ConfigType::int32, "5242880", range(1), kReadOnly,
                "Batch size in which the offsets topic is read at start.")),
    define("offsets.retention.check.interval.ms", ConfigType::int64, "600000", range(1), kReadOnly,
           "Time between checks for expired offsets."),
    define("offsets.retention.minutes", ConfigType::int32, "10080", range(1), kReadOnly,
           "How long offsets of an empty group are kept."),
    kept(
        define("offsets.topic.compression.codec", ConfigType::int32, "0", kAny, kReadOnly, "Codec number of the offsets topic.")),
    define("offsets.topic.num.partitions", ConfigType::int32, "50", range(1), kReadOnly, "Partitions of the offsets topic."),
    define("offsets.topic.replication.factor", ConfigType::int16, "3", range(1), kReadOnly,
           "Replication factor of the offsets topic. A value above the number of brokers counts as that number."),
    define("offsets.topic.segment.bytes", ConfigType::int32, "104857600", range(1), kReadOnly,
           "Segment size of the offsets topic."),
};

}  // namespace

std::span<const ConfigDefinition> group_definitions() { return kGroupDefinitions; }

}  // namespace partita::config
