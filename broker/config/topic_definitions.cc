#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Ascending by name; facts of Apache Kafka 4.3.1, and our configs, which begin with "partita.". A topic config with a broker
// config takes its default from that one. Our configs are described only if they were given, so that tools which compare a
// topic's configs see Kafka's.
constexpr ConfigDefinition kDefinitions[] = {
    define("cleanup.policy", ConfigType::list, kOfBroker, list_of(kCleanupPolicies, true, false), kClusterWide,
           "Treatment of old data: delete, compact, both, or (empty) none."),
    define("compression.gzip.level", ConfigType::int32, kOfBroker, kGzipLevel, kClusterWide,
           "Level used when the topic is compressed with gzip by the broker: 1 to 9, or -1 for gzip's "
           "default."),
    define("compression.lz4.level", ConfigType::int32, kOfBroker, range(1, 17), kClusterWide,
           "Level used when the topic is compressed with lz4 by the broker."),
    define("compression.type", ConfigType::string, kOfBroker, one_of(kCompressionTypes), kClusterWide,
           "Codec in which batches are stored; \"producer\" keeps what the producer chose."),
    define("compression.zstd.level", ConfigType::int32, kOfBroker, range(-131072, 22), kClusterWide,
           "Level used when the topic is compressed with zstd by the broker."),
    define("delete.retention.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "How long tombstones survive compaction; also the time a reader has to see all of them."),
    kept(define("file.delete.delay.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
                "How long the files of a deleted segment stay.")),
    define("flush.messages", ConfigType::int64, kOfBroker, range(1), kClusterWide,
           "Records of a partition after which it is synced to the device. 1 syncs before each reply."),
    define("flush.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "Longest time that a record waits for a sync to the device."),
    kept(define("follower.replication.throttled.replicas", ConfigType::list, "", kThrottledReplicas, kClusterWide,
                "Followers whose replication is throttled, as partition:broker items, or *.")),
    define("index.interval.bytes", ConfigType::int32, kOfBroker, range(0), kClusterWide,
           "Bytes between two entries of an offset index."),
    internal("internal.segment.bytes", ConfigType::int32, kNone, kAny, kClusterWide,
             "Segment size without a lower limit, for tests."),
    kept(define("leader.replication.throttled.replicas", ConfigType::list, "", kThrottledReplicas, kClusterWide,
                "Leaders whose replication is throttled, as partition:broker items, or *.")),
    kept(define("local.retention.bytes", ConfigType::int64, kOfBroker, range(-2), kClusterWide,
                "Bytes of a tiered partition that are kept locally; -2 means as retention.bytes.")),
    kept(define("local.retention.ms", ConfigType::int64, kOfBroker, range(-2), kClusterWide,
                "How long a tiered partition is kept locally; -2 means as retention.ms.")),
    define("max.compaction.lag.ms", ConfigType::int64, kOfBroker, range(1), kClusterWide,
           "Longest time until a record must be compacted."),
    define("max.message.bytes", ConfigType::int32, kOfBroker, range(0), kClusterWide,
           "Largest batch that is accepted, after compression."),
    define("message.timestamp.after.max.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "How far a record's timestamp may lie ahead of the broker's clock."),
    define("message.timestamp.before.max.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "How far a record's timestamp may lie behind the broker's clock."),
    define("message.timestamp.type", ConfigType::string, kOfBroker, one_of(kTimestampTypes), kClusterWide,
           "Whether records carry the time of their creation or of their append."),
    define("min.cleanable.dirty.ratio", ConfigType::float64, kOfBroker, range(0, 1), kClusterWide,
           "Share of uncleaned data from which a log is compacted."),
    define("min.compaction.lag.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "Shortest time that a record stays uncompacted."),
    define("min.insync.replicas", ConfigType::int32, kOfBroker, range(1), kClusterWide,
           "In-sync replicas that must be there for a write with acks=all, if this process is several brokers."),
    internal("partita.expansion.fence.timeout.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
             "In mode fenced: how long the broker withholds a new partition's records from a group that commits nothing on the "
             "parent partition."),
    internal("partita.expansion.guard.override", ConfigType::boolean, "false", kAny, kClusterWide,
             "In mode guarded: whether the topic grows despite findings against it."),
    internal("partita.expansion.guard.quiet.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
             "In mode guarded: how long producers must be quiet before the topic grows."),
    internal("partita.expansion.mode", ConfigType::string, kOfBroker, one_of(kExpansionModes), kClusterWide,
             "The protection of order and completeness when partitions are added: faithful (as Kafka: "
             "nothing), safe-offsets, guarded or fenced. See docs/expansion.md."),
    internal("partita.expansion.window.ms", ConfigType::int64, kOfBroker, range(1), kClusterWide,
             "In mode fenced: time after which all producers count as knowing the new partitions. Set it to twice their largest "
             "metadata.max.age.ms."),
    internal("partita.nudge", ConfigType::int64, "0", range(0), kClusterWide,
             "A new value makes the topic's consumers refresh their metadata. A test control."),
    internal("partita.visibility.consumers.delay.ms", ConfigType::int64, "0", range(-1), kClusterWide,
             "How long new partitions are hidden from consumers; -1 hides them until this is changed. A test control."),
    internal("partita.visibility.producers.delay.ms", ConfigType::int64, "0", range(-1), kClusterWide,
             "How long new partitions are hidden from producers; -1 hides them until this is changed. A test control."),
    kept(define("preallocate", ConfigType::boolean, kOfBroker, kAny, kClusterWide,
                "Whether a new segment gets its full size at once.")),
    kept(define("remote.log.copy.disable", ConfigType::boolean, "false", kAny, kClusterWide,
                "Whether copying to tiered storage stops.")),
    kept(define("remote.log.delete.on.disable", ConfigType::boolean, "false", kAny, kClusterWide,
                "Whether tiered data is deleted when tiering is switched off.")),
    define("remote.storage.enable", ConfigType::boolean, "false", kAny, kClusterWide,
           "Whether the topic uses tiered storage. This broker has none."),
    define("retention.bytes", ConfigType::int64, kOfBroker, kAny, kClusterWide,
           "Size of a partition from which old segments are deleted; -1 is no limit."),
    define("retention.ms", ConfigType::int64, kOfBroker, range(-1), kClusterWide, "How long records are kept; -1 is for ever."),
    define("segment.bytes", ConfigType::int32, kOfBroker, range(1048576), kClusterWide,
           "Size from which a new segment is begun."),
    define("segment.index.bytes", ConfigType::int32, kOfBroker, range(4), kClusterWide, "Largest size of an offset index."),
    define("segment.jitter.ms", ConfigType::int64, kOfBroker, range(0), kClusterWide,
           "Most milliseconds taken off segment.ms at random."),
    define("segment.ms", ConfigType::int64, kOfBroker, range(1), kClusterWide, "Time after which a new segment is begun."),
    kept(define("unclean.leader.election.enable", ConfigType::boolean, kOfBroker, kAny, kClusterWide,
                "Whether a replica that is not in sync may become leader, losing records.")),
};

}  // namespace

std::span<const ConfigDefinition> topic_definitions() { return kDefinitions; }

}  // namespace partita::config
