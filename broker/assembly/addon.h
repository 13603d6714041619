#pragma once

#include <memory>
#include <span>

#include "broker/access/authorizer.h"
#include "broker/config/broker_config.h"
#include "broker/handlers/extensions.h"
#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"
#include "schedule/executor.h"

namespace partita::logs {
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

/// Addons: what a broker has beside what Kafka's clients ask of it, and what may be left out (`-DPARTITA_ADDONS=OFF`).
///
/// An addon NAME lies in broker/addons/NAME and brings something to each room that it concerns, by one constant in
/// broker/addons/NAME/PART/addition.cc: `kConfigAddition` (config/addition.h: definitions, presets, rules), `kBrokerAddition`
/// (below: parts that run), `kHttpAddition` (http/addition.h: resources and metrics), `kToolAddition` (tools/addition.h) and
/// `kCommandAddition` (cli/addition.h). The build lists those that there are (broker/CMakeLists.txt); nothing registers itself
/// before main, and no room includes an addon.
namespace partita::assembly {

/// The parts of a broker that addons may use. All outlive the addons' use of them: from `attach` to `stop`.
struct AddonPlace {
    const Schedule& schedule;
    FileSystem& file_system;
    MetadataStore& metadata_store;
    const config::CurrentConfig& config;
    logs::PublishedTopics& topics;
    logs::Turns& turns;
    runtime::CoordinatorHosts& coordinators;
    runtime::OwnChanges& own_changes;
    insight::FindingsHub& findings;
    runtime::UpkeepBell& upkeep;
    runtime::FailureLog& failures;
};

/// The running part of an addon in one broker. The calls come in this order, each once, on the thread that starts and stops the
/// broker.
class Addon {
  public:
    virtual ~Addon() = default;
    /// The access rules: its own, which go before `others`, or these. Null allows everything.
    [[nodiscard]] virtual const access::Rules* rules(const access::Rules* others) { return others; }
    /// Makes its parts, and joins them to the broker's: listeners of topics, coordinators, extensions.
    virtual void attach(const AddonPlace& place, handlers::Extensions& extensions) = 0;
    /// Adds its steps to those that appends and reads pass, behind the broker's own.
    virtual void add_steps(logs::AppendSteps& /*appends*/, logs::ReadSteps& /*reads*/) {}
    /// The topics and the settings are those of the data directory. Coordinators are loaded next, and then clients are served.
    virtual void load(Now /*now*/) {}
    /// Says in the log what clients have to know of it. The broker has opened its data directory.
    virtual void announce() const {}
    /// Starts its workers. Listeners are open.
    virtual void start() {}
    /// Ends its workers, also when it was not started.
    virtual void stop() {}
};

/// How an addon is made.
struct Addition {
    std::unique_ptr<Addon> (*make)(const config::BrokerConfig& config) = nullptr;
};

/// Those of this build, in the order in which they are attached; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::assembly
