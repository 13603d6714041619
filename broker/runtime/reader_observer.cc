#include "broker/runtime/reader_observer.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "broker/runtime/broker.h"
#include "broker/runtime/clock.h"
#include "broker/runtime/key_observer.h"
#include "broker/runtime/topic_plan.h"

namespace partita::runtime {
namespace {

using expansion::Finding;
using expansion::GroupFacts;
using expansion::HazardId;

/// What a plan says of groups and names stays true after the growth, until somebody repairs it.
constexpr std::array kLastingHazards = {HazardId::streams_application_dies, HazardId::copartition_breaks,
                                        HazardId::partition_state_lost,     HazardId::internal_topic,
                                        HazardId::single_partition_topic,   HazardId::connect_state,
                                        HazardId::streams_internal_topic};

bool holds_new_partition(const GroupFacts& group, std::int32_t old_count) {
    return std::ranges::any_of(group.members, [&](const GroupFacts::Member& member) {
        return std::ranges::any_of(member.assigned, [&](PartitionIndex partition) { return partition.value >= old_count; });
    });
}

/// The group's rebalance is still to come, or under way.
bool is_rebalance_due(const Finding& finding, const expansion::PlannedTopic& facts) {
    if (finding.id != HazardId::rebalance) return false;
    const auto group = std::ranges::find(facts.groups, finding.subject.group, &GroupFacts::group_id);
    return group != facts.groups.end() && !holds_new_partition(*group, facts.old_count);
}

/// A backlog is no danger to the groups that the topic's fence waits for.
void tell_of_fence(const TopicState& topic, std::vector<Finding>& findings) {
    const auto is_backlog = [](const Finding& finding) { return finding.id == HazardId::backlog_inversion; };
    if (!topic.expansion || std::ranges::none_of(findings, is_backlog)) return;
    const TopicExpansion::Status status = topic.expansion->status();
    for (Finding& finding : findings) {
        if (status.has_fence && is_backlog(finding) && !status.released.contains(finding.subject.group)) {
            expansion::tell_of_fence(finding);
        }
    }
}

std::int64_t thread_time_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ReaderObserver::~ReaderObserver() { stop(); }

void ReaderObserver::start() {
    broker_.topic_table()->for_each([&](const TopicState& topic) {
        if (!topic.topic->expansions.empty()) {
            const std::scoped_lock lock(mutex_);
            watch_of(*topic.topic);
        }
    });
    thread_ = std::thread([this] { run(); });
}

void ReaderObserver::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void ReaderObserver::topic_grew(const TopicState& topic, std::span<const std::pair<std::string, std::string>> joins) {
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic.topic);
    for (const auto& join : joins) {
        if (watched.joins.size() == kJoinsMax) {
            break;
        }
        watched.joins.insert(join);
    }
    changes_.fetch_add(1, std::memory_order_release);
    note_news(watched);
    // The first one that is watched ends a wait without end.
    wake_.notify_one();
}

void ReaderObserver::note_news(Watched& watched) {
    ++watched.requests;
    has_news_ = true;
    // Requests come in crowds; only the first one after a rest wakes anybody.
    if (is_resting_) {
        is_resting_ = false;
        wake_.notify_one();
    }
}

ReaderObserver::Watched& ReaderObserver::watch_of(const topics::Topic& topic) {
    Watched& watched = watched_.try_emplace(topic.id, topic.name).first->second;
    const topics::ExpansionEpoch& last = *topic.expansions.back();
    watched.grown_at = std::max(watched.grown_at, last.catalog_sequence);
    watched.readers.set_growth(last.old_partition_count, last.new_partition_count, last.time);
    return watched;
}

void ReaderObserver::keep_joins(Watched& watched, std::vector<GroupFacts>& groups) {
    std::erase_if(watched.joins, [&](const auto& join) {
        // Groups, and the topics of each, are ascending.
        const auto group = std::ranges::lower_bound(groups, join.first, {}, &GroupFacts::group_id);
        if (group == groups.end() || group->group_id != join.first) return true;
        // Without any it restarts or rebalances, and nobody knows what it will read.
        return !group->other_topics.empty() &&
               !std::ranges::binary_search(group->other_topics, join.second, {}, &GroupFacts::OtherTopic::name);
    });
    for (GroupFacts& group : groups) {
        for (GroupFacts::OtherTopic& other : group.other_topics) {
            std::pair join(group.group_id, other.name);
            if (!other.is_aligned) {
                other.is_aligned = watched.joins.contains(join);
            } else if (watched.joins.size() < kJoinsMax) {
                watched.joins.insert(std::move(join));
            }
        }
    }
}

void ReaderObserver::on_offset_fetch(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                                     expansion::ConnectionId connection, PartitionIndex partition, Offset committed,
                                     TimestampMs now) {
    broker_.connections().want_process(connection);
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic.topic);
    watched.readers.on_offset_fetch(group, client, partition, committed, now);
    // What the client fetches next tells what it does without an offset.
    if (committed == kNoOffset) changes_.fetch_add(1, std::memory_order_release);
    note_news(watched);
}

void ReaderObserver::on_list_latest(const TopicState& topic, const expansion::ClientIdentity& client,
                                    expansion::ConnectionId connection, PartitionIndex partition, Offset latest) {
    broker_.connections().want_process(connection);
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic.topic);
    watched.readers.on_list_latest(client, partition, latest);
    ++watched.requests;
}

void ReaderObserver::on_fetch(std::uint32_t reactor, const TopicState& topic, std::string_view client_id,
                              const ClientConnection& connection, PartitionIndex partition, Offset from, TimestampMs now) {
    std::unique_ptr<expansion::FetchMemory>& memory = memories_[reactor];
    if (!memory) {
        memory = std::make_unique<expansion::FetchMemory>();
    }
    const std::uint64_t reader = expansion::FetchMemory::reader_of(connection.id, topic.topic->id, partition);
    if (!memory->is_news(reader, from, changes_.load(std::memory_order_acquire), now)) {
        return;
    }
    broker_.connections().want_process(connection.id);
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic.topic);
    watched.readers.on_fetch({std::string(client_id), connection.host}, partition, from, now);
    note_news(watched);
}

void ReaderObserver::on_commit(const TopicState& topic, std::string_view group, expansion::ConnectionId connection,
                               std::span<const expansion::ConsumerWatch::Commit> commits) {
    broker_.connections().want_process(connection);
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic.topic);
    watched.readers.on_commit(group, commits);
    note_news(watched);
}

void ReaderObserver::run() {
    std::int64_t least_ms = 0;
    while (wait(least_ms)) {
        const std::int64_t before_ns = thread_time_ns();
        const std::shared_ptr<const TopicTable> table = broker_.topic_table();
        const Now now = read_clock();
        for (const TopicId& id : topics_in(*table)) {
            if (is_stopping()) {
                return;
            }
            if (is_due(id, *table, now.monotonic)) {
                settle_topic(id, *table, now);
            }
        }
        least_ms = static_cast<std::int64_t>(static_cast<double>(thread_time_ns() - before_ns) / 1e6 / kShare);
    }
}

bool ReaderObserver::wait(std::int64_t least_ms) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || !watched_.empty(); });
    idle_rounds_ = has_news_ ? 0 : idle_rounds_ + 1;
    if (idle_rounds_ > kIdleRounds) {
        is_resting_ = true;
        wake_.wait_for(lock, std::chrono::milliseconds(kRestMs), [&] { return stopping_ || has_news_; });
        is_resting_ = false;
        if (!has_news_) {
            return !stopping_;
        }
    }
    const auto interval = std::chrono::milliseconds(std::max(least_ms, has_news_ ? kSettleMs : kIdleMs));
    has_news_ = false;
    wake_.wait_for(lock, interval, [&] { return stopping_; });
    return !stopping_;
}

bool ReaderObserver::is_stopping() {
    const std::scoped_lock lock(mutex_);
    return stopping_;
}

std::vector<TopicId> ReaderObserver::topics_in(const TopicTable& table) {
    std::vector<TopicId> ids;
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, watched] : watched_) {
        // In an older table the topic has not grown, or is missing as if it had been deleted.
        if (watched.grown_at <= table.catalog->sequence()) {
            ids.push_back(id);
        }
    }
    return ids;
}

bool ReaderObserver::is_due(const TopicId& id, const TopicTable& table, Instant now) {
    const TopicState* topic = table.find(id);
    if (topic == nullptr) {
        return true;
    }
    Circumstances circumstances{.state = reinterpret_cast<std::uintptr_t>(topic),
                                .memberships = broker_.groups().membership_version()};
    for (const std::shared_ptr<Partition>& partition : topic->partitions) {
        const auto end = static_cast<std::uint64_t>(partition->log->log_end_offset().value);
        const auto start = static_cast<std::uint64_t>(partition->log->log_start_offset().value);
        circumstances.log_ends = (circumstances.log_ends * 31 + end) * 31 + start;
    }
    const std::scoped_lock lock(mutex_);
    Watched& watched = watch_of(*topic->topic);
    circumstances.requests = watched.requests;
    const bool has_changed = !watched.looked_at || watched.circumstances != circumstances;
    if (has_changed) {
        watched.circumstances = circumstances;
        watched.changed_at = now;
    }
    const bool is_time = !has_changed && std::ranges::any_of(kTimeConditionsMs, [&](std::int64_t after_ms) {
        const Instant due = watched.changed_at + after_ms;
        return *watched.looked_at < due && now >= due;
    });
    if (!has_changed && !is_time && now - *watched.looked_at < kLookAgainMs) {
        return false;
    }
    watched.looked_at = now;
    return true;
}

void ReaderObserver::settle(const TopicTable& table, Now now) {
    for (const TopicId& id : topics_in(table)) {
        settle_topic(id, table, now);
    }
}

void ReaderObserver::settle_topic(const TopicId& id, const TopicTable& table, Now now) {
    const TopicState* topic = table.find(id);
    if (topic == nullptr) {
        const std::scoped_lock lock(mutex_);
        watched_.erase(id);
    }
    looks_.fetch_add(1, std::memory_order_relaxed);
    findings_.settle(findings_source("readers", id), topic == nullptr ? std::vector<Finding>() : findings_of(*topic, now.wall), now.wall);
}

std::vector<Finding> ReaderObserver::findings_of(const TopicState& topic, TimestampMs now) {
    expansion::PlannedTopic facts = growth_facts(broker_, topic);
    {
        const std::scoped_lock lock(mutex_);
        keep_joins(watch_of(*topic.topic), facts.groups);
    }
    const topics::ExpansionEpoch& last = *topic.topic->expansions.back();
    std::vector<Offset> starts;
    std::vector<Offset> ends;
    for (const expansion::PartitionFacts& partition : facts.partitions) {
        starts.push_back(partition.log_start);
        ends.push_back(partition.log_end);
    }
    std::vector<Finding> findings = broker_.key_observer().with_watch(topic.topic->id, [&](const expansion::TopicWatch* keys) {
        const std::scoped_lock lock(mutex_);
        return watch_of(*topic.topic)
            .readers.findings({.old_count = last.old_partition_count,
                               .new_count = last.new_partition_count,
                               .expanded = last.time,
                               .cut = last.log_end_offsets,
                               .log_starts = starts,
                               .log_ends = ends,
                               .groups = facts.groups,
                               .keys = keys == nullptr ? nullptr : &keys->keys()},
                              now);
    });
    tell_of_fence(topic, findings);
    for (Finding& finding : expansion::make_plan_without_scan(facts).findings) {
        if (std::ranges::find(kLastingHazards, finding.id) != kLastingHazards.end() || is_rebalance_due(finding, facts)) {
            findings.push_back(std::move(finding));
        }
    }
    return findings;
}

}  // namespace partita::runtime
