#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "broker/access/authorizer.h"
#include "broker/config/broker_config.h"
#include "broker/handlers/extensions.h"
#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"
#include "broker/runtime/loop/start_error.h"
#include "schedule/executor.h"
#include "storage/data_change.h"

namespace partita::logs {
class Placement;
class PublishedTopics;
class Turns;
}  // namespace partita::logs

namespace partita {
class FileSystem;
class MetadataStore;
}  // namespace partita

namespace partita::config {
class CurrentConfig;
}

namespace partita::insight {
class FindingsHub;
}  // namespace partita::insight

namespace partita::runtime {
class CoordinatorHosts;
class FailureLog;
class OwnChanges;
class UpkeepBell;
}  // namespace partita::runtime

/// Addons: the parts of a broker beyond what Kafka's clients need. A build can leave them out (`-DPARTITA_ADDONS=OFF`).
///
/// An addon NAME lives in broker/addons/NAME. It adds to each room that it concerns by one constant in
/// broker/addons/NAME/PART/addition.cc:
/// - `kConfigAddition` (config/addition.h: definitions, presets, rules)
/// - `kBrokerAddition` (below: parts that run)
/// - `kHttpAddition` (http/addition.h: resources and metrics)
/// - `kToolAddition` (tools/addition.h)
/// - `kCommandAddition` (cli/addition.h)
///
/// The build lists the existing ones (broker/CMakeLists.txt). Nothing registers itself before main, and no room includes an
/// addon.
namespace partita::assembly {

/// The parts of a broker that addons may use. They live from `attach` to `stop`, while addons use them.
struct AddonPlace {
    const Schedule& schedule;
    FileSystem& file_system;
    MetadataStore& metadata_store;
    const config::CurrentConfig& config;
    logs::PublishedTopics& topics;
    logs::Turns& turns;
    /// An addon may bring the plan of several nodes; their topics follow in `load`.
    logs::Placement& placement;
    runtime::CoordinatorHosts& coordinators;
    runtime::OwnChanges& own_changes;
    insight::FindingsHub& findings;
    runtime::UpkeepBell& upkeep;
    runtime::FailureLog& failures;
    /// See first_topics.h. Any thread may call it once the topics are loaded.
    std::function<std::expected<void, runtime::StartError>(Now now)> make_first_topics;
    /// An absolute path.
    const std::string& data_directory;
    /// See Broker::Options.
    const ChangeData& change_data;
};

/// The running part of an addon in one broker. The calls come in this order, on the thread that starts and stops the broker: each
/// once, except `stop`.
class Addon {
  public:
    virtual ~Addon() = default;
    /// The access rules: its own, which go before `others`, or these. Null allows everything.
    [[nodiscard]] virtual const access::Rules* rules(const access::Rules* others) { return others; }
    /// Makes its parts, and joins them to the broker's: listeners of topics, coordinators, extensions.
    virtual void attach(const AddonPlace& place, handlers::Extensions& extensions) = 0;
    /// Adds its steps for appends and reads, behind the broker's own steps.
    virtual void add_steps(logs::AppendSteps& /*appends*/, logs::ReadSteps& /*reads*/) {}
    /// Called once the topics and the settings are loaded from the data directory. After that the broker loads the coordinators
    /// and then serves clients.
    virtual void load(Now /*now*/) {}
    /// Logs what clients must know about the addon. The broker has opened its data directory.
    virtual void announce() const {}
    /// Starts its workers. The listeners are open.
    virtual void start() {}
    /// Ends its workers. Also called if it was not started, and possibly twice.
    virtual void stop() {}
};

/// The functions that make the parts of an addon.
struct Addition {
    std::unique_ptr<Addon> (*make)(const config::BrokerConfig& config) = nullptr;
    /// Makes the time of the process in place of the machine's, and keeps it until the process ends. Null for an addon that
    /// leaves the time alone.
    Schedule (*schedule)(const config::BrokerConfig& config, const Schedule& machine) = nullptr;
    /// The file system of the process in place of the machine's, until the process ends; null for the machine's. A null function
    /// for an addon that leaves files alone.
    FileSystem* (*file_system)(const config::BrokerConfig& config) = nullptr;
};

/// The additions of this build, in the order of their attachment; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();
/// The time by which the process runs a broker with this config: the machine's, or one that an addon makes of it.
[[nodiscard]] Schedule schedule_of(const config::BrokerConfig& config, const Schedule& machine);
/// The file system for a broker with this config: null for the machine's.
[[nodiscard]] FileSystem* file_system_of(const config::BrokerConfig& config);

}  // namespace partita::assembly
