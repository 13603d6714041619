#include "broker/insight/shell/reader_inquiry.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "broker/insight/plan/streams_topics.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/reader_findings.h"
#include "broker/insight/shell/record_counts.h"
#include "broker/insight/shell/record_fates.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/queries/topic_sizes.h"

namespace partita::runtime {
namespace {

using insight::Finding;
using insight::GroupFacts;

/// Changes when a fence lets a group go, or ends.
std::uint64_t state_of_fence(const TopicState& topic) {
    if (!topic.expansion) {
        return 0;
    }
    const TopicExpansion::Status status = topic.expansion->status();
    return status.has_fence ? 1 + status.released.size() : 0;
}

void add_to_hash(std::uint64_t& hash, std::string_view topic, std::int32_t partition_count) {
    hash = (hash * 31 + std::hash<std::string_view>()(topic)) * 31 + static_cast<std::uint64_t>(partition_count);
}

class KnownConnections final : public insight::ConnectionDirectory {
  public:
    explicit KnownConnections(Connections& connections) : connections_(connections) {}
    std::optional<insight::ConnectionFacts> find(insight::ConnectionId connection) const override {
        return connections_.find(connection);
    }
    std::optional<insight::ConnectionFacts> coordinator_of(std::string_view group, std::string_view member_id) const override {
        std::optional<insight::ConnectionFacts> facts = connections_.coordinator_of(group, member_id);
        if (facts) {
            connections_.want_process(facts->id);
        }
        return facts;
    }
    bool is_looking_for(insight::ConnectionId connection) const override { return !connections_.want_process(connection); }

  private:
    Connections& connections_;
};

}  // namespace

ReaderCircumstances ReaderInquiry::circumstances(const TopicState& topic, const ReaderMemory& memory, const TopicTable& table) {
    ReaderCircumstances these{.state = reinterpret_cast<std::uintptr_t>(&topic),
                              .requests = memory.requests(),
                              .memberships = sources_.groups.membership_version(),
                              .fence = memory.found().is_held_by_fence ? state_of_fence(topic) : 0};
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        const LogBounds bounds = log_bounds(*partition->log);
        these.add_log(bounds.start, bounds.stable_end, bounds.end);
    }
    these.others = others_of(memory, table);
    return these;
}

std::uint64_t ReaderInquiry::others_of(const ReaderMemory& memory, const TopicTable& table) {
    std::uint64_t others = 0;
    for (const auto& [group, name] : memory.joins().all()) {
        const TopicState* other = table.find(name);
        add_to_hash(others, name, other == nullptr ? 0 : other->topic->partition_count);
    }
    if (!memory.found().has_streams) {
        return others;
    }
    if (streams_internal_at_ != table.catalog->sequence()) {
        streams_internal_at_ = table.catalog->sequence();
        streams_internal_ = 0;
        for (const catalog::TopicPointer& topic : names_in(*table.catalog).streams_internal) {
            add_to_hash(streams_internal_, topic->name, topic->partition_count);
        }
    }
    return others * 31 + streams_internal_;
}

// A group that neither reads the topic nor exists was deleted, and its findings end with it. While groups are being rebuilt
// nobody knows.
void ReaderInquiry::forget_deleted_groups(const std::vector<GroupFacts>& groups, insight::ConsumerWatch& readers) {
    if (!sources_.groups.is_complete()) {
        return;
    }
    std::set<std::string> told = readers.groups_told();
    for (const GroupFacts& group : groups) {
        told.erase(group.group_id);
    }
    std::erase_if(told, [&](const std::string& group) { return sources_.groups.protocol_of(group).has_value(); });
    if (!sources_.groups.is_complete()) {
        return;
    }
    for (const std::string& group : told) {
        readers.forget_group(group);
    }
}

ReaderInquiry::Look ReaderInquiry::look(const TopicState& topic, ReaderMemory& memory, TimestampMs now) {
    // Requests that were noted are older than the facts: of a group that just came everything is known.
    const auto& known = memory.joins().all();
    const std::vector<std::pair<std::string_view, std::string_view>> joins(known.begin(), known.end());
    insight::PlannedTopic facts = growth_facts(sources_, topic, RememberedJoins::kJoinsMax, joins);
    memory.joins().keep(facts.groups);
    forget_deleted_groups(facts.groups, memory.readers());
    Look look{.findings = watch_findings(topic, facts, memory.readers(), now), .found = {}};
    look.found.has_streams =
        std::ranges::any_of(facts.groups, [](const GroupFacts& group) { return group.protocol == insight::kStreamsAssignor; });
    if (topic.expansion && has_backlog(look.findings)) {
        const TopicExpansion::Status status = topic.expansion->status();
        look.found.is_held_by_fence = status.has_fence && tell_of_fence(status.released, look.findings);
    }
    for (Finding& finding : standing_findings(facts)) {
        look.findings.push_back(std::move(finding));
    }
    return look;
}

std::vector<Finding> ReaderInquiry::watch_findings(const TopicState& topic, const insight::PlannedTopic& facts,
                                                   insight::ConsumerWatch& readers, TimestampMs now) {
    std::vector<Offset> starts;
    std::vector<Offset> ends;
    for (const insight::PartitionFacts& partition : facts.partitions) {
        starts.push_back(partition.log_start);
        ends.push_back(partition.log_end);
    }
    std::vector<std::int32_t> counts = {topic.topic->expansions.front()->old_partition_count};
    for (const insight::EarlierExpansion& growth : facts.earlier) {
        counts.push_back(growth.new_count);
    }
    // Asked first: a look that ends meanwhile may be in the keys already.
    const std::uint64_t keys_seen = sources_.keys.batches_done();
    std::vector<insight::MovedKey> moved;
    std::vector<insight::StaleWrites::Writer> stale;
    sources_.keys.with_watch(topic.topic->id, [&](const insight::TopicWatch* keys) {
        if (keys == nullptr) {
            return;
        }
        stale = keys->stale_writers(now);
        if (readers.needs_keys()) {
            moved = insight::growth_steps(keys->keys(), keys->known_families(), counts);
        }
    });
    const KnownConnections connections(connections_);
    const RecordFatesInLogs fates(topic);
    RecordCountsInLogs record_counts(topic);
    return readers.findings({.growths = facts.earlier,
                             .log_starts = starts,
                             .log_ends = ends,
                             .groups = facts.groups,
                             .moved_keys = moved,
                             .keys_seen = keys_seen,
                             .stale_writers = stale,
                             .connections = &connections,
                             .fates = &fates,
                             .counts = &record_counts},
                            now);
}

}  // namespace partita::runtime
