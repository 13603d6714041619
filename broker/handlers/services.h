#pragma once

#include <atomic>
#include <string>

#include "broker/access/authorizer.h"
#include "broker/config/config_definition.h"
#include "broker/handlers/record_services.h"
#include "protocol/types.h"

namespace partita::logs {
class PublishedTopics;
class Turns;
}  // namespace partita::logs

namespace partita {
class Clock;
class LogFlusher;
class OpenFiles;
}  // namespace partita

namespace partita::config {
class CurrentConfig;
}

namespace partita::logs {
class Placement;
}

namespace partita::handlers {
struct Extensions;
}

namespace partita::insight {
class FindingsHub;
class KeyObserver;
class LocalCluster;
class ReaderObserver;
class RequestNotes;
}  // namespace partita::insight

namespace partita::runtime {

class Catalog;
class ClientFetchSessions;
class ClientThrottles;
class Connections;
class ExpansionWorker;
class Expansions;
class FailureLog;
class FenceWakes;
class Fences;
class GroupShards;
class OutwardWrites;
class RequestWatch;
class ShownPartitions;
class TransactionShards;
class UpkeepBell;
struct Counters;

/// The parts of the running broker that requests of either protocol (Kafka's and HTTP) may use. A user of a part includes its
/// header, so that the includes of a handler show which parts it uses. All parts outlive the listeners; each documents which
/// threads may call it.
struct Services {
    /// Tells which node leads or coordinates what.
    const logs::Placement& placement;
    const std::string& cluster_id;
    /// The absolute path of the log directory: the only one that clients see.
    const std::string& log_directory;
    /// True while the broker is ready to serve requests.
    const std::atomic<bool>& is_ready;
    /// The addresses of the HTTP side and the data directory, as the settings that DescribeConfigs shows. Empty unless
    /// Broker::announce_places was called.
    const config::ConfigMap& places;

    /// The objects that addons supply in addition to the parts below.
    const handlers::Extensions& extensions;

    config::CurrentConfig& config;
    const logs::PublishedTopics& topics;
    logs::Turns& turns;
    /// The way of clients' records into partitions, and out of them.
    const RecordServices records;
    Catalog& catalog;
    GroupShards& groups;
    TransactionShards& transactions;
    /// Markers of transactions with a coordinator outside of this broker.
    OutwardWrites& outward_writes;
    Fences& fences;
    FenceWakes& fence_wakes;
    ShownPartitions& shown_partitions;
    Expansions& expansions;
    ExpansionWorker& expansion_worker;

    Connections& connections;
    const access::Authorizer& authorizer;
    ClientThrottles& throttles;
    RequestWatch& requests;
    ClientFetchSessions& fetch_sessions;

    const insight::LocalCluster& cluster;
    insight::RequestNotes& request_notes;
    insight::KeyObserver& keys;
    insight::ReaderObserver& readers;
    insight::FindingsHub& findings;

    LogFlusher& flusher;
    OpenFiles& open_files;
    Clock& clock;
    UpkeepBell& upkeep;
    Counters& counters;
    FailureLog& failures;
};

}  // namespace partita::runtime
