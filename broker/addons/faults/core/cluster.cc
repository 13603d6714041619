#include "broker/addons/faults/core/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::faults {
namespace {

using catalog::CatalogError;
using catalog::Election;
using catalog::Node;
using catalog::Nodes;
using catalog::PartitionPlace;
using catalog::TopicPlace;

using Ids = std::vector<BrokerId>;

bool contains(const Ids& ids, BrokerId id) { return std::ranges::find(ids, id) != ids.end(); }

Ids without(const Ids& ids, const Ids& others) {
    Ids rest;
    std::ranges::copy_if(ids, std::back_inserter(rest), [&](BrokerId id) { return !contains(others, id); });
    return rest;
}

/// Each once, in the order of their first appearance.
Ids united(Ids ids, const Ids& others) {
    std::ranges::copy_if(others, std::back_inserter(ids), [&](BrokerId id) { return !contains(ids, id); });
    return ids;
}

/// The brokers in an order in which neighbours have different racks, as far as possible.
std::vector<const Node*> ring_of(const Nodes& nodes) {
    std::map<std::string_view, std::vector<const Node*>> racks;
    for (const Node& node : nodes) {
        racks[node.rack ? std::string_view(*node.rack) : std::string_view()].push_back(&node);
    }
    std::vector<const Node*> ring;
    for (std::size_t row = 0; ring.size() < nodes.size(); ++row) {
        for (const auto& [rack, members] : racks) {
            if (row < members.size()) {
                ring.push_back(members[row]);
            }
        }
    }
    return ring;
}

/// A number that spreads topics over the brokers.
std::size_t seed_of(const TopicId& topic) {
    std::size_t seed = 0;
    for (const std::uint8_t byte : topic.bytes) {
        seed = seed * 31 + byte;
    }
    return seed;
}

std::string text_of(BrokerId broker) { return std::to_string(broker.value); }

}  // namespace

std::string_view name_of(BrokerLife life) {
    switch (life) {
        case BrokerLife::up:
            return "up";
        case BrokerLife::killed:
            return "killed";
        case BrokerLife::paused:
            return "paused";
        case BrokerLife::isolated:
            return "isolated";
    }
    return "";
}

/// The wish for a partition, before the controller's rules.
struct Cluster::Change {
    Ids isr;
    Ids replicas;
    Ids adding;
    Ids removing;
    bool is_preferred_election = false;

    [[nodiscard]] static Change of(const PartitionPlace& place) {
        return {.isr = place.isr, .replicas = place.replicas, .adding = place.adding, .removing = place.removing};
    }
};

Cluster::Cluster(Settings settings) : settings_(std::move(settings)) {
    PARTITA_ASSERT(!settings_.brokers.empty() && settings_.brokers.size() <= kBrokersMax, "the options were checked");
    for (const Node& node : settings_.brokers) {
        states_[node.id] = {};
    }
    current_.nodes = std::make_shared<const Nodes>(settings_.brokers);
}

// Brokers ---------------------------------------------------------------------------------------

std::expected<Cluster::State*, std::string> Cluster::find(BrokerId broker, BrokerLife expected, std::string_view verb) {
    const auto found = states_.find(broker);
    if (found == states_.end()) {
        std::string known;
        for (const auto& [id, state] : states_) {
            known += (known.empty() ? "" : ", ") + text_of(id);
        }
        return std::unexpected("unknown broker " + text_of(broker) + "; there are " + known);
    }
    if (found->second.life != expected) {
        return std::unexpected("cannot " + std::string(verb) + " broker " + text_of(broker) + ": it is " +
                               std::string(name_of(found->second.life)) + ", not " + std::string(name_of(expected)));
    }
    return &found->second;
}

Cluster::Outcome Cluster::kill(BrokerId broker, bool is_noticed, Instant now) {
    if (const auto life = life_of(broker); life && life != BrokerLife::killed) {
        states_.at(broker).life = BrokerLife::up;
        outdated_.erase(broker);
    }
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::up, "kill"));
    state->life = BrokerLife::killed;
    Effects effects;
    if (is_noticed) {
        fence(broker, effects);
    } else if (is_alive(broker) && !state->fence_at) {
        state->fence_at = now + settings_.session_timeout_ms;
    }
    return effects;
}

Cluster::Outcome Cluster::restart(BrokerId broker) {
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::killed, "restart"));
    Effects effects;
    // The controller sees by the registration that the process before it is gone.
    fence(broker, effects);
    state->life = BrokerLife::up;
    revive(broker, effects);
    return effects;
}

Cluster::Outcome Cluster::pause(BrokerId broker, Instant now) {
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::up, "pause"));
    state->life = BrokerLife::paused;
    state->fence_at = now + settings_.session_timeout_ms;
    return Effects();
}

Cluster::Outcome Cluster::resume(BrokerId broker) {
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::paused, "resume"));
    state->life = BrokerLife::up;
    Effects effects;
    revive(broker, effects);
    return effects;
}

Cluster::Outcome Cluster::isolate(BrokerId broker, Instant now) {
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::up, "isolate"));
    state->life = BrokerLife::isolated;
    state->fence_at = now + settings_.session_timeout_ms;
    outdated_[broker] = current_;
    return Effects();
}

Cluster::Outcome Cluster::join(BrokerId broker) {
    PARTITA_TRY_ASSIGN(State* const state, find(broker, BrokerLife::isolated, "join"));
    state->life = BrokerLife::up;
    outdated_.erase(broker);
    Effects effects;
    revive(broker, effects);
    return effects;
}

Cluster::Effects Cluster::tick(Instant now) {
    Effects effects;
    for (auto& [broker, state] : states_) {
        if (state.fence_at && *state.fence_at <= now) {
            fence(broker, effects);
        }
    }
    return effects;
}

std::optional<Instant> Cluster::next_deadline() const {
    std::optional<Instant> next;
    for (const auto& [broker, state] : states_) {
        if (state.fence_at && (!next || *state.fence_at < *next)) {
            next = state.fence_at;
        }
    }
    return next;
}

std::optional<BrokerLife> Cluster::life_of(BrokerId broker) const {
    const auto found = states_.find(broker);
    return found == states_.end() ? std::nullopt : std::optional(found->second.life);
}

std::vector<Cluster::Broker> Cluster::brokers() const {
    std::map<BrokerId, Broker> all;
    for (const Node& node : *current_.nodes) {
        all[node.id] = {.id = node.id, .rack = node.rack, .life = states_.at(node.id).life, .is_fenced = node.is_fenced};
    }
    for (const auto& [topic, place] : current_.topics) {
        for (const PartitionPlace& partition : *place) {
            for (const BrokerId replica : partition.replicas) {
                ++all[replica].replica_count;
            }
            if (partition.leader != kNoBroker) {
                ++all[partition.leader].leader_count;
            }
        }
    }
    std::vector<Broker> listed;
    for (auto& [id, broker] : all) {
        listed.push_back(std::move(broker));
    }
    return listed;
}

bool Cluster::is_alive(BrokerId broker) const {
    const auto node = std::ranges::find(*current_.nodes, broker, &Node::id);
    return node != current_.nodes->end() && !node->is_fenced;
}

void Cluster::set_fenced(BrokerId broker, bool is_fenced, Effects& effects) {
    auto nodes = std::make_shared<Nodes>(*current_.nodes);
    std::ranges::find(*nodes, broker, &Node::id)->is_fenced = is_fenced;
    current_.nodes = std::move(nodes);
    effects.are_nodes_changed = true;
}

void Cluster::fence(BrokerId broker, Effects& effects) {
    states_.at(broker).fence_at.reset();
    if (!is_alive(broker)) {
        return;
    }
    set_fenced(broker, true, effects);
    change_all(
        [&](const TopicId& topic, PartitionPlace& place) {
            if (place.leader != broker && !contains(place.isr, broker)) {
                return false;
            }
            Change change = Change::of(place);
            change.isr = without(place.isr, {broker});
            settle(topic, place, std::move(change));
            return true;
        },
        effects);
}

void Cluster::revive(BrokerId broker, Effects& effects) {
    states_.at(broker).fence_at.reset();
    if (is_alive(broker)) {
        return;
    }
    set_fenced(broker, false, effects);
    change_all(
        [&](const TopicId& topic, PartitionPlace& place) {
            const PartitionPlace before = place;
            if (place.leader == kNoBroker) {
                settle(topic, place, Change::of(place));
            }
            catch_up(topic, place);
            return place != before;
        },
        effects);
}

void Cluster::change_all(const std::function<bool(const TopicId&, PartitionPlace&)>& change, Effects& effects) {
    for (auto& [topic, place] : current_.topics) {
        auto next = std::make_shared<TopicPlace>(*place);
        bool is_changed = false;
        for (PartitionPlace& partition : *next) {
            is_changed = change(topic, partition) || is_changed;
        }
        if (is_changed) {
            place = std::move(next);
            effects.topics.insert(topic);
        }
    }
}

// The controller's rules --------------------------------------------------------------------------

std::int32_t Cluster::wanted_in_sync(const TopicId& topic, std::size_t replicas) const {
    return std::min(settings_.min_insync_replicas(topic), static_cast<std::int32_t>(replicas));
}

void Cluster::settle(const TopicId& topic, PartitionPlace& place, Change change) const {
    if (!change.adding.empty() || !change.removing.empty()) {
        const Ids staying = without(change.isr, change.removing);
        if (!staying.empty() && without(change.adding, staying).empty()) {
            change.isr = staying;
            change.replicas = without(change.replicas, change.removing);
            change.adding.clear();
            change.removing.clear();
        }
    }
    Ids eligible;
    if (static_cast<std::int32_t>(change.isr.size()) < wanted_in_sync(topic, change.replicas.size())) {
        eligible = without(united(place.eligible, place.isr), change.isr);
        std::ranges::sort(eligible);
    }
    const auto may_lead = [&](BrokerId broker) {
        return is_alive(broker) && contains(change.replicas, broker) &&
               (contains(change.isr, broker) || contains(eligible, broker));
    };
    const auto first = std::ranges::find_if(change.replicas, may_lead);
    BrokerId leader = first == change.replicas.end() ? kNoBroker : *first;
    const bool moves_to_first = change.is_preferred_election && leader == change.replicas.front();
    if (may_lead(place.leader) && !moves_to_first) {
        leader = place.leader;
    }
    if (leader != kNoBroker && !contains(change.isr, leader)) {
        // The others may lack what this one has.
        change.isr = {leader};
        std::erase(eligible, leader);
    }
    if (leader != place.leader || !without(place.replicas, change.replicas).empty()) {
        ++place.leader_epoch.value;
    }
    if (leader != kNoBroker) {
        place.last_known_eligible.clear();
    } else if (place.leader != kNoBroker) {
        place.last_known_eligible = {place.leader};
    }
    place.leader = leader;
    place.isr = std::move(change.isr);
    place.replicas = std::move(change.replicas);
    place.adding = std::move(change.adding);
    place.removing = std::move(change.removing);
    place.eligible = std::move(eligible);
}

void Cluster::catch_up(const TopicId& topic, PartitionPlace& place) const {
    if (place.leader == kNoBroker) {
        return;
    }
    Change change = Change::of(place);
    for (const BrokerId replica : place.replicas) {
        if (is_alive(replica) && !contains(change.isr, replica)) {
            change.isr.push_back(replica);
        }
    }
    if (change.isr.size() > place.isr.size()) {
        std::ranges::sort(change.isr);
        settle(topic, place, std::move(change));
    }
}

// Topics ------------------------------------------------------------------------------------------

Ids Cluster::chosen(const TopicId& topic, std::int32_t partition, std::size_t replication_factor) const {
    const std::vector<const Node*> ring = ring_of(*current_.nodes);
    const std::size_t count = ring.size();
    const auto living = std::ranges::count_if(ring, [](const Node* node) { return !node->is_fenced; });
    const std::size_t turn = seed_of(topic) + static_cast<std::size_t>(partition);
    std::size_t start = turn % count;
    while (living > 0 && ring[start]->is_fenced) {
        start = (start + 1) % count;
    }
    std::vector<const Node*> candidates{ring[start]};
    for (std::size_t step = 0; step + 1 < count; ++step) {
        candidates.push_back(ring[(start + 1 + (turn / count + step) % (count - 1)) % count]);
    }
    // Dead brokers last, as in Kafka.
    std::ranges::stable_partition(candidates, [](const Node* node) { return !node->is_fenced; });
    Ids replicas;
    std::set<std::optional<std::string>> racks;
    while (replicas.size() < std::min(replication_factor, count)) {
        const auto is_free = [&](const Node* node) { return !contains(replicas, node->id); };
        auto next =
            std::ranges::find_if(candidates, [&](const Node* node) { return is_free(node) && !racks.contains(node->rack); });
        if (next == candidates.end()) {
            // Every rack has one.
            racks.clear();
            next = std::ranges::find_if(candidates, is_free);
        }
        replicas.push_back((*next)->id);
        racks.insert((*next)->rack);
    }
    return replicas;
}

PartitionPlace Cluster::made(Ids replicas) const {
    PartitionPlace place{.leader = kNoBroker, .replicas = std::move(replicas)};
    std::ranges::copy_if(place.replicas, std::back_inserter(place.isr), [&](BrokerId broker) { return is_alive(broker); });
    if (!place.isr.empty()) {
        place.leader = place.isr.front();
    }
    return place;
}

void Cluster::place(const NewPartitions& partitions) {
    auto& known = current_.topics[partitions.topic];
    auto next = known == nullptr ? std::make_shared<TopicPlace>() : std::make_shared<TopicPlace>(*known);
    next->resize(static_cast<std::size_t>(partitions.first));
    for (std::int32_t index = partitions.first; index < partitions.partition_count; ++index) {
        const auto at = static_cast<std::size_t>(index - partitions.first);
        next->push_back(made(at < partitions.assignments.size()
                                 ? partitions.assignments[at]
                                 : chosen(partitions.topic, index, partitions.replication_factor)));
    }
    known = std::move(next);
}

Cluster::Effects Cluster::restore(const TopicId& topic, TopicPlace place, const NewPartitions& all) {
    Effects effects;
    place.resize(std::min(place.size(), static_cast<std::size_t>(all.partition_count)));
    for (std::size_t index = 0; index < place.size(); ++index) {
        PartitionPlace& partition = place[index];
        // A reassignment that was under way is complete now.
        std::erase_if(partition.replicas,
                      [&](BrokerId broker) { return !states_.contains(broker) || contains(partition.removing, broker); });
        if (partition.replicas.empty()) {
            partition.replicas = chosen(topic, static_cast<std::int32_t>(index), all.replication_factor);
        }
        partition.isr = partition.replicas;
        std::ranges::sort(partition.isr);
        partition.eligible.clear();
        partition.last_known_eligible.clear();
        partition.adding.clear();
        partition.removing.clear();
        if (!contains(partition.replicas, partition.leader)) {
            partition.leader = partition.replicas.front();
            ++partition.leader_epoch.value;
        }
        if (partition.leader_epoch != LeaderEpoch{0}) {
            effects.topics.insert(topic);
        }
    }
    const auto first = static_cast<std::int32_t>(place.size());
    current_.topics[topic] = std::make_shared<const TopicPlace>(std::move(place));
    this->place(
        {.topic = topic, .first = first, .partition_count = all.partition_count, .replication_factor = all.replication_factor});
    return effects;
}

void Cluster::remove(const TopicId& topic) {
    current_.topics.erase(topic);
    for (auto& [broker, knowledge] : outdated_) {
        // Nobody keeps records of it.
        knowledge.topics.erase(topic);
    }
}

CatalogError Cluster::elect(const TopicId& topic, PartitionIndex partition, Election election, Effects& effects) {
    const auto known = current_.topics.find(topic);
    const auto index = static_cast<std::size_t>(partition.value);
    if (known == current_.topics.end() || index >= known->second->size()) {
        return {ErrorCode::unknown_topic_or_partition, std::nullopt};
    }
    const PartitionPlace& before = (*known->second)[index];
    const bool is_needed =
        election == Election::preferred ? before.leader != before.replicas.front() : before.leader == kNoBroker;
    if (!is_needed) {
        return {ErrorCode::election_not_needed, std::nullopt};
    }
    auto next = std::make_shared<TopicPlace>(*known->second);
    Change change = Change::of(before);
    change.is_preferred_election = election == Election::preferred;
    settle(topic, (*next)[index], std::move(change));
    if ((*next)[index] == before) {
        return {election == Election::preferred ? ErrorCode::preferred_leader_not_available
                                                : ErrorCode::eligible_leaders_not_available,
                std::nullopt};
    }
    known->second = std::move(next);
    effects.topics.insert(topic);
    return {};
}

CatalogError Cluster::reassign(const TopicId& topic, PartitionIndex partition, const std::optional<Ids>& target,
                               bool may_change_factor, Effects& effects) {
    const auto known = current_.topics.find(topic);
    const auto index = static_cast<std::size_t>(partition.value);
    if (known == current_.topics.end() || index >= known->second->size()) {
        return {ErrorCode::unknown_topic_or_partition, std::nullopt};
    }
    auto next = std::make_shared<TopicPlace>(*known->second);
    PartitionPlace& place = (*next)[index];
    const bool is_under_way = !place.adding.empty() || !place.removing.empty();
    Change change = Change::of(place);
    if (!target) {
        if (!is_under_way) {
            return {ErrorCode::no_reassignment_in_progress, std::nullopt};
        }
        change.isr = without(place.isr, place.adding);
        change.replicas = without(place.replicas, place.adding);
        change.adding.clear();
        change.removing.clear();
        if (change.isr.empty()) {
            return {ErrorCode::invalid_replica_assignment,
                    "Unable to revert partition assignment because it would require an unclean leader election."};
        }
    } else {
        const Ids current = without(place.replicas, place.adding);
        if (!may_change_factor && target->size() != current.size()) {
            return {ErrorCode::invalid_replication_factor, "The replication factor is changed from " +
                                                               std::to_string(current.size()) + " to " +
                                                               std::to_string(target->size())};
        }
        change.adding = without(*target, current);
        change.removing = without(place.replicas, *target);
        change.replicas = united(*target, place.replicas);
    }
    const PartitionPlace before = place;
    settle(topic, place, std::move(change));
    catch_up(topic, place);
    if (place != before) {
        known->second = std::move(next);
        effects.topics.insert(topic);
    }
    return {};
}

// The knowledge of a broker -----------------------------------------------------------------------------

const Cluster::Knowledge& Cluster::known_at(BrokerId asked) const {
    const auto outdated = outdated_.find(asked);
    return outdated == outdated_.end() ? current_ : outdated->second;
}

std::shared_ptr<const TopicPlace> Cluster::place_known_at(BrokerId asked, const TopicId& topic) const {
    const Places& places = known_at(asked).topics;
    const auto found = places.find(topic);
    return found == places.end() ? nullptr : found->second;
}

std::optional<BrokerId> Cluster::preferred_replica(BrokerId asked, const TopicId& topic, PartitionIndex partition,
                                                   std::string_view rack) const {
    const auto places = place_known_at(asked, topic);
    const auto index = static_cast<std::size_t>(partition.value);
    if (rack.empty() || places == nullptr || index >= places->size() || (*places)[index].leader != asked) {
        return std::nullopt;
    }
    std::optional<BrokerId> preferred;
    for (const Node& node : *known_at(asked).nodes) {
        if (node.is_fenced || node.rack != rack || !contains((*places)[index].isr, node.id)) {
            continue;
        }
        if (node.id == asked) {
            return std::nullopt;
        }
        // All have caught up; then the highest id counts.
        preferred = node.id;
    }
    return preferred;
}

bool Cluster::lacks_replicas(const TopicId& topic, PartitionIndex partition) const {
    const auto places = place_known_at(kNoBroker, topic);
    const auto index = static_cast<std::size_t>(partition.value);
    if (places == nullptr || index >= places->size()) {
        return false;
    }
    const PartitionPlace& place = (*places)[index];
    return static_cast<std::int32_t>(place.isr.size()) < wanted_in_sync(topic, place.replicas.size());
}

}  // namespace partita::faults
