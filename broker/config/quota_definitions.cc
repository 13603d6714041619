#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Quotas and metrics. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours where the text says so.
constexpr ConfigDefinition kQuotaDefinitions[] = {
    kept(define("client.quota.callback.class", ConfigType::class_name, kNone, kAny, kReadOnly,
                "Class that computes client quotas.")),
    define("controller.quota.window.num", ConfigType::int32, "11", range(1), kReadOnly,
           "Number of samples kept for the quota on topic and partition changes."),
    define("controller.quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly,
           "Length of one sample of the quota on topic and partition changes."),
    kept(define("kafka.metrics.polling.interval.secs", ConfigType::int32, "10", range(1), kReadOnly,
                "Polling interval of metrics reporters.")),
    kept(define("kafka.metrics.reporters", ConfigType::list, "", list_of({}, true, false), kReadOnly,
                "Classes of metrics reporters.")),
    kept(define("metric.reporters", ConfigType::list, "org.apache.kafka.common.metrics.JmxReporter", list_of({}, true, false),
                kClusterWide, "Classes of metrics reporters.")),
    kept(define("metrics.num.samples", ConfigType::int32, "2", range(1), kReadOnly, "Samples kept for each metric.")),
    kept(define("metrics.recording.level", ConfigType::string, "INFO", kAny, kReadOnly,
                "Most detailed level of metrics that is recorded.")),
    kept(
        define("metrics.sample.window.ms", ConfigType::int64, "30000", range(1), kReadOnly, "Time window of one metric sample.")),
    define("quota.window.num", ConfigType::int32, "11", range(1), kReadOnly, "Number of samples kept for client quotas."),
    define("quota.window.size.seconds", ConfigType::int32, "1", range(1), kReadOnly, "Length of one sample of client quotas."),
    kept(define("telemetry.max.bytes", ConfigType::int32, "1048576", range(1), kReadOnly, "Largest batch of client telemetry.")),
};

}  // namespace

std::span<const ConfigDefinition> quota_definitions() { return kQuotaDefinitions; }

}  // namespace partita::config
