#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Transactions, producer ids and their coordinator. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours where the
// text says so.
constexpr ConfigDefinition kTransactionDefinitions[] = {
    kept(define("add.partitions.to.txn.retry.backoff.max.ms", ConfigType::int32, "100", range(0), kReadOnly,
                "Longest wait on the server before another try to add partitions to a transaction.")),
    kept(define("add.partitions.to.txn.retry.backoff.ms", ConfigType::int32, "20", range(1), kReadOnly,
                "First wait on the server before another try to add partitions to a transaction.")),
    internal("producer.id.expiration.check.interval.ms", ConfigType::int32, "600000", range(1), kReadOnly,
             "Time between checks for expired producer ids."),
    define("producer.id.expiration.ms", ConfigType::int32, "86400000", range(1), kClusterWide,
           "How long the state of an idle producer id is kept."),
    define("transaction.abort.timed.out.transaction.cleanup.interval.ms", ConfigType::int32, "10000", range(1), kReadOnly,
           "Time between checks for transactions that timed out."),
    define("transaction.max.timeout.ms", ConfigType::int32, "900000", range(1), kReadOnly,
           "Largest timeout that a transaction may ask for."),
    define("transaction.partition.verification.enable", ConfigType::boolean, "true", kAny, kClusterWide,
           "Whether writes of a transaction are checked against its partitions."),
    define("transaction.remove.expired.transaction.cleanup.interval.ms", ConfigType::int32, "3600000", range(1), kReadOnly,
           "Time between checks for expired transactional ids."),
    kept(define("transaction.state.log.load.buffer.size", ConfigType::int32, "5242880", range(1), kReadOnly,
                "Batch size in which the transaction topic is read at start.")),
    define("transaction.state.log.min.isr", ConfigType::int32, "2", range(1), kReadOnly,
           "In-sync replicas that the transaction topic needs. A value above 1 counts as 1 here."),
    define("transaction.state.log.num.partitions", ConfigType::int32, "50", range(1), kReadOnly,
           "Partitions of the transaction topic."),
    define("transaction.state.log.replication.factor", ConfigType::int16, "3", range(1), kReadOnly,
           "Replication factor of the transaction topic. A value above the number of brokers counts as that number."),
    define("transaction.state.log.segment.bytes", ConfigType::int32, "104857600", range(1), kReadOnly,
           "Segment size of the transaction topic."),
    kept(define("transaction.two.phase.commit.enable", ConfigType::boolean, "false", kAny, kReadOnly,
                "Whether transactions may be prepared for an outside coordinator.")),
    define("transactional.id.expiration.ms", ConfigType::int32, "604800000", range(1), kReadOnly,
           "How long an idle transactional id is kept."),
};

}  // namespace

std::span<const ConfigDefinition> transaction_definitions() { return kTransactionDefinitions; }

}  // namespace partita::config
