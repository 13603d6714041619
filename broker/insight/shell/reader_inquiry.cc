#include "broker/insight/shell/reader_inquiry.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "broker/insight/plan/streams_topics.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/reader_findings.h"

namespace partita::insight {
namespace {

/// A number that changes when a fence lets a group go, or ends.
std::uint64_t state_of_fence(const ObservedTopic& topic) {
    const std::optional<std::set<std::string>> released = topic.released_by_fence();
    return released ? 1 + released->size() : 0;
}

void add_to_hash(std::uint64_t& hash, std::string_view topic, std::int32_t partition_count) {
    hash = (hash * 31 + std::hash<std::string_view>()(topic)) * 31 + static_cast<std::uint64_t>(partition_count);
}

class KnownConnections final : public ConnectionDirectory {
  public:
    explicit KnownConnections(ObservedClients& clients) : clients_(clients) {}
    std::optional<ConnectionFacts> find(ConnectionId connection) const override { return clients_.find(connection); }
    std::optional<ConnectionFacts> coordinator_of(std::string_view group, std::string_view member_id) const override {
        std::optional<ConnectionFacts> facts = clients_.coordinator_of(group, member_id);
        if (facts) {
            clients_.want_process(facts->id);
        }
        return facts;
    }
    bool is_looking_for(ConnectionId connection) const override { return !clients_.want_process(connection); }

  private:
    ObservedClients& clients_;
};

}  // namespace

ReaderCircumstances ReaderInquiry::circumstances(const ObservedTopic& topic, const ReaderMemory& memory,
                                                 const ObservedTopics& topics) {
    ReaderCircumstances these{.state = topic.state(),
                              .requests = memory.requests(),
                              .memberships = sources_.cluster.groups().membership_version(),
                              .fence = memory.found().is_held_by_fence ? state_of_fence(topic) : 0};
    for (const LogEdges& log : topic.logs()) {
        these.add_log(log.start, log.stable_end, log.end);
    }
    these.others = others_of(memory, topics);
    return these;
}

std::uint64_t ReaderInquiry::others_of(const ReaderMemory& memory, const ObservedTopics& topics) {
    std::uint64_t others = 0;
    for (const auto& [group, name] : memory.joins().all()) {
        const std::unique_ptr<ObservedTopic> other = topics.find(name);
        add_to_hash(others, name, other == nullptr ? 0 : other->partition_count());
    }
    if (!memory.found().has_streams) {
        return others;
    }
    if (streams_internal_at_ != topics.sequence()) {
        streams_internal_at_ = topics.sequence();
        streams_internal_ = 0;
        for (const ClusterNames::Topic& topic : names_in(topics).streams_internal) {
            add_to_hash(streams_internal_, topic.name, topic.partition_count);
        }
    }
    return others * 31 + streams_internal_;
}

// A group that neither reads the topic nor exists was deleted, and its findings end with it. While groups are being rebuilt that
// cannot be told.
void ReaderInquiry::forget_deleted_groups(const std::vector<GroupFacts>& groups, ConsumerWatch& readers) {
    if (!sources_.cluster.groups().is_complete()) {
        return;
    }
    std::set<std::string> told = readers.groups_told();
    for (const GroupFacts& group : groups) {
        told.erase(group.group_id);
    }
    std::erase_if(told, [&](const std::string& group) { return sources_.cluster.groups().protocol_of(group).has_value(); });
    if (!sources_.cluster.groups().is_complete()) {
        return;
    }
    for (const std::string& group : told) {
        readers.forget_group(group);
    }
}

ReaderInquiry::Look ReaderInquiry::look(const ObservedTopic& topic, ReaderMemory& memory, std::size_t read_bytes_max,
                                        TimestampMs now) {
    // The noted requests are older than the facts, so the facts cover a group that has just come completely.
    const auto& known = memory.joins().all();
    const std::vector<std::pair<std::string_view, std::string_view>> joins(known.begin(), known.end());
    PlannedTopic facts = growth_facts(sources_, topic, RememberedJoins::kJoinsMax, joins);
    memory.joins().keep(facts.groups);
    forget_deleted_groups(facts.groups, memory.readers());
    Look look{.findings = watch_findings(topic, facts, memory.readers(), read_bytes_max, now), .found = {}};
    look.found.has_streams =
        std::ranges::any_of(facts.groups, [](const GroupFacts& group) { return group.protocol == kStreamsAssignor; });
    if (has_backlog(look.findings)) {
        const std::optional<std::set<std::string>> released = topic.released_by_fence();
        look.found.is_held_by_fence = released && tell_of_fence(*released, look.findings);
    }
    for (Finding& finding : standing_findings(facts)) {
        look.findings.push_back(std::move(finding));
    }
    return look;
}

std::vector<Finding> ReaderInquiry::watch_findings(const ObservedTopic& topic, const PlannedTopic& facts, ConsumerWatch& readers,
                                                   std::size_t read_bytes_max, TimestampMs now) {
    std::vector<Offset> starts;
    std::vector<Offset> ends;
    for (const PartitionFacts& partition : facts.partitions) {
        starts.push_back(partition.log_start);
        ends.push_back(partition.log_end);
    }
    std::vector<std::int32_t> counts = {facts.earlier.front().old_count};
    for (const EarlierExpansion& growth : facts.earlier) {
        counts.push_back(growth.new_count);
    }
    std::int64_t written = 0;
    for (std::size_t index = 0; index < ends.size(); ++index) {
        written += ends[index] - offset_at(facts.earlier.back().log_end_offsets, {static_cast<std::int32_t>(index)});
    }
    // Read this first: a look that ends meanwhile may already be in the keys.
    const std::uint64_t keys_seen = sources_.keys.batches_done();
    std::vector<MovedKey> moved;
    std::vector<StaleWrites::Writer> stale;
    partitioners::FamilySet families;
    sources_.keys.with_watch(topic.ref().id, [&](const TopicWatch* keys) {
        if (keys == nullptr) {
            return;
        }
        stale = keys->stale_writers(now, written);
        families = keys->known_families();
        if (readers.needs_keys()) {
            moved = growth_steps(keys->keys(), keys->known_families(), counts);
        }
    });
    const KnownConnections connections(sources_.cluster.clients());
    const std::unique_ptr<RecordFates> fates = topic.fates();
    const std::unique_ptr<RecordCounter> counter = topic.counter();
    const std::unique_ptr<KeyedRecords> records = topic.records(read_bytes_max);
    return readers.findings({.growths = facts.earlier,
                             .log_starts = starts,
                             .log_ends = ends,
                             .groups = facts.groups,
                             .moved_keys = moved,
                             .known_families = families,
                             .keys_seen = keys_seen,
                             .stale_writers = stale,
                             .connections = &connections,
                             .fates = fates.get(),
                             .counts = counter.get(),
                             .records = records.get()},
                            now);
}

}  // namespace partita::insight
