#include "broker/config/definition_helpers.h"
#include "broker/config/definition_tables.h"

namespace partita::config {

namespace {

// Nodes, controllers and their quorum. Ascending by name. Names, types and defaults are Kafka 4.3.1's, except where a text says
// that a default is ours.
constexpr ConfigDefinition kClusterDefinitions[] = {
    kept(define("alter.config.policy.class.name", ConfigType::class_name, kNone, kAny, kReadOnly,
                "Class that judges config changes.")),
    kept(define("broker.heartbeat.interval.ms", ConfigType::int32, "2000", kAny, kReadOnly,
                "Time between heartbeats of a broker to the controller.")),
    define("broker.id", ConfigType::int32, "-1", kAny, kReadOnly, "Older name of node.id."),
    define("broker.rack", ConfigType::string, kNone, kAny, kReadOnly,
           "Rack of this broker, told to clients for placement and fetch-from-closest."),
    define("broker.session.timeout.ms", ConfigType::int32, "9000", kAny, kReadOnly,
           "How long a broker may be silent before the controller fences it, if this process is several."),
    at_next_start(define("config.providers", ConfigType::list, "", list_of({}, true, false), kClusterWide,
                         "Names of providers for values kept elsewhere. The broker replaces ${NAME:PATH:KEY} in the values of "
                         "its start.")),
    kept(define("controlled.shutdown.enable", ConfigType::boolean, "true", kAny, kReadOnly,
                "Whether a stopping broker hands its leaderships over first.")),
    required("controller.listener.names", ConfigType::list, "CONTROLLER", list_of({}, false, false), kReadOnly,
             "Names of the listeners that belong to the controller. This broker is its own controller "
             "and opens none of them."),
    kept(internal("controller.performance.always.log.threshold.ms", ConfigType::int64, "2000", range(0), kReadOnly,
                  "Controller events slower than this are always logged.")),
    kept(internal("controller.performance.sample.period.ms", ConfigType::int64, "60000", range(100), kReadOnly,
                  "Period of the controller's performance samples.")),
    kept(define("controller.quorum.append.linger.ms", ConfigType::int32, "25", range(0), kReadOnly,
                "How long the quorum leader gathers records before it writes them.")),
    kept(define("controller.quorum.auto.join.enable", ConfigType::boolean, "false", kAny, kReadOnly,
                "Whether a controller joins the quorum by itself.")),
    kept(define("controller.quorum.bootstrap.servers", ConfigType::list, "", kQuorumBootstrapServers, kReadOnly,
                "Controllers to ask for the quorum, as host:port items.")),
    kept(define("controller.quorum.election.backoff.max.ms", ConfigType::int32, "1000", range(0), kReadOnly,
                "Longest wait before another election.")),
    kept(define("controller.quorum.election.timeout.ms", ConfigType::int32, "1000", range(0), kReadOnly,
                "Longest wait for votes in an election.")),
    kept(define("controller.quorum.fetch.max.bytes", ConfigType::int32, "1048576", range(1), kReadOnly,
                "Most bytes that a quorum fetch returns.")),
    kept(define("controller.quorum.fetch.snapshot.max.bytes", ConfigType::int32, "1048576", range(1), kReadOnly,
                "Most bytes that one fetch of a metadata snapshot returns.")),
    kept(define("controller.quorum.fetch.timeout.ms", ConfigType::int32, "2000", range(0), kReadOnly,
                "How long a voter waits for its leader before it calls an election.")),
    kept(define("controller.quorum.request.timeout.ms", ConfigType::int32, "2000", range(0), kReadOnly,
                "How long a quorum request may take.")),
    kept(define("controller.quorum.retry.backoff.ms", ConfigType::int32, "20", range(0), kReadOnly,
                "Wait before a quorum request is tried again.")),
    kept(define("controller.quorum.voters", ConfigType::list, "", kQuorumVoters, kReadOnly,
                "Voters of the controller quorum, as id@host:port items.")),
    kept(define("controller.socket.timeout.ms", ConfigType::int32, "30000", kAny, kReadOnly,
                "Socket timeout between controller and brokers.")),
    kept(define("initial.broker.registration.timeout.ms", ConfigType::int32, "60000", kAny, kReadOnly,
                "How long a starting broker tries to register.")),
    kept(internal("internal.metadata.delete.delay.millis", ConfigType::int64, "60000", kAny, kReadOnly,
                  "Delay before old metadata files are removed.")),
    kept(internal("internal.metadata.log.segment.bytes", ConfigType::int32, kNone, kAny, kReadOnly,
                  "Segment size of the metadata log, for tests.")),
    kept(internal("internal.metadata.max.batch.size.in.bytes", ConfigType::int32, "8388608", kAny, kReadOnly,
                  "Largest batch of the metadata log.")),
    kept(define("metadata.log.dir", ConfigType::string, kNone, kAny, kReadOnly, "Directory of the metadata log.")),
    kept(define("metadata.log.max.record.bytes.between.snapshots", ConfigType::int64, "20971520", range(1), kReadOnly,
                "Bytes of metadata records after which a snapshot is made.")),
    kept(define("metadata.log.max.snapshot.interval.ms", ConfigType::int64, "3600000", range(0), kReadOnly,
                "Longest time between metadata snapshots.")),
    kept(define("metadata.log.segment.bytes", ConfigType::int32, "1073741824", range(8388608), kReadOnly,
                "Segment size of the metadata log.")),
    kept(define("metadata.log.segment.ms", ConfigType::int64, "604800000", kAny, kReadOnly,
                "Time after which a new segment of the metadata log is begun.")),
    kept(define("metadata.max.idle.interval.ms", ConfigType::int32, "500", range(0), kReadOnly,
                "Time after which an idle controller writes a no-op record.")),
    kept(define("metadata.max.retention.bytes", ConfigType::int64, "104857600", kAny, kReadOnly,
                "Size from which old metadata is deleted.")),
    kept(define("metadata.max.retention.ms", ConfigType::int64, "604800000", kAny, kReadOnly,
                "Age from which old metadata is deleted.")),
    required("node.id", ConfigType::int32, "1", range(0), kReadOnly, "Id of this node. Default: 1."),
    kept(required("process.roles", ConfigType::list, "broker,controller", list_of(kProcessRoles, false, false), kReadOnly,
                  "Roles of this node. It is always broker and controller in one.")),
    kept(internal("server.max.startup.time.ms", ConfigType::int64, "9223372036854775807", range(0), kReadOnly,
                  "Longest time that a start may take.")),
    internal("unstable.api.versions.enable", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether API versions still in development are offered."),
    kept(internal("unstable.feature.versions.enable", ConfigType::boolean, "false", kAny, kReadOnly,
                  "Whether feature levels still in development are allowed.")),
};

}  // namespace

std::span<const ConfigDefinition> cluster_definitions() { return kClusterDefinitions; }

}  // namespace partita::config
