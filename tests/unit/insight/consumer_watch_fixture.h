#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/readers/consumer_watch.h"

namespace partita::insight {

/// Connections as a test sets them; the others are open, and their process is unknown.
class FakeConnections final : public ConnectionDirectory {
  public:
    std::optional<ConnectionFacts> find(ConnectionId connection) const override {
        if (closed.contains(connection)) {
            return std::nullopt;
        }
        const auto known = open.find(connection);
        return known == open.end() ? ConnectionFacts{.id = connection} : known->second;
    }
    std::optional<ConnectionFacts> coordinator_of(std::string_view group, std::string_view member_id) const override {
        const auto known = coordinators.find({std::string(group), std::string(member_id)});
        return known == coordinators.end() ? std::nullopt : find(known->second);
    }
    bool is_looking_for(ConnectionId connection) const override { return wanted.contains(connection); }

    /// Sets the process of the connection.
    void is_of(ConnectionId connection, std::int32_t pid) {
        open[connection] = {.id = connection,
                            .process = ProcessIdentity{.pid = pid, .start_ticks = 1, .name = "python3", .program = {}}};
    }

    std::map<ConnectionId, ConnectionFacts> open;
    std::set<ConnectionId> closed;
    std::set<ConnectionId> wanted;
    std::map<std::pair<std::string, std::string>, ConnectionId> coordinators;
};

/// Fates as a test sets them; other records stand.
class FakeFates final : public RecordFates {
  public:
    RecordFate of(PartitionIndex partition, Offset offset) const override {
        const auto known = told.find({partition, offset});
        return known == told.end() ? RecordFate::stands : known->second;
    }
    std::map<std::pair<PartitionIndex, Offset>, RecordFate> told;
};

/// Counts as a test sets them, by where they begin; otherwise each offset is a record.
class FakeCounts final : public RecordCounter {
  public:
    RecordCount between(PartitionIndex partition, Offset from, Offset to) override {
        const auto known = told.find({partition, from});
        return known == told.end() ? RecordCount{to - from} : known->second;
    }
    std::map<std::pair<PartitionIndex, Offset>, RecordCount> told;
};

/// Records as a test adds them. A byte of an answer is a record.
class FakeRecords final : public KeyedRecords {
  public:
    Offset read(PartitionIndex partition, Offset from, Offset to, Visit visit) override {
        for (const auto& [offset, key] : keys[partition]) {
            if (offset < from || offset >= std::min(to, decided_to)) {
                continue;
            }
            if (budget == 0) {
                return offset;
            }
            --budget;
            const auto time = times.find({partition, offset});
            visit(offset, as_bytes(key), time == times.end() ? TimestampMs{0} : time->second);
        }
        return std::min(to, decided_to);
    }
    std::optional<Offset> end_of_answer(PartitionIndex, Offset from, std::uint32_t bytes) override { return from + bytes; }
    std::optional<std::string> key_at(PartitionIndex partition, Offset offset) override {
        const auto known = keys[partition].find(offset);
        return known == keys[partition].end() ? std::nullopt : std::optional(known->second);
    }
    bool has_budget() const override { return budget > 0; }
    bool is_complete() const override { return true; }

    std::map<PartitionIndex, std::map<Offset, std::string>> keys;
    /// The others have the time 0.
    std::map<std::pair<PartitionIndex, Offset>, TimestampMs> times;
    Offset decided_to{INT64_MAX};
    std::size_t budget = SIZE_MAX;
};

/// A topic "orders" that grew from 2 to 4 partitions, with group "billing" of one member.
class ConsumerWatchTest : public testing::Test {
  protected:
    static constexpr PartitionIndex kOld{0};
    static constexpr PartitionIndex kNew{2};
    /// Connections of the member of "billing": it speaks to its coordinator over the first, and fetches over the second.
    static constexpr ConnectionId kCoordinator{1};
    static constexpr ConnectionId kFetches{2};

    /// `cuts`: where the logs of the old partitions ended when the topic grew. `at_work`: the groups that had members then.
    explicit ConsumerWatchTest(std::vector<Offset> cuts = {Offset{100}, Offset{50}}, std::set<std::string> at_work = {}) {
        growths_ = {{2, 4, expanded_, std::move(cuts),
                     std::make_shared<const GroupsAtGrowth>(GroupsAtGrowth{.at_work = std::move(at_work), .done = {}})}};
        watch_.set_growths(growths_);
        groups_ = {{.group_id = "billing", .protocol_type = "consumer", .protocol = "range"}};
        billing().members = {{"billing-app", "/10.0.0.1", {{0}, {1}}, "billing-1"}};
        billing().committed.assign(4, kNoOffset);
        connections_.coordinators[{"billing", "billing-1"}] = kCoordinator;
    }

    GroupFacts& billing() { return groups_.front(); }
    /// Another group, whose member shares client id and host with that of "billing".
    void add_group(const std::string& group, ConnectionId coordinator) {
        GroupFacts other{.group_id = group, .protocol_type = "consumer", .protocol = "range"};
        other.members = {{client_.client_id, client_.address, {{0}, {1}, {2}, {3}}, group + "-1"}};
        other.committed.assign(4, kNoOffset);
        connections_.coordinators[{group, group + "-1"}] = coordinator;
        groups_.push_back(std::move(other));
    }
    /// The topic grows again, while the logs end where `ends_` says.
    void grow(std::int32_t to) {
        growths_.push_back({growths_.back().new_count, to, now_, ends_});
        watch_.set_growths(growths_);
        starts_.resize(static_cast<std::size_t>(to), Offset{0});
        ends_.resize(static_cast<std::size_t>(to), Offset{0});
    }

    std::vector<Finding> findings() {
        std::vector<std::int32_t> counts = {growths_.front().old_count};
        for (const EarlierExpansion& growth : growths_) {
            counts.push_back(growth.new_count);
        }
        const std::vector<MovedKey> moved = growth_steps(keys_, families_, counts);
        return watch_.findings({.growths = growths_,
                                .log_starts = starts_,
                                .log_ends = ends_,
                                .groups = groups_,
                                .moved_keys = moved,
                                .known_families = known_families_,
                                .keys_seen = keys_seen_,
                                .stale_writers = stale_,
                                .connections = &connections_,
                                .fates = &fates_,
                                .counts = &counts_,
                                .records = records_.keys.empty() ? nullptr : &records_},
                               now_);
    }
    std::optional<Finding> finding(HazardId id, std::string_view group = {}) {
        const std::vector<Finding> all = findings();
        const auto found = std::ranges::find_if(
            all, [&](const Finding& finding) { return finding.id == id && (group.empty() || finding.subject.group == group); });
        return found == all.end() ? std::nullopt : std::optional(*found);
    }
    /// Looks after so long that every reader that could have begun has shown itself.
    std::optional<Finding> skipped(std::string_view group = {}) {
        (void)findings();
        wait(AutoResets::kJudgeMs);
        return finding(HazardId::latest_loses_first_records, group);
    }
    void wait(std::int64_t duration_ms) { now_.value += duration_ms; }
    void assign_everything() { billing().members[0].assigned = {{0}, {1}, {2}, {3}}; }

    void fetch(const ClientIdentity& client, ConnectionId connection, PartitionIndex partition, std::int64_t from) {
        watch_.on_fetch(connection, client, partition, Offset{from}, now_);
    }
    void fetch(PartitionIndex partition, std::int64_t from) { fetch(client_, kFetches, partition, from); }
    /// The broker sends records in an answer of its own.
    void deliver(PartitionIndex partition, std::int64_t from, std::int64_t to, ConnectionId connection = kFetches) {
        ++answer_;
        deliver_too(partition, from, to, connection);
    }
    /// The same answer has records of another partition, too.
    void deliver_too(PartitionIndex partition, std::int64_t from, std::int64_t to, ConnectionId connection = kFetches) {
        deliver_to(client_, connection, partition, from, to);
    }
    void deliver_to(const ClientIdentity& client, ConnectionId connection, PartitionIndex partition, std::int64_t from,
                    std::int64_t to) {
        watch_.on_fetch(connection, client, partition, Offset{from}, asked_.value_or(now_));
        watch_.on_delivery({.connection = connection,
                            .answer = answer_,
                            .partition = partition,
                            .from = Offset{from},
                            .size_bytes = static_cast<std::uint32_t>(to - from),
                            .time = now_,
                            .asked = asked_.value_or(now_)});
    }
    void ask(std::string_view group, ConnectionId coordinator, PartitionIndex partition) {
        watch_.on_offset_fetch(group, coordinator, true, client_, partition, kNoOffset, now_);
    }
    /// The group asks for its offset in a new partition, is told there is none, and goes to the end.
    void start_at_latest(PartitionIndex partition, std::int64_t latest) { start_at_latest_over(kFetches, partition, latest); }
    void start_at_latest_over(ConnectionId connection, PartitionIndex partition, std::int64_t latest) {
        ask("billing", kCoordinator, partition);
        watch_.on_list_offsets(client_, partition, -1, Offset{latest});
        fetch(client_, connection, partition, latest);
    }
    void commit(std::string_view group, std::vector<ConsumerWatch::Commit> commits, const Inversions::Positions* before = nullptr,
                std::uint64_t keys_sent = 0) {
        watch_.on_commit(group, kCoordinator, client_, commits, before, now_, keys_sent);
    }
    void add_key(const std::string& key, PartitionIndex partition, std::int32_t epoch, std::int64_t offset) {
        keys_.add({.key = as_bytes(key),
                   .key_hash = std::hash<std::string>()(key),
                   .partition = partition,
                   .epoch = epoch,
                   .offset = {offset}});
    }

    /// Adds the key as a batch of a transaction that has only this record.
    void add_key_in_transaction(const std::string& key, PartitionIndex partition, std::int32_t epoch, std::int64_t offset) {
        keys_.add({.key = as_bytes(key),
                   .key_hash = std::hash<std::string>()(key),
                   .partition = partition,
                   .epoch = epoch,
                   .offset = {offset},
                   .transactional_batch = {offset}});
    }

    TimestampMs now_{1'000'000};
    TimestampMs expanded_ = now_;
    ClientIdentity client_{"billing-app", "/10.0.0.1"};
    ConsumerWatch watch_{"orders"};
    std::vector<EarlierExpansion> growths_;
    std::vector<GroupFacts> groups_;
    FakeConnections connections_;
    FakeFates fates_;
    FakeCounts counts_;
    FakeRecords records_;
    std::uint64_t answer_ = 0;
    /// When the requests came that are answered now; null: just now.
    std::optional<TimestampMs> asked_;
    KeyIndex keys_{1000};
    std::uint64_t keys_seen_ = 0;
    partitioners::FamilySet families_;
    /// Those that producers were seen to use; `families_` are those of `keys_`.
    partitioners::FamilySet known_families_;
    std::vector<StaleWrites::Writer> stale_;
    std::vector<Offset> starts_{Offset{0}, Offset{0}, Offset{0}, Offset{0}};
    std::vector<Offset> ends_{Offset{100}, Offset{50}, Offset{0}, Offset{0}};
};

}  // namespace partita::insight
