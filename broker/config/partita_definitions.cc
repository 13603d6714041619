#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// This broker's own configs. Ascending by name.
constexpr ConfigDefinition kPartitaDefinitions[] = {
    internal("partita.adopt.directories", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether the start turns partition directories that the catalog does not know into topics. In a data directory that "
             "is new to this broker it always does."),
    internal("partita.authentication.time.max.ms", ConfigType::int32, "30000", range(1), kReadOnly,
             "Longest time from a client's connect to the end of its TLS handshake and login."),
    internal(
        "partita.authentication.waiting.max", ConfigType::int32, "1024", range(1), kReadOnly,
        "Most clients of each thread in a TLS handshake or login. When one more connects, the broker closes the oldest of them."),
    internal("partita.cluster.id", ConfigType::string, kNone, kAny, kReadOnly,
             "Cluster id of a new data directory, a UUID of 22 characters; random without it."),
    internal("partita.connections.gather", ConfigType::boolean, "true", kAny, kReadOnly,
             "Whether connections share as few threads as their load allows, which saves waking other threads. Without it, "
             "threads get equal shares."),
    internal("partita.core.dumps.enable", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether the kernel may write core dumps of a broker whose memory holds passwords, keys or tokens, and whether "
             "debuggers of its user may attach. A broker without secrets always allows both."),
    internal("partita.create.topics", ConfigType::string, "", kAny, kReadOnly,
             "Topics that the start creates if they are missing: NAME:PARTITIONS:REPLICAS[:CLEANUP_POLICY],..., as in "
             "KAFKA_CREATE_TOPICS."),
    kept(internal("partita.data.directory", ConfigType::string, kNone, kAny, kReadOnly,
                  "Data directory of the running broker, as an absolute path. The broker sets it.")),
    define("partita.default.expansion.fence.timeout.ms", ConfigType::int64, "120000", range(0), kClusterWide,
           "Default of the topic config partita.expansion.fence.timeout.ms."),
    define("partita.default.expansion.guard.quiet.ms", ConfigType::int64, "30000", range(0), kClusterWide,
           "Default of the topic config partita.expansion.guard.quiet.ms."),
    define("partita.default.expansion.mode", ConfigType::string, "faithful", one_of(kExpansionModes), kClusterWide,
           "Default of the topic config partita.expansion.mode: faithful, safe-offsets, guarded or fenced."),
    define("partita.default.expansion.mode.patterns", ConfigType::string, "", kAny, kClusterWide,
           "Modes of topics by their names, PATTERN:MODE[,PATTERN:MODE...]: a * stands for any characters, and the first pattern "
           "that matches the whole name counts. It overrides partita.default.expansion.mode; a topic's own "
           "partita.expansion.mode overrides both."),
    define("partita.default.expansion.window.ms", ConfigType::int64, "600000", range(1), kClusterWide,
           "Default of the topic config partita.expansion.window.ms."),
    define("partita.detection.enable", ConfigType::boolean, "true", kAny, kClusterWide,
           "Whether the broker samples produced records, to detect each producer's partitioner and to prove the effect of an "
           "expansion on keys. See docs/expansion.md."),
    define(
        "partita.detection.processor.percent", ConfigType::float64, "1.5", range(0.1, 100), kClusterWide,
        "Largest share of the broker's processor time that sampling may take, or 0.5 % of one core if that is more. With 100 the "
        "broker examines every record."),
    define("partita.events.topic.enable", ConfigType::boolean, "true", kAny, kClusterWide,
           "Whether the broker writes events of findings to the topic __partita_expansions. The first event about a topic that "
           "has grown creates it."),
    internal("partita.http.advertised", ConfigType::string, kNone, kAny, kReadOnly,
             "Address of the HTTP side for clients, as host:port, or off. Without it, the address on which the broker listens."),
    define("partita.http.listener", ConfigType::string, "localhost:8092", kAny, kReadOnly,
           "Address on which the HTTP side listens, as host:port; an empty host is every interface, an empty value switches HTTP "
           "off. With https:// before it, the HTTP side speaks TLS with the key of ssl.keystore.location or "
           "listener.name.http.ssl.keystore.location."),
    internal("partita.http.open", ConfigType::string, "", one_of(kHttpOpen), kReadOnly,
             "Resources that the HTTP side serves to other machines if the broker has no token: health (and metrics), or all. "
             "Without a value, a broker that listens for other machines needs a token."),
    internal("partita.http.plaintext", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether clients may send the token from other machines without TLS: a proxy adds TLS, or the network is private."),
    internal("partita.http.principal", ConfigType::string, "User:http", kAny, kReadOnly,
             "Principal of the token's bearer, for super.users and ACLs, as type:name."),
    internal("partita.http.token", ConfigType::password, kNone, kAny, kReadOnly,
             "Token that clients of the HTTP side must send (Authorization: Bearer). Health and the console's files need none."),
    internal("partita.http.token.file", ConfigType::string, "", kAny, kReadOnly,
             "A file that holds the token in its first line."),
    internal("partita.jaas.file", ConfigType::string, "", kAny, kReadOnly,
             "A JAAS file, as java.security.auth.login.config in KAFKA_OPTS names it: its sections LISTENER.KafkaServer and "
             "KafkaServer "
             "are the login modules of listeners without a sasl.jaas.config of their own."),
    internal("partita.polling.enable", ConfigType::boolean, "true", kAny, kReadOnly,
             "Whether a thread whose clients send request after request polls for up to 50 us before it sleeps: waking it takes "
             "as long as an exchange. At most half of the broker's processors poll at once, and none if it may use only one."),
    internal("partita.scram.users", ConfigType::password, kNone, kAny, kReadOnly,
             "The lines of such a file as partita.scram.users.file names, instead of the file."),
    internal("partita.scram.users.file", ConfigType::string, "", kAny, kReadOnly,
             "A file of users whose credentials the start creates or renews: lines of kafka-storage format --add-scram, "
             "SCRAM-SHA-512=[name=alice,password=alice-secret]."),
    internal("partita.start.message", ConfigType::string, "", kAny, kReadOnly,
             "Lines that the broker prints to standard output once it serves clients, for starters that wait for a line of "
             "another broker's log."),
};

}  // namespace

std::span<const ConfigDefinition> partita_definitions() { return kPartitaDefinitions; }

}  // namespace partita::config
