#pragma once

#include <atomic>
#include <string>

#include "broker/access/authorizer.h"
#include "broker/config/config_definition.h"
#include "broker/handlers/record_services.h"
#include "protocol/types.h"

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
class PublishedTopics;
class Turns;
}  // namespace partita::logs

namespace partita::handlers {
struct Extensions;
}

namespace partita::insight {
class FindingsHub;
class ReaderObserver;
class KeyObserver;
class RequestNotes;
struct LocalPlanSources;
}  // namespace partita::insight

namespace partita::runtime {

class Catalog;
class ClientShareSessions;
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
class ShareShards;
class ShownPartitions;
class TransactionShards;
class UpkeepBell;
struct Counters;

/// The facts by which the broker presents itself.
struct BrokerDescription {
    const std::string& cluster_id;
    /// The absolute path of the log directory: the only one that clients see.
    const std::string& log_directory;
    /// The addresses of the HTTP side and the data directory, as the settings that DescribeConfigs shows. Empty unless
    /// Broker::announce_places was called.
    const config::ConfigMap& places;
    /// True while the broker is ready to serve requests.
    const std::atomic<bool>& is_ready;
};

/// The parts of the running broker that requests of every kind may use: RequestContext::services. `Services` has the others.
struct CommonServices {
    const BrokerDescription description;
    /// Tells which node leads or coordinates what.
    const logs::Placement& placement;
    config::CurrentConfig& config;
    const logs::PublishedTopics& topics;
    logs::Turns& turns;
    Clock& clock;

    const access::Authorizer& authorizer;
    ClientThrottles& throttles;
    RequestWatch& requests;
    Connections& connections;
    ShownPartitions& shown_partitions;

    /// The objects that addons supply in addition to the broker's own parts.
    const handlers::Extensions& extensions;
};

/// The parts that share groups need: their coordinators, their sessions, and the way to records.
struct ShareServices {
    GroupShards& groups;
    ShareShards& shares;
    ClientShareSessions& sessions;
    logs::Reader& reader;
    logs::Turns& turns;
    const logs::Placement& placement;
    /// Creates the topics of coordinators.
    Catalog& catalog;
    const config::CurrentConfig& config;
};

/// The coordinators of groups and transactions, with the parts that their requests need besides.
struct CoordinatorServices {
    GroupShards& groups;
    TransactionShards& transactions;
    /// Markers of transactions with a coordinator outside of this broker.
    OutwardWrites& outward_writes;
    /// Creates the topics of coordinators and gives out producer ids.
    Catalog& catalog;
    /// Syncs given-out producer ids.
    LogFlusher& flusher;
    UpkeepBell& bell;
    insight::RequestNotes& request_notes;
    const ShareServices share;
};

/// The parts that add partitions and protect the readers of a topic that has grown.
struct GrowthServices {
    Expansions& expansions;
    ExpansionWorker& worker;
    Fences& fences;
    FenceWakes& wakes;
};

/// The parts that watch the broker's clients and say what they found.
struct InsightServices {
    const insight::LocalPlanSources& plan_sources;
    insight::KeyObserver& keys;
    insight::RequestNotes& request_notes;
    insight::FindingsHub& findings;
    insight::ReaderObserver& readers;
};

/// The parts that count the broker's work and look after its data.
struct UpkeepServices {
    Counters& counters;
    FailureLog& failures;
    UpkeepBell& bell;
    LogFlusher& flusher;
    OpenFiles& open_files;
};

/// All parts of the running broker that requests of any protocol may use, by the kind of request. A handler of Kafka's API gets
/// the common ones and, if PARTITA_SERVES_WITH names it, one of the members below; an HTTP resource names the one that it uses. A
/// user of a part includes its header, so that the includes show which parts it uses. All parts outlive the listeners; each
/// documents which threads may call it.
struct Services : CommonServices {
    /// The way of clients' records into partitions, and out of them.
    const RecordServices records;
    Catalog& catalog;
    const CoordinatorServices coordinators;
    const GrowthServices growth;
    const InsightServices insight;
    const UpkeepServices upkeep;
};

}  // namespace partita::runtime
