#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Replication and leadership. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours where the text says so.
constexpr ConfigDefinition kReplicationDefinitions[] = {
    kept(define("alter.log.dirs.replication.quota.window.num", ConfigType::int32, "11", range(1), kReadOnly,
                "Number of samples kept for the quota on moves between log directories.")),
    kept(define("alter.log.dirs.replication.quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly,
                "Length of one sample of the quota on moves between log directories.")),
    kept(define("auto.leader.rebalance.enable", ConfigType::boolean, "true", kAny, kReadOnly,
                "Whether leadership returns to preferred replicas by itself.")),
    define("default.replication.factor", ConfigType::int32, "1", kAny, kReadOnly,
           "Replication factor of topics that are created without one."),
    kept(internal("follower.replication.throttled.rate", ConfigType::int64, "9223372036854775807", range(0), kClusterWide,
                  "Bytes per second for throttled replicas on followers.")),
    kept(define("leader.imbalance.check.interval.seconds", ConfigType::int64, "300", range(1), kReadOnly,
                "Time between checks for leader imbalance.")),
    kept(internal("leader.replication.throttled.rate", ConfigType::int64, "9223372036854775807", range(0), kClusterWide,
                  "Bytes per second for throttled replicas on leaders.")),
    define("min.insync.replicas", ConfigType::int32, "1", range(1), kClusterWide,
           "In-sync replicas that must be there for a write with acks=all, if this process is several brokers."),
    kept(define("num.replica.alter.log.dirs.threads", ConfigType::int32, kNone, kAny, kReadOnly,
                "Threads that move replicas between directories.")),
    kept(define("num.replica.fetchers", ConfigType::int32, "1", range(1), kClusterWide, "Fetchers for each source broker.")),
    kept(internal("replica.alter.log.dirs.io.max.bytes.per.second", ConfigType::int64, "9223372036854775807", range(0),
                  kClusterWide, "Bytes per second for moves between log directories.")),
    kept(define("replica.fetch.backoff.ms", ConfigType::int32, "1000", range(0), kReadOnly,
                "Wait of a follower after a failed fetch.")),
    kept(define("replica.fetch.max.bytes", ConfigType::int32, "1048576", range(0), kReadOnly,
                "Bytes that a follower fetches for each partition.")),
    kept(define("replica.fetch.min.bytes", ConfigType::int32, "1", kAny, kReadOnly, "Least bytes that a follower waits for.")),
    kept(define("replica.fetch.response.max.bytes", ConfigType::int32, "10485760", range(0), kReadOnly,
                "Most bytes of an answer to a follower.")),
    kept(define("replica.fetch.wait.max.ms", ConfigType::int32, "500", kAny, kReadOnly, "Longest wait of a follower's fetch.")),
    kept(define("replica.high.watermark.checkpoint.interval.ms", ConfigType::int64, "5000", kAny, kReadOnly,
                "Time between writes of the high watermarks.")),
    kept(define("replica.lag.time.max.ms", ConfigType::int64, "30000", kAny, kReadOnly,
                "A follower that lags for longer leaves the in-sync replicas.")),
    define("replica.selector.class", ConfigType::string, kNone, kAny, kReadOnly,
           "Class that chooses the replica a consumer reads from, if this process is several brokers."),
    kept(define("replica.socket.receive.buffer.bytes", ConfigType::int32, "65536", kAny, kReadOnly,
                "Receive buffer of replication sockets.")),
    kept(define("replica.socket.timeout.ms", ConfigType::int32, "30000", kAny, kReadOnly, "Timeout of replication requests.")),
    kept(define("replication.quota.window.num", ConfigType::int32, "11", range(1), kReadOnly,
                "Number of samples kept for replication quotas.")),
    kept(define("replication.quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly,
                "Length of one sample of replication quotas.")),
    kept(define("unclean.leader.election.enable", ConfigType::boolean, "false", kAny, kClusterWide,
                "Whether a replica that is not in sync may become leader, losing records.")),
    kept(internal("unclean.leader.election.interval.ms", ConfigType::int64, "300000", range(1), kReadOnly,
                  "Time between unclean elections.")),
};

}  // namespace

std::span<const ConfigDefinition> replication_definitions() { return kReplicationDefinitions; }

}  // namespace partita::config
