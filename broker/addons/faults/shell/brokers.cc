#include "broker/addons/faults/shell/brokers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/addons/faults/config/fault_config.h"
#include "broker/addons/faults/core/cluster_file.h"
#include "broker/addons/faults/core/coordinator_keys.h"
#include "broker/addons/faults/core/error_response.h"
#include "broker/addons/faults/shell/decoded_request.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/handlers/request_context.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "storage/file_system.h"

namespace partita::faults {
namespace {

using handlers::Passage;

constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;

std::int32_t min_insync_replicas(const logs::PublishedTopics& topics, const TopicId& id) {
    const auto table = topics.table();
    const logs::TopicState* const topic = table == nullptr ? nullptr : table->find(id);
    return topic == nullptr ? 1 : topic->config->min_insync_replicas;
}

Cluster::Settings settings_of(const config::BrokerConfig& config, const logs::PublishedTopics& topics) {
    return {.brokers = Brokers::configured(config),
            .session_timeout_ms = std::get<std::int32_t>(config.value("broker.session.timeout.ms")),
            .min_insync_replicas = [&topics](const TopicId& topic) { return min_insync_replicas(topics, topic); }};
}

bool has_rack_aware_selector(const config::BrokerConfig& config) {
    const config::ConfigValue value = config.value("replica.selector.class");
    const auto* const name = std::get_if<std::string>(&value);
    return name != nullptr && name->ends_with("RackAwareReplicaSelector");
}

/// Requests that an isolated broker would pass on to the controller, which it does not reach.
constexpr std::array kForController{ApiKey::create_topics,
                                    ApiKey::delete_topics,
                                    ApiKey::create_partitions,
                                    ApiKey::alter_configs,
                                    ApiKey::incremental_alter_configs,
                                    ApiKey::create_acls,
                                    ApiKey::delete_acls,
                                    ApiKey::create_delegation_token,
                                    ApiKey::renew_delegation_token,
                                    ApiKey::expire_delegation_token,
                                    ApiKey::elect_leaders,
                                    ApiKey::alter_partition_reassignments,
                                    ApiKey::list_partition_reassignments,
                                    ApiKey::alter_client_quotas,
                                    ApiKey::alter_user_scram_credentials,
                                    ApiKey::update_features,
                                    ApiKey::unregister_broker,
                                    ApiKey::describe_quorum};

std::string_view name_of(Brokers::Action action) {
    switch (action) {
        case Brokers::Action::kill:
            return "kill";
        case Brokers::Action::restart:
            return "restart";
        case Brokers::Action::pause:
            return "pause";
        case Brokers::Action::resume:
            return "resume";
        case Brokers::Action::isolate:
            return "isolate";
        case Brokers::Action::join:
            return "join";
    }
    return "";
}

}  // namespace

catalog::Nodes Brokers::configured(const config::BrokerConfig& config) {
    const std::vector<std::string> racks = racks_of(config);
    catalog::Nodes nodes;
    for (std::int32_t index = 0; index < brokers_of(config); ++index) {
        catalog::Node node{.id = BrokerId{config.node_id.value + index}, .rack = config.broker_rack};
        if (!racks.empty()) {
            node.rack = racks[static_cast<std::size_t>(index) % racks.size()];
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

Brokers::Brokers(const assembly::AddonPlace& place, handlers::RequestGate& faults)
    : config_(place.config),
      topics_(place.topics),
      turns_(place.turns),
      schedule_(place.schedule),
      file_system_(place.file_system),
      path_(join_path(place.data_directory, kClusterFileName)),
      reads_by_rack_(has_rack_aware_selector(*place.config.get())),
      faults_(faults),
      cluster_(settings_of(*place.config.get(), place.topics)) {}

Brokers::~Brokers() = default;

void Brokers::load() {
    std::map<TopicId, catalog::TopicPlace> kept;
    if (const auto text = read_whole_file(file_system_, path_, kFileBytesMax)) {
        if (auto decoded = decode_places(*text)) {
            kept = std::move(*decoded);
        } else {
            log::warning("broker", "cannot read which broker has which partition; they are placed anew",
                         {{"file", path_}, {"reason", decoded.error()}});
        }
    } else if (!text.error().is_not_found()) {
        log::warning("broker", "cannot read which broker has which partition; they are placed anew",
                     {{"file", path_}, {"reason", text.error().message}});
    }
    const auto table = topics_.table();
    const MutexLock lock(mutex_);
    table->for_each([&](const logs::TopicState& topic) {
        mutex_.assert_held();
        auto place = kept.extract(topic.topic->id);
        carry_out(cluster_.restore(topic.topic->id, place ? std::move(place.mapped()) : catalog::TopicPlace(),
                                   {.topic = topic.topic->id,
                                    .partition_count = topic.topic->partition_count,
                                    .replication_factor = static_cast<std::size_t>(topic.topic->replication_factor)}));
    });
}

void Brokers::start() {
    const MutexLock lock(mutex_);
    worker_ = schedule_.executor.start("brokers", [this] { return tick(); });
}

void Brokers::stop() {
    std::unique_ptr<Worker> ended;
    {
        const MutexLock lock(mutex_);
        ended = std::move(worker_);
    }
    if (ended != nullptr) {
        // Not under the lock, which its step takes.
        ended.reset();
        save();
    }
}

Instant Brokers::tick() {
    std::optional<Instant> next;
    {
        const MutexLock lock(mutex_);
        const Cluster::Effects effects = cluster_.tick(schedule_.clock.now().monotonic);
        if (effects.are_nodes_changed) {
            log::warning("broker", "the controller fenced a broker of the test bench: its session ended", {});
        }
        carry_out(effects);
        next = cluster_.next_deadline();
    }
    save();
    return next.value_or(kNever);
}

void Brokers::save() {
    std::string text;
    {
        const MutexLock lock(mutex_);
        if (std::exchange(is_saved_, true)) {
            return;
        }
        text = encode_places(cluster_);
    }
    if (const auto saved = replace_file(file_system_, path_, as_bytes(text), false); !saved) {
        log::warning("broker", "cannot write which broker has which partition; the next start may place them anew",
                     {{"file", path_}, {"reason", saved.error().message}});
    }
}

void Brokers::carry_out(const Cluster::Effects& effects) {
    if (effects.topics.empty() && !effects.are_nodes_changed) {
        return;
    }
    const auto table = topics_.table();
    for (const TopicId& id : effects.topics) {
        const logs::TopicState* const topic = table->find(id);
        const auto place = cluster_.place_known_at(kNoBroker, id);
        for (std::size_t index = 0; topic != nullptr && index < std::min(place->size(), topic->partitions.size()); ++index) {
            topic->partitions[index]->raise_leader_epoch((*place)[index].leader_epoch);
        }
    }
    is_saved_ = false;
    if (worker_ != nullptr) {
        // Fetches that wait at an old leader look again, and learn of the new one.
        turns_.complete_all_fetches();
        worker_->wake();
    }
}

// People ------------------------------------------------------------------------------------------

Cluster::Outcome Brokers::decide(Action action, BrokerId broker, bool is_noticed) {
    const Instant now = schedule_.clock.now().monotonic;
    switch (action) {
        case Action::kill:
            return cluster_.kill(broker, is_noticed, now);
        case Action::restart:
            return cluster_.restart(broker);
        case Action::pause:
            return cluster_.pause(broker, now);
        case Action::resume:
            return cluster_.resume(broker);
        case Action::isolate:
            return cluster_.isolate(broker, now);
        case Action::join:
            return cluster_.join(broker);
    }
    return Cluster::Effects();
}

void Brokers::act(Action action, BrokerId broker, bool is_noticed, Then then) {
    logs::NodeDoors* doors = nullptr;
    {
        const MutexLock lock(mutex_);
        doors = doors_;
        if (doors == nullptr) {
            return then(std::unexpected("the process does not listen"));
        }
        if (action != Action::restart || cluster_.life_of(broker) != BrokerLife::killed) {
            const Cluster::Outcome decided = decide(action, broker, is_noticed);
            if (!decided) {
                return then(std::unexpected(decided.error()));
            }
            carry_out(*decided);
            if (worker_ != nullptr) {
                worker_->wake();
            }
        }
    }
    log::info("broker", "a broker of the test bench changes", {{"broker", broker.value}, {"action", name_of(action)}});
    if (action == Action::kill) {
        return doors->shut(broker, [then = std::move(then)] { then({}); });
    }
    if (action == Action::restart) {
        return doors->open(broker, [this, broker, then = std::move(then)](std::expected<void, std::string> opened) {
            if (opened) {
                // Before the first client comes in.
                const MutexLock lock(mutex_);
                const Cluster::Outcome decided = cluster_.restart(broker);
                if (decided) {
                    carry_out(*decided);
                } else {
                    opened = std::unexpected(decided.error());
                }
            }
            then(std::move(opened));
        });
    }
    doors->end_rests(broker);
    then({});
}

void Brokers::revive_all() {
    std::vector<Cluster::Broker> brokers;
    {
        const MutexLock lock(mutex_);
        brokers = cluster_.brokers();
    }
    for (const Cluster::Broker& broker : brokers) {
        const auto undo = [&](Action action) {
            act(action, broker.id, true, [id = broker.id](const std::expected<void, std::string>& done) {
                if (!done) {
                    log::warning("broker", "cannot bring a broker of the test bench back",
                                 {{"broker", id.value}, {"reason", done.error()}});
                }
            });
        };
        switch (broker.life) {
            case BrokerLife::up:
                break;
            case BrokerLife::killed:
                undo(Action::restart);
                break;
            case BrokerLife::paused:
                undo(Action::resume);
                break;
            case BrokerLife::isolated:
                undo(Action::join);
                break;
        }
    }
}

std::vector<Brokers::Status> Brokers::list() const {
    const MutexLock lock(mutex_);
    std::vector<Status> all;
    for (Cluster::Broker& broker : cluster_.brokers()) {
        Status& status = all.emplace_back(Status{.broker = std::move(broker), .listeners = {}});
        for (const logs::NodeListener& listener : listeners_) {
            const auto is_same = [&](const logs::NodeListener& listed) { return listed.listener == listener.listener; };
            if (listener.node == status.broker.id && std::ranges::none_of(status.listeners, is_same)) {
                status.listeners.push_back(listener);
            }
        }
    }
    return all;
}

// Requests ----------------------------------------------------------------------------------------

std::optional<Passage> Brokers::hold(runtime::RequestContext& request, BrokerLife life) {
    switch (life) {
        case BrokerLife::up:
            return std::nullopt;
        case BrokerLife::killed:
            return Passage{.way = Passage::Way::disconnect, .reason = "its broker of the test bench was killed"};
        case BrokerLife::paused:
            return Passage{.way = Passage::Way::wait, .until = kNever};
        case BrokerLife::isolated:
            if (std::ranges::find(kForController, request.api_key()) != kForController.end() ||
                request.api_key() == ApiKey::produce) {
                // No follower takes the records, and the controller does not hear of the change.
                return Passage{.way = Passage::Way::wait, .until = kNever};
            }
            return std::nullopt;
    }
    return std::nullopt;
}

std::optional<Passage> Brokers::send_to_coordinator(runtime::RequestContext& request, BrokerLife life) {
    if (!needs_coordinator(request.api_key())) {
        return std::nullopt;
    }
    const void* const message = decoded(request);
    if (message == nullptr) {
        return std::nullopt;
    }
    const auto named = coordinator_keys(request.api_key(), request.version(), message);
    if (!named) {
        return std::nullopt;
    }
    const BrokerId asked = request.listener().node;
    const auto is_here = [&](std::string_view key) { return coordinator_known_at(asked, named->kind, key) == asked; };
    ErrorCode error = ErrorCode::none;
    if (std::ranges::none_of(named->keys, is_here)) {
        error = ErrorCode::not_coordinator;
    } else if (life == BrokerLife::isolated) {
        // It cannot write what it decides to its followers.
        error = ErrorCode::coordinator_not_available;
    }
    if (error == ErrorCode::none) {
        return std::nullopt;
    }
    request.reply_with(error_response(request.api(), request.version(), message, error, request.arena()));
    return Passage{.way = Passage::Way::answered};
}

Passage Brokers::pass(runtime::RequestContext& request) {
    BrokerLife life = BrokerLife::up;
    {
        const MutexLock lock(mutex_);
        life = cluster_.life_of(request.listener().node).value_or(BrokerLife::up);
    }
    if (auto held = hold(request, life)) {
        return std::move(*held);
    }
    Passage passage = faults_.pass(request);
    if (passage.way == Passage::Way::serve) {
        if (auto sent = send_to_coordinator(request, life)) {
            sent->treatment = std::move(passage.treatment);
            return std::move(*sent);
        }
    }
    return passage;
}

logs::Outcome Brokers::admit_batch(const logs::AppendRequest& request, const logs::Append& append, logs::Turn&) {
    if (!request.waits_for_replicas) {
        return logs::Outcome::ok;
    }
    const MutexLock lock(mutex_);
    return cluster_.lacks_replicas(append.topic->topic->id, append.index) ? logs::Outcome::not_enough_replicas
                                                                          : logs::Outcome::ok;
}

// NodePlan ----------------------------------------------------------------------------------------

std::shared_ptr<const logs::Nodes> Brokers::nodes_known_at(BrokerId asked) const {
    const MutexLock lock(mutex_);
    return cluster_.nodes_known_at(asked);
}

std::optional<std::uint16_t> Brokers::port_of(BrokerId node, std::string_view listener) const {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find_if(
        listeners_, [&](const logs::NodeListener& each) { return each.node == node && each.listener == listener; });
    return found == listeners_.end() ? std::nullopt : std::optional(found->port);
}

std::shared_ptr<const logs::TopicPlace> Brokers::place_known_at(BrokerId asked, const TopicId& topic) const {
    const MutexLock lock(mutex_);
    return cluster_.place_known_at(asked, topic);
}

bool Brokers::is_led_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const {
    const auto place = place_known_at(asked, topic);
    const auto index = static_cast<std::size_t>(partition.value);
    return place != nullptr && index < place->size() && (*place)[index].leader == asked;
}

bool Brokers::is_held_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const {
    const auto place = place_known_at(asked, topic);
    const auto index = static_cast<std::size_t>(partition.value);
    return place != nullptr && index < place->size() &&
           std::ranges::find((*place)[index].replicas, asked) != (*place)[index].replicas.end();
}

BrokerId Brokers::coordinator_known_at(BrokerId asked, catalog::CoordinatorKind kind, std::string_view key) const {
    const auto table = topics_.table();
    const catalog::Topic* const topic = table->catalog->find_topic(catalog::topic_of(kind).name);
    if (topic == nullptr) {
        return kNoBroker;
    }
    const auto place = place_known_at(asked, topic->id);
    const std::size_t shard = runtime::coordinator_shard_index(key, static_cast<std::size_t>(topic->partition_count));
    return place == nullptr || shard >= place->size() ? kNoBroker : (*place)[shard].leader;
}

std::optional<BrokerId> Brokers::preferred_replica(BrokerId asked, const TopicId& topic, PartitionIndex partition,
                                                   std::string_view rack) const {
    if (!reads_by_rack_) {
        return std::nullopt;
    }
    const MutexLock lock(mutex_);
    return cluster_.preferred_replica(asked, topic, partition, rack);
}

void Brokers::follow(const catalog::CatalogChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    const MutexLock lock(mutex_);
    if (change.kind == Kind::topic_created || change.kind == Kind::topic_expanded) {
        cluster_.place({.topic = change.after->id,
                        .first = change.before == nullptr ? 0 : change.before->partition_count,
                        .partition_count = change.after->partition_count,
                        .replication_factor = static_cast<std::size_t>(change.after->replication_factor),
                        .assignments = change.assignments});
    } else if (change.kind == Kind::topic_deleted) {
        cluster_.remove(change.before->id);
    } else {
        return;
    }
    is_saved_ = false;
    if (worker_ != nullptr) {
        worker_->wake();
    }
}

catalog::CatalogError Brokers::elect(const catalog::Topic& topic, PartitionIndex partition, logs::Election election) {
    const MutexLock lock(mutex_);
    Cluster::Effects effects;
    catalog::CatalogError result = cluster_.elect(topic.id, partition, election, effects);
    carry_out(effects);
    return result;
}

catalog::CatalogError Brokers::reassign(const catalog::Topic& topic, PartitionIndex partition,
                                        const std::optional<std::vector<BrokerId>>& target, bool may_change_factor) {
    const MutexLock lock(mutex_);
    Cluster::Effects effects;
    catalog::CatalogError result = cluster_.reassign(topic.id, partition, target, may_change_factor, effects);
    carry_out(effects);
    return result;
}

void Brokers::set_doors(std::vector<logs::NodeListener> listeners, logs::NodeDoors* doors) {
    const MutexLock lock(mutex_);
    listeners_ = std::move(listeners);
    doors_ = doors;
}

std::vector<BrokerId> Brokers::further_nodes() const {
    std::vector<BrokerId> further;
    for (const logs::Node& node : *nodes_known_at(kNoBroker)) {
        further.push_back(node.id);
    }
    further.erase(further.begin());
    return further;
}

}  // namespace partita::faults
