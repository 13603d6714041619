#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Listeners, sockets, connections and the handling of requests. Ascending by name; facts of Apache Kafka 4.3.1, defaults of ours
// where the text says so.
constexpr ConfigDefinition kNetworkDefinitions[] = {
    define("advertised.listeners", ConfigType::list, kNone, list_of({}, false, true), kReadOnly,
           "Addresses that the broker gives to clients, as NAME://host:port items. Without it, see listeners."),
    kept(define("background.threads", ConfigType::int32, "10", range(1), kClusterWide,
                "Threads for work that no request waits for.")),
    define("connections.max.idle.ms", ConfigType::int64, "600000", kAny, kReadOnly,
           "A connection that is silent for longer is closed."),
    kept(define("delete.records.purgatory.purge.interval.requests", ConfigType::int32, "1", kAny, kReadOnly,
                "Purge interval of waiting DeleteRecords requests, in requests.")),
    kept(define("early.start.listeners", ConfigType::list, kNone, list_of({}, true, true), kReadOnly,
                "Listeners opened before the authorizer is ready.")),
    define("fetch.max.bytes", ConfigType::int32, "57671680", range(1024), kReadOnly,
           "Most bytes that one fetch returns; the first batch is returned even if it is larger."),
    kept(define("fetch.purgatory.purge.interval.requests", ConfigType::int32, "1000", kAny, kReadOnly,
                "Purge interval of waiting fetches, in requests.")),
    kept(define("inter.broker.listener.name", ConfigType::string, kNone, kAny, kReadOnly,
                "Listener that brokers use among themselves. Excludes security.inter.broker.protocol.")),
    at_next_start(define("listener.security.protocol.map", ConfigType::string,
                         "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", kAny, kPerBroker,
                         "Security protocol of each listener name, as NAME:PROTOCOL items.")),
    at_next_start(define("listeners", ConfigType::list, "PLAINTEXT://localhost:9092", list_of({}, false, false), kPerBroker,
                         "Where the broker listens, as NAME://host:port items; an empty host is every interface. "
                         "Without it this broker listens on loopback only, where Apache Kafka listens everywhere.")),
    define("max.connection.creation.rate", ConfigType::int32, "2147483647", range(0), kClusterWide,
           "New connections per second and broker."),
    define("max.connections", ConfigType::int32, "2147483647", range(0), kClusterWide, "Most connections of the broker."),
    define("max.connections.per.ip", ConfigType::int32, "2147483647", range(0), kClusterWide,
           "Most connections from one address."),
    define("max.connections.per.ip.overrides", ConfigType::string, "", kAny, kClusterWide,
           "Other limits for single addresses or names, as host:count items."),
    define("max.incremental.fetch.session.cache.slots", ConfigType::int32, "1000", range(0), kReadOnly,
           "Most incremental fetch sessions."),
    define("max.request.partition.size.limit", ConfigType::int32, "2000", range(1), kReadOnly,
           "Most partitions in one answer that is given in pages."),
    kept(define("num.io.threads", ConfigType::int32, "8", range(1), kClusterWide,
                "Threads that serve requests. Accepted; this broker runs one reactor for each core.")),
    kept(define("num.network.threads", ConfigType::int32, "3", range(1), kClusterWide,
                "Threads that talk to the network. Accepted; this broker runs one reactor for each core.")),
    kept(define("producer.purgatory.purge.interval.requests", ConfigType::int32, "1000", kAny, kReadOnly,
                "Purge interval of waiting produce requests, in requests.")),
    define("queued.max.request.bytes", ConfigType::int64, "-1", kAny, kReadOnly,
           "Bytes of waiting requests from which no more are read; -1 is no limit."),
    kept(define("queued.max.requests", ConfigType::int32, "500", range(1), kReadOnly,
                "Requests that may wait before reading stops.")),
    kept(define("request.timeout.ms", ConfigType::int32, "30000", kAny, kReadOnly,
                "How long a request to another node may take.")),
    kept(define("socket.connection.setup.timeout.max.ms", ConfigType::int64, "30000", kAny, kReadOnly,
                "Longest wait for a connection to be set up, after retries.")),
    kept(define("socket.connection.setup.timeout.ms", ConfigType::int64, "10000", kAny, kReadOnly,
                "First wait for a connection to be set up.")),
    define("socket.listen.backlog.size", ConfigType::int32, "50", range(1), kReadOnly,
           "Connections that may wait to be accepted."),
    kept(define("socket.receive.buffer.bytes", ConfigType::int32, "102400", kAny, kReadOnly,
                "Receive buffer of client sockets; -1 leaves it to the system.")),
    define("socket.request.max.bytes", ConfigType::int32, "104857600", range(1), kReadOnly, "Largest request that is read."),
    kept(define("socket.send.buffer.bytes", ConfigType::int32, "102400", kAny, kReadOnly,
                "Send buffer of client sockets; -1 leaves it to the system.")),
};

}  // namespace

std::span<const ConfigDefinition> network_definitions() { return kNetworkDefinitions; }

}  // namespace partita::config
