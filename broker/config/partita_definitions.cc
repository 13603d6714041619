#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// This broker's own configs. Ascending by name.
constexpr ConfigDefinition kPartitaDefinitions[] = {
    internal("partita.adopt.directories", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether directories of partitions that the catalog does not know become topics at the start. In a directory that "
             "is new to this broker they always do."),
    internal("partita.authentication.time.max.ms", ConfigType::int32, "30000", range(1), kReadOnly,
             "How long a client may take until it is known who it is: TLS handshake and login together, from the moment in which "
             "it connected."),
    internal(
        "partita.authentication.waiting.max", ConfigType::int32, "1024", range(1), kReadOnly,
        "Most clients of each thread whose TLS handshake or login is under way. When one more comes, the one that came first "
        "is closed."),
    internal("partita.cluster.id", ConfigType::string, kNone, kAny, kReadOnly,
             "Identity that a new data directory is given, a UUID of 22 characters; a random one without it."),
    internal("partita.connections.gather", ConfigType::boolean, "true", kAny, kReadOnly,
             "Whether connections share as few threads as their load allows, which spares a record the wake of another thread. "
             "Without it they are dealt out evenly."),
    internal("partita.core.dumps.enable", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether the kernel may write core dumps of a broker whose memory holds passwords, keys or tokens, and its user's "
             "debuggers may look into it. A broker without secrets always lets them."),
    kept(internal("partita.data.directory", ConfigType::string, kNone, kAny, kReadOnly,
                  "Where the running broker keeps its data, as an absolute path. The broker says it.")),
    define("partita.default.expansion.fence.timeout.ms", ConfigType::int64, "120000", range(0), kClusterWide,
           "Default of the topic config partita.expansion.fence.timeout.ms."),
    define("partita.default.expansion.guard.quiet.ms", ConfigType::int64, "30000", range(0), kClusterWide,
           "Default of the topic config partita.expansion.guard.quiet.ms."),
    define("partita.default.expansion.mode", ConfigType::string, "faithful", one_of(kExpansionModes), kClusterWide,
           "Default of the topic config partita.expansion.mode: faithful, safe-offsets, guarded or fenced."),
    define(
        "partita.default.expansion.mode.patterns", ConfigType::string, "", kAny, kClusterWide,
        "Modes of topics by their names, PATTERN:MODE[,PATTERN:MODE...]: a * stands for any characters, the first pattern that "
        "is the whole name counts. Before partita.default.expansion.mode; a topic's own partita.expansion.mode goes before "
        "both."),
    define("partita.default.expansion.window.ms", ConfigType::int64, "600000", range(1), kClusterWide,
           "Default of the topic config partita.expansion.window.ms."),
    define("partita.detection.enable", ConfigType::boolean, "true", kAny, kClusterWide,
           "Whether samples of produced records are looked at, to know which partitioner each producer uses and to prove "
           "what an expansion does to keys. See docs/expansion.md."),
    define("partita.detection.processor.percent", ConfigType::float64, "1.5", range(0.1, 100), kClusterWide,
           "What looking at samples may take of the processor time that the broker spends. With 100 every record is looked at, "
           "however much there is."),
    define("partita.events.topic.enable", ConfigType::boolean, "true", kAny, kClusterWide,
           "Whether events of findings are written to the topic __partita_expansions, which is made for the first one about "
           "a topic that has grown."),
    internal(
        "partita.http.advertised", ConfigType::string, kNone, kAny, kReadOnly,
        "Where clients find the HTTP side, as host:port; off when there is none. The broker says where it listens; given, it "
        "says what was given."),
    define("partita.http.listener", ConfigType::string, "localhost:8092", kAny, kReadOnly,
           "Where the HTTP side listens, as host:port; an empty host is every interface, an empty "
           "value switches it off. With https:// before it, it speaks TLS with the key of ssl.keystore.location or "
           "listener.name.http.ssl.keystore.location."),
    internal("partita.http.open", ConfigType::string, "", one_of(kHttpOpen), kReadOnly,
             "What the HTTP side serves beyond this machine to clients without a token, when the broker has none: health (and "
             "metrics), or all. Without a value a broker that listens there needs a token."),
    internal("partita.http.plaintext", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether the token may be sent beyond this machine without TLS: somebody else sees to that, or the network is the "
             "machine's own."),
    internal("partita.http.principal", ConfigType::string, "User:http", kAny, kReadOnly,
             "Who the bearer of the token is, for super.users and ACLs, as type:name."),
    internal("partita.http.token", ConfigType::password, kNone, kAny, kReadOnly,
             "What clients of the HTTP side have to send (Authorization: Bearer). Health and the console's files need none."),
    internal("partita.http.token.file", ConfigType::string, "", kAny, kReadOnly,
             "A file that holds the token in its first line."),
    internal(
        "partita.polling.enable", ConfigType::boolean, "true", kAny, kReadOnly,
        "Whether a thread whose clients ask at once again looks for their requests for up to 50 us before it sleeps: waking it "
        "takes as long as an exchange. At most half of the processors that the broker may use do so at once, and none where it "
        "may use "
        "one."),
    internal(
        "partita.scram.users.file", ConfigType::string, "", kAny, kReadOnly,
        "A file of users who are made at the start, or get their password again: lines as kafka-storage format --add-scram takes "
        "them, SCRAM-SHA-512=[name=alice,password=alice-secret]."),
    internal("partita.start.message", ConfigType::string, "", kAny, kReadOnly,
             "Lines that are printed on standard output when clients are served, for starters that wait for a line of another "
             "broker's log."),
};

}  // namespace

std::span<const ConfigDefinition> partita_definitions() { return kPartitaDefinitions; }

}  // namespace partita::config
