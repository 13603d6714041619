#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Tiered storage. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours where the text says so.
constexpr ConfigDefinition kRemoteLogDefinitions[] = {
    kept(define("follower.fetch.last.tiered.offset.enable", ConfigType::boolean, "false", kAny, kClusterWide,
                "Whether new followers start at the last tiered offset.")),
    kept(define("log.local.retention.bytes", ConfigType::int64, "-2", range(-2), kClusterWide,
                "Bytes of a tiered partition that are kept locally; -2 means as retention.bytes.")),
    kept(define("log.local.retention.ms", ConfigType::int64, "-2", range(-2), kClusterWide,
                "How long a tiered partition is kept locally; -2 means as retention.ms.")),
    kept(define("remote.fetch.max.wait.ms", ConfigType::int32, "500", range(1), kClusterWide,
                "Longest wait for tiered data in a fetch.")),
    kept(define("remote.list.offsets.request.timeout.ms", ConfigType::int64, "30000", range(1), kClusterWide,
                "Longest wait for offsets in tiered storage.")),
    kept(define("remote.log.index.file.cache.total.size.bytes", ConfigType::int64, "1073741824", range(1), kClusterWide,
                "Space for cached indexes of tiered segments.")),
    kept(internal("remote.log.index.file.cache.ttl.ms", ConfigType::int64, "900000", range(-1), kReadOnly,
                  "Lifetime of cached indexes of tiered segments.")),
    kept(define("remote.log.manager.copier.thread.pool.size", ConfigType::int32, "10", range(1), kClusterWide,
                "Threads that copy segments to tiered storage.")),
    kept(define("remote.log.manager.copy.max.bytes.per.second", ConfigType::int64, "9223372036854775807", range(1), kClusterWide,
                "Most bytes per second copied to tiered storage.")),
    kept(define("remote.log.manager.copy.quota.window.num", ConfigType::int32, "11", range(1), kReadOnly,
                "Number of samples of the copy quota.")),
    kept(define("remote.log.manager.copy.quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly,
                "Length of one sample of the copy quota.")),
    kept(define("remote.log.manager.expiration.thread.pool.size", ConfigType::int32, "10", range(1), kClusterWide,
                "Threads that expire tiered segments.")),
    kept(define("remote.log.manager.fetch.max.bytes.per.second", ConfigType::int64, "9223372036854775807", range(1), kClusterWide,
                "Most bytes per second read from tiered storage.")),
    kept(define("remote.log.manager.fetch.quota.window.num", ConfigType::int32, "11", range(1), kReadOnly,
                "Number of samples of the tiered fetch quota.")),
    kept(define("remote.log.manager.fetch.quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly,
                "Length of one sample of the tiered fetch quota.")),
    kept(define("remote.log.manager.follower.thread.pool.size", ConfigType::int32, "2", range(1), kClusterWide,
                "Threads for followers of tiered partitions.")),
    kept(define("remote.log.manager.task.interval.ms", ConfigType::int64, "30000", range(1), kReadOnly,
                "Time between rounds of the tiered storage tasks.")),
    kept(internal("remote.log.manager.task.retry.backoff.max.ms", ConfigType::int64, "30000", range(1), kReadOnly,
                  "Longest wait before a tiered storage task is tried again.")),
    kept(internal("remote.log.manager.task.retry.backoff.ms", ConfigType::int64, "500", range(1), kReadOnly,
                  "First wait before a tiered storage task is tried again.")),
    kept(internal("remote.log.manager.task.retry.jitter", ConfigType::float64, "0.2", range(0, 0.5), kReadOnly,
                  "Random share of the wait before a tiered storage task is tried again.")),
    kept(define("remote.log.manager.thread.pool.size", ConfigType::int32, "2", range(1), kReadOnly,
                "Threads of the tiered storage manager.")),
    kept(define("remote.log.metadata.custom.metadata.max.bytes", ConfigType::int32, "128", range(0), kReadOnly,
                "Largest custom metadata of a tiered segment.")),
    kept(define("remote.log.metadata.manager.class.name", ConfigType::string,
                "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", kNonEmpty, kReadOnly,
                "Class that manages metadata of tiered segments.")),
    kept(define("remote.log.metadata.manager.class.path", ConfigType::string, kNone, kAny, kReadOnly,
                "Class path of the tiered metadata manager.")),
    kept(define("remote.log.metadata.manager.impl.prefix", ConfigType::string, "rlmm.config.", kNonEmpty, kReadOnly,
                "Prefix of configs for the tiered metadata manager.")),
    kept(define("remote.log.metadata.manager.listener.name", ConfigType::string, kNone, kNonEmpty, kReadOnly,
                "Listener that the tiered metadata manager connects to.")),
    kept(define("remote.log.reader.max.pending.tasks", ConfigType::int32, "100", range(1), kReadOnly,
                "Reads of tiered storage that may wait.")),
    kept(define("remote.log.reader.threads", ConfigType::int32, "10", range(1), kClusterWide,
                "Threads that read tiered storage.")),
    kept(define("remote.log.storage.manager.class.name", ConfigType::string, kNone, kNonEmpty, kReadOnly,
                "Class that stores tiered segments.")),
    kept(define("remote.log.storage.manager.class.path", ConfigType::string, kNone, kAny, kReadOnly,
                "Class path of the tiered storage manager.")),
    kept(define("remote.log.storage.manager.impl.prefix", ConfigType::string, "rsm.config.", kNonEmpty, kReadOnly,
                "Prefix of configs for the tiered storage manager.")),
    kept(define("remote.log.storage.system.enable", ConfigType::boolean, "false", kAny, kReadOnly,
                "Whether topics may use tiered storage. This broker has none.")),
};

}  // namespace

std::span<const ConfigDefinition> remote_log_definitions() { return kRemoteLogDefinitions; }

}  // namespace partita::config
