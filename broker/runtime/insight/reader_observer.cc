#include "broker/runtime/insight/reader_observer.h"

#include <algorithm>
#include <array>

#include "broker/expansion/streams_topics.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/insight/key_observer.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/topics/catalog_commands.h"

namespace partita::runtime {
namespace {

using expansion::Finding;
using expansion::GroupFacts;
using expansion::HazardId;

/// What a plan says of groups and names stays true after the growth, until somebody repairs it.
constexpr std::array kLastingHazards = {
    HazardId::streams_application_dies, HazardId::copartition_breaks, HazardId::partition_state_lost,  HazardId::internal_topic,
    HazardId::single_partition_topic,   HazardId::connect_state,      HazardId::streams_internal_topic};

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

/// A backlog is no danger to the groups that the topic's fence waits for. True when there are such.
bool tell_of_fence(const TopicState& topic, std::vector<Finding>& findings) {
    const auto is_backlog = [](const Finding& finding) { return finding.id == HazardId::backlog_inversion; };
    if (!topic.expansion || std::ranges::none_of(findings, is_backlog)) return false;
    const TopicExpansion::Status status = topic.expansion->status();
    bool is_held = false;
    for (Finding& finding : findings) {
        if (status.has_fence && is_backlog(finding) && !status.released.contains(finding.subject.group)) {
            expansion::tell_of_fence(finding);
            is_held = true;
        }
    }
    return is_held;
}

/// Changes when a fence lets a group go, or ends.
std::uint64_t state_of_fence(const TopicState& topic) {
    if (!topic.expansion) return 0;
    const TopicExpansion::Status status = topic.expansion->status();
    return status.has_fence ? 1 + status.released.size() : 0;
}

class KnownConnections final : public expansion::ConnectionDirectory {
  public:
    explicit KnownConnections(Connections& connections) : connections_(connections) {}
    std::optional<expansion::ConnectionFacts> find(expansion::ConnectionId connection) const override {
        return connections_.find(connection);
    }
    std::optional<expansion::ConnectionFacts> coordinator_of(std::string_view group, std::string_view member_id) const override {
        std::optional<expansion::ConnectionFacts> facts = connections_.coordinator_of(group, member_id);
        if (facts) connections_.want_process(facts->id);
        return facts;
    }
    bool is_looking_for(expansion::ConnectionId connection) const override { return !connections_.want_process(connection); }

  private:
    Connections& connections_;
};

/// Every growth that is known, from the topic's own record.
std::vector<expansion::EarlierExpansion> growths_of(const topics::Topic& topic) {
    std::vector<expansion::EarlierExpansion> growths;
    for (const auto& expansion : topic.expansions) {
        growths.push_back(
            {expansion->old_partition_count, expansion->new_partition_count, expansion->time, expansion->log_end_offsets});
    }
    return growths;
}

}  // namespace

ReaderObserver::~ReaderObserver() { stop(); }

void ReaderObserver::start() {
    sources_.topics.table()->for_each([&](const TopicState& topic) {
        if (!topic.topic->expansions.empty()) leave(growth_note(topic, {}));
    });
    const MutexLock lock(mutex_);
    worker_ = executor_.start("reader-observer", [this] { return step(); });
}

void ReaderObserver::stop() {
    std::unique_ptr<Worker> ended;
    {
        const MutexLock lock(mutex_);
        ended.swap(worker_);
    }
}

void ReaderObserver::topic_grew(const TopicState& topic, std::span<const std::pair<std::string, std::string>> joins) {
    Note note = growth_note(topic, {joins.begin(), joins.end()});
    // Circumstances are of the moment at which it grew, also when the observer comes to it later; of a start they are history.
    const auto& circumstances = topic.topic->expansions.back()->circumstances;
    if (circumstances && static_cast<std::size_t>(circumstances->group_count) == circumstances->groups.size()) {
        std::set<std::string>& readers = std::get<Grown>(note.what).readers.emplace();
        for (const topics::GroupAtCut& group : circumstances->groups) readers.insert(group.group_id);
    }
    leave(std::move(note));
    changes_.fetch_add(1, std::memory_order_release);
}

ReaderObserver::Note ReaderObserver::growth_note(const TopicState& topic,
                                                 std::vector<std::pair<std::string, std::string>> joins) {
    return {
        .topic = topic.topic->id,
        .what = Grown{growths_of(*topic.topic), topic.topic->expansions.back()->catalog_sequence, std::move(joins), std::nullopt},
        .name = topic.topic->name};
}

void ReaderObserver::leave(Note note) {
    const MutexLock lock(mutex_);
    const bool is_growth = std::holds_alternative<Grown>(note.what);
    // Growths are few, and everything else is nothing without them.
    if (notes_.size() < kNotesMax || is_growth) notes_.push_back(std::move(note));
    has_news_ = true;
    // Requests come in crowds; only the first one after a rest wakes anybody, and the first topic ends a wait without end.
    if (is_resting_ || (is_growth && !is_watching_)) {
        is_resting_ = false;
        is_watching_ = true;
        if (worker_) worker_->wake();
    }
}

void ReaderObserver::keep_joins(Watched& watched, std::vector<GroupFacts>& groups) {
    std::erase_if(watched.joins, [&](const auto& join) {
        // Groups, and the topics of each, are ascending.
        const auto group = std::ranges::lower_bound(groups, join.first, {}, &GroupFacts::group_id);
        if (group == groups.end() || group->group_id != join.first) return true;
        // Without any it restarts or rebalances, and nobody knows what it will read.
        return group->reads_others &&
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
                                     const ClientConnection& connection, PartitionIndex partition, Offset committed,
                                     TimestampMs now) {
    connections_.want_process(connection.id);
    const bool is_member = connection.noted_member != 0;
    leave({.topic = topic.topic->id,
           .what = OffsetFetched{std::string(group), connection.id, is_member, client, partition, committed, now},
           .name = {}});
    // What the client fetches next tells what it does without an offset.
    if (committed == kNoOffset) changes_.fetch_add(1, std::memory_order_release);
}

void ReaderObserver::on_list_offsets(const TopicState& topic, const expansion::ClientIdentity& client,
                                     expansion::ConnectionId connection, PartitionIndex partition, std::int64_t timestamp,
                                     Offset answered) {
    connections_.want_process(connection);
    leave({.topic = topic.topic->id, .what = OffsetsListed{client, partition, timestamp, answered}, .name = {}});
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
    connections_.want_process(connection.id);
    leave({.topic = topic.topic->id,
           .what = Fetched{connection.id, {std::string(client_id), connection.host}, partition, from, now},
           .name = {}});
}

void ReaderObserver::on_commit(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                               expansion::ConnectionId connection, std::span<const expansion::ConsumerWatch::Commit> commits,
                               std::optional<expansion::Inversions::Positions> before, TimestampMs now) {
    connections_.want_process(connection);
    if (before) {
        const MutexLock lock(mutex_);
        if (positioned_.size() == kPositionedMax) positioned_.clear();
        positioned_.insert(position_key(topic, group));
    }
    leave({.topic = topic.topic->id,
           .what = Committed{std::string(group),
                             connection,
                             client,
                             {commits.begin(), commits.end()},
                             std::move(before),
                             now,
                             sources_.keys.samples().taken()},
           .name = {}});
}

std::size_t ReaderObserver::position_key(const TopicState& topic, std::string_view group) {
    const std::size_t growths = topic.topic->expansions.size();
    return (std::hash<TopicId>()(topic.topic->id) * 31 + growths) * 31 + std::hash<std::string_view>()(group);
}

bool ReaderObserver::wants_positions(const TopicState& topic, std::string_view group) {
    const MutexLock lock(mutex_);
    return !positioned_.contains(position_key(topic, group));
}

bool ReaderObserver::is_watching() {
    const MutexLock lock(mutex_);
    return is_watching_;
}

void ReaderObserver::on_leave(const TopicTable& table, std::string_view group, std::string_view member_id,
                              expansion::ConnectionId connection, TimestampMs now) {
    if (!is_watching()) return;
    const std::optional<groups::MemberHoldings> member = sources_.groups.holdings_of(group, member_id);
    if (!member) return;
    TimestampMs born = kNoTimestamp;
    if (const auto own = connections_.coordinator_of(group, member_id)) {
        connection = own->id;
        born = own->born;
    }
    for (const groups::MemberHoldings::Topic& held : member->topics) {
        const TopicState* topic = table.find(held.name);
        if (topic == nullptr || !watches(*topic)) continue;
        leave({.topic = topic->topic->id,
               .what = Left{std::string(group),
                            std::string(member_id),
                            connection,
                            born,
                            {member->client_id, member->client_host},
                            held.partitions,
                            now},
               .name = {}});
    }
}

void ReaderObserver::on_group_deleted(std::string_view group) {
    if (!is_watching()) return;
    {
        // One that comes by the name begins anew.
        const MutexLock lock(mutex_);
        positioned_.clear();
    }
    leave({.topic = {}, .what = GroupDeleted{std::string(group)}, .name = {}});
}

void ReaderObserver::on_topics_changed(const TopicsChange& change) {
    using Kind = topics::CatalogChange::Kind;
    // Internal topics are joined with nothing, and what is told of an expansion later does not change it.
    const bool is_news = std::ranges::any_of(change.changes, [](const topics::CatalogChange& each) {
        const topics::TopicPointer& topic = each.after ? each.after : each.before;
        return topic && !topic->internal && each.kind != Kind::expansion_annotated;
    });
    const MutexLock lock(mutex_);
    if (!is_watching_ || !is_news) return;
    has_news_ = true;
    if (std::exchange(is_resting_, false) && worker_) worker_->wake();
}

Instant ReaderObserver::step() {
    const Now now = sources_.clock.now();
    {
        const MutexLock lock(mutex_);
        if (!is_watching_) {
            next_round_ = kNever;
        } else if (next_round_ == kNever || (rests_ && has_news_)) {
            plan_round_locked(now.monotonic);
        }
        if (now.monotonic < next_round_) {
            return next_round_;
        }
        is_resting_ = false;
    }
    const std::int64_t before_ns = sources_.clock.thread_processor_ns();
    const std::shared_ptr<const TopicTable> table = sources_.topics.table();
    settle_round(*table, now);
    least_ms_ = static_cast<std::int64_t>(static_cast<double>(sources_.clock.thread_processor_ns() - before_ns) / 1e6 / kShare);
    const MutexLock lock(mutex_);
    if (is_watching_) {
        plan_round_locked(sources_.clock.now().monotonic);
    } else {
        next_round_ = kNever;
    }
    return next_round_;
}

RoundPacing::Pause ReaderObserver::next_pause(std::int64_t least_ms, Instant now) {
    const MutexLock lock(mutex_);
    return next_pause_locked(least_ms, now);
}

RoundPacing::Pause ReaderObserver::next_pause_locked(std::int64_t least_ms, Instant now) {
    const auto due_in_ms = changes_at_ ? std::optional(*changes_at_ - now) : std::nullopt;
    return pacing_.next(std::exchange(has_news_, false), least_ms, due_in_ms);
}

void ReaderObserver::plan_round_locked(Instant now) {
    const RoundPacing::Pause pause = next_pause_locked(least_ms_, now);
    rests_ = pause.ends_with_news;
    is_resting_ = pause.ends_with_news;
    next_round_ = now + pause.ms;
}

void ReaderObserver::apply(Watched& watched, Note& note) {
    expansion::ConsumerWatch& readers = watched.readers;
    struct Visitor {
        Watched& watched;
        expansion::ConsumerWatch& readers;
        void operator()(const OffsetFetched& seen) const {
            readers.on_offset_fetch(seen.group, seen.connection, seen.is_member, seen.client, seen.partition, seen.committed,
                                    seen.time);
        }
        void operator()(const OffsetsListed& seen) const {
            readers.on_list_offsets(seen.client, seen.partition, seen.timestamp, seen.answered);
        }
        void operator()(const Fetched& seen) const {
            readers.on_fetch(seen.connection, seen.client, seen.partition, seen.from, seen.time);
        }
        void operator()(const Committed& seen) const {
            readers.on_commit(seen.group, seen.connection, seen.client, seen.commits, seen.before ? &*seen.before : nullptr,
                              seen.time, seen.keys_sent);
        }
        void operator()(const Left& seen) const {
            readers.on_leave(seen.group, seen.member_id, seen.connection, seen.born, seen.client, seen.partitions, seen.time);
        }
        void operator()(const GroupDeleted& seen) const { readers.forget_group(seen.group); }
        void operator()(const Grown& grown) const {
            readers.set_growths(grown.growths, grown.readers ? &*grown.readers : nullptr);
            watched.grown_at = std::max(watched.grown_at, grown.catalog_sequence);
            for (const auto& join : grown.joins) {
                if (watched.joins.size() < kJoinsMax) watched.joins.insert(join);
            }
        }
    };
    std::visit(Visitor{watched, readers}, note.what);
}

void ReaderObserver::take_notes(Instant now) {
    std::deque<Note> notes;
    {
        const MutexLock lock(mutex_);
        notes.swap(notes_);
    }
    for (Note& note : notes) {
        if (std::holds_alternative<GroupDeleted>(note.what)) {
            for (auto& [id, topic] : watched_) {
                ++topic.requests;
                apply(topic, note);
            }
            continue;
        }
        auto watched = watched_.find(note.topic);
        // A topic is watched from its growth on, and until it is deleted: what comes after that is about nothing.
        if (watched == watched_.end()) {
            if (!std::holds_alternative<Grown>(note.what)) continue;
            watched = watched_.try_emplace(note.topic, note.name, now).first;
        }
        ++watched->second.requests;
        watched->second.was_asked = watched->second.was_asked || !std::holds_alternative<Grown>(note.what);
        apply(watched->second, note);
    }
}

std::vector<ReaderObserver::Subject> ReaderObserver::subjects(const TopicTable& table, Instant now) {
    take_notes(now);
    std::vector<Subject> subjects;
    for (auto entry = watched_.begin(); entry != watched_.end(); ++entry) {
        const Watched& watched = entry->second;
        // In an older table the topic has not grown, or is missing as if it had been deleted.
        if (watched.grown_at > table.catalog->sequence()) continue;
        Subject subject{.entry = entry, .topic = table.find(entry->first), .circumstances = {}, .order = watched.waits_since};
        if (!watched.was_asked) subject.order = subject.order + kLookAgainMs;
        if (subject.topic != nullptr) {
            Circumstances& these = subject.circumstances;
            these = {.state = reinterpret_cast<std::uintptr_t>(subject.topic),
                     .requests = watched.requests,
                     .memberships = sources_.groups.membership_version(),
                     .fence = watched.is_held_by_fence ? state_of_fence(*subject.topic) : 0};
            for (const std::shared_ptr<Partition>& partition : subject.topic->partitions) {
                const auto end = static_cast<std::uint64_t>(partition->log->log_end_offset().value);
                const auto start = static_cast<std::uint64_t>(partition->log->log_start_offset().value);
                these.log_ends = (these.log_ends * 31 + end) * 31 + start;
            }
            these.others = others_of(watched, table);
        }
        subjects.push_back(subject);
    }
    return subjects;
}

std::uint64_t ReaderObserver::others_of(const Watched& watched, const TopicTable& table) {
    std::uint64_t others = 0;
    const auto add = [](std::uint64_t& sum, std::string_view name, std::int32_t count) {
        sum = (sum * 31 + std::hash<std::string_view>()(name)) * 31 + static_cast<std::uint64_t>(count);
    };
    for (const auto& [group, name] : watched.joins) {
        const TopicState* other = table.find(name);
        add(others, name, other == nullptr ? 0 : other->topic->partition_count);
    }
    if (!watched.has_streams) return others;
    if (streams_internal_at_ != table.catalog->sequence()) {
        streams_internal_at_ = table.catalog->sequence();
        streams_internal_ = 0;
        for (const topics::TopicPointer& topic : names_in(*table.catalog).streams_internal) {
            add(streams_internal_, topic->name, topic->partition_count);
        }
    }
    return others * 31 + streams_internal_;
}

bool ReaderObserver::is_due(const Subject& subject, Instant now) {
    const Watched& watched = subject.entry->second;
    if (subject.topic == nullptr || !watched.looked_at || watched.circumstances != subject.circumstances ||
        watched.readers.is_undecided()) {
        return true;
    }
    const bool is_time = watched.changes_at && now >= *watched.changes_at;
    return is_time || now - *watched.looked_at >= kLookAgainMs;
}

void ReaderObserver::look(const Subject& subject, Now now) {
    auto& [id, watched] = *subject.entry;
    watched.circumstances = subject.circumstances;
    watched.looked_at = watched.waits_since = now.monotonic;
    watched.was_asked = false;
    looks_.fetch_add(1, std::memory_order_relaxed);
    findings_.settle(findings_source("readers", id),
                     subject.topic == nullptr ? std::vector<Finding>() : findings_of(*subject.topic, watched, now.wall),
                     now.wall);
    const std::optional<TimestampMs> next = watched.readers.next_change();
    watched.changes_at = next ? std::optional(now.monotonic + (next->value - now.wall.value)) : std::nullopt;
    if (subject.topic == nullptr) watched_.erase(subject.entry);
}

void ReaderObserver::note_rest(bool is_news) {
    const bool is_undecided =
        std::ranges::any_of(watched_, [](const auto& entry) { return entry.second.readers.is_undecided(); });
    std::optional<Instant> changes_at;
    for (const auto& [id, watched] : watched_) {
        if (watched.changes_at) changes_at = std::min(changes_at.value_or(*watched.changes_at), *watched.changes_at);
    }
    const MutexLock lock(mutex_);
    is_watching_ = !watched_.empty() || !notes_.empty();
    has_news_ = has_news_ || is_undecided || is_news;
    changes_at_ = changes_at;
}

void ReaderObserver::settle(const TopicTable& table, Now now) {
    const MutexLock lock(settle_mutex_);
    for (const Subject& subject : subjects(table, now.monotonic)) look(subject, now);
    note_rest(false);
}

bool ReaderObserver::settle_round(const TopicTable& table, Now now, std::int64_t budget_ns) {
    const MutexLock lock(settle_mutex_);
    const std::int64_t began_ns = sources_.clock.thread_processor_ns();
    std::vector<Subject> due = subjects(table, now.monotonic);
    std::erase_if(due, [&](const Subject& subject) { return !is_due(subject, now.monotonic); });
    std::ranges::stable_sort(due, {}, &Subject::order);
    std::size_t done = 0;
    while (done < due.size() && (done == 0 || sources_.clock.thread_processor_ns() - began_ns < budget_ns)) {
        look(due[done++], now);
    }
    note_rest(done < due.size());
    return done < due.size();
}

// A group that neither reads the topic nor exists was deleted, and its findings end with it. While groups are being rebuilt
// nobody knows.
void ReaderObserver::forget_deleted_groups(const std::vector<GroupFacts>& groups, expansion::ConsumerWatch& readers) {
    std::set<std::string> told = readers.groups_told();
    for (const GroupFacts& group : groups) told.erase(group.group_id);
    std::erase_if(told, [&](const std::string& group) { return sources_.groups.protocol_of(group).has_value(); });
    if (!sources_.groups.is_complete()) return;
    for (const std::string& group : told) readers.forget_group(group);
}

std::vector<Finding> ReaderObserver::findings_of(const TopicState& topic, Watched& watched, TimestampMs now) {
    // Requests that were noted are older than the facts: of a group that just came everything is known.
    const std::vector<std::pair<std::string_view, std::string_view>> joins(watched.joins.begin(), watched.joins.end());
    expansion::PlannedTopic facts = growth_facts(sources_, topic, kJoinsMax, joins);
    keep_joins(watched, facts.groups);
    watched.has_streams =
        std::ranges::any_of(facts.groups, [](const GroupFacts& group) { return group.protocol == expansion::kStreamsAssignor; });
    if (sources_.groups.is_complete()) forget_deleted_groups(facts.groups, watched.readers);
    std::vector<Offset> starts;
    std::vector<Offset> ends;
    for (const expansion::PartitionFacts& partition : facts.partitions) {
        starts.push_back(partition.log_start);
        ends.push_back(partition.log_end);
    }
    std::vector<std::int32_t> counts = {topic.topic->expansions.front()->old_partition_count};
    for (const expansion::EarlierExpansion& growth : facts.earlier) counts.push_back(growth.new_count);
    std::vector<expansion::MovedKey> moved;
    // Asked first: a look that ends meanwhile may be in the keys already.
    const std::uint64_t keys_seen = sources_.keys.batches_done();
    std::vector<expansion::StaleWrites::Writer> stale;
    sources_.keys.with_watch(topic.topic->id, [&](const expansion::TopicWatch* keys) {
        if (keys == nullptr) return;
        stale = keys->stale_writers(now);
        if (watched.readers.needs_keys()) moved = expansion::growth_steps(keys->keys(), keys->known_families(), counts);
    });
    const KnownConnections connections(connections_);
    std::vector<Finding> findings = watched.readers.findings({.growths = facts.earlier,
                                                              .log_starts = starts,
                                                              .log_ends = ends,
                                                              .groups = facts.groups,
                                                              .moved_keys = moved,
                                                              .keys_seen = keys_seen,
                                                              .stale_writers = stale,
                                                              .connections = &connections},
                                                             now);
    watched.is_held_by_fence = tell_of_fence(topic, findings);
    for (Finding& finding : expansion::make_plan_without_scan(facts).findings) {
        if (std::ranges::find(kLastingHazards, finding.id) != kLastingHazards.end() || is_rebalance_due(finding, facts)) {
            findings.push_back(std::move(finding));
        }
    }
    return findings;
}

}  // namespace partita::runtime
