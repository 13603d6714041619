#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "broker/insight/findings/record_count.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/keys/stale_writes.h"
#include "broker/insight/order/keyed_records.h"
#include "broker/insight/plan/plan.h"
#include "broker/insight/readers/inversions.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// The facts that a broker knows about a topic that has grown and about its readers, apart from their requests. Pure.
namespace partita::insight {

/// Looks up the facts about connections.
class ConnectionDirectory {
  public:
    virtual ~ConnectionDirectory() = default;
    /// An open connection; null if none has this id.
    [[nodiscard]] virtual std::optional<ConnectionFacts> find(ConnectionId connection) const = 0;
    /// The connection over which the member speaks to its coordinator; null if it is closed or unknown.
    [[nodiscard]] virtual std::optional<ConnectionFacts> coordinator_of(std::string_view group,
                                                                        std::string_view member_id) const = 0;
    /// True while the broker is looking for the process behind the connection.
    [[nodiscard]] virtual bool is_looking_for(ConnectionId connection) const = 0;
};

/// Whether readers of committed records get a record.
enum class RecordFate : std::uint8_t {
    stands,
    /// Never: its transaction was aborted.
    aborted,
    /// Its transaction is open, or it lies behind an open one.
    undecided,
};

/// Looks up the fates of the topic's records.
class RecordFates {
  public:
    virtual ~RecordFates() = default;
    [[nodiscard]] virtual RecordFate of(PartitionIndex partition, Offset offset) const = 0;
};

/// The facts at one moment. The caller owns what the spans point to.
struct ReaderFacts {
    /// Every known expansion, ascending; at least one.
    std::span<const EarlierExpansion> growths;
    /// By partition index.
    std::span<const Offset> log_starts;
    std::span<const Offset> log_ends;
    /// Groups that read the topic: members, their partitions and commits. Each name once.
    std::span<const GroupFacts> groups;
    /// Steps of keys between partitions that an expansion caused; see `growth_steps`.
    std::span<const MovedKey> moved_keys;
    /// The partitioners that producers were seen to use; empty if that is not known.
    partitioners::FamilySet known_families;
    /// Number of batches that were taken for a look at their keys and have had it. `moved_keys` covers these, and maybe more.
    std::uint64_t keys_seen = UINT64_MAX;
    std::span<const StaleWrites::Writer> stale_writers;
    /// Not null.
    const ConnectionDirectory* connections = nullptr;
    /// Null if there are no transactions.
    const RecordFates* fates = nullptr;
    /// Null if each offset is that of a record.
    RecordCounter* counts = nullptr;
    /// Null if nobody can read records: then nothing is told that rests on what was handed out.
    KeyedRecords* records = nullptr;

    [[nodiscard]] const EarlierExpansion& last_growth() const { return growths.back(); }
};

/// Records in `[from, to)`, which is not empty.
[[nodiscard]] inline RecordCount records_between(const ReaderFacts& facts, PartitionIndex partition, Offset from, Offset to) {
    return facts.counts == nullptr ? RecordCount{to - from} : facts.counts->between(partition, from, to);
}

/// The offset of the partition; 0 for a partition beyond the list.
[[nodiscard]] inline Offset offset_at(std::span<const Offset> offsets, PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value);
    return index < offsets.size() ? offsets[index] : Offset{0};
}

[[nodiscard]] inline std::optional<Offset> committed_of(const GroupFacts& group, PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value);
    const bool is_known = index < group.committed.size() && group.committed[index] != kNoOffset;
    return is_known ? std::optional(group.committed[index]) : std::nullopt;
}

/// The expansion that added the partition; null for one that existed before the first expansion.
[[nodiscard]] inline const EarlierExpansion* growth_of(std::span<const EarlierExpansion> growths, PartitionIndex partition) {
    const auto later = std::ranges::upper_bound(growths, partition.value, {}, &EarlierExpansion::old_count);
    return later == growths.begin() ? nullptr : &*std::prev(later);
}

/// Groups by name, with the clients and partitions of their members. Looks at each group at most once. Valid as long as
/// the list is.
class GroupIndex {
  public:
    explicit GroupIndex(std::span<const GroupFacts> groups) {
        groups_.reserve(groups.size());
        for (const GroupFacts& group : groups) {
            groups_.emplace(group.group_id, Known{.facts = &group});
        }
    }
    /// Null for a group that does not read the topic.
    [[nodiscard]] const GroupFacts* find(std::string_view group) const {
        const auto found = groups_.find(group);
        return found == groups_.end() ? nullptr : found->second.facts;
    }
    [[nodiscard]] bool has_client(std::string_view group, const ClientIdentity& client) {
        const Known* known = look_at(group);
        return known != nullptr && known->clients.contains({client.client_id, host_of(client.address)});
    }
    [[nodiscard]] bool holds(std::string_view group, PartitionIndex partition) {
        const Known* known = look_at(group);
        return known != nullptr && known->held.contains(partition);
    }

  private:
    struct Known {
        const GroupFacts* facts = nullptr;
        bool is_looked_at = false;
        std::set<std::pair<std::string_view, std::string_view>> clients;
        std::set<PartitionIndex> held;
    };
    const Known* look_at(std::string_view group) {
        const auto found = groups_.find(group);
        if (found == groups_.end()) {
            return nullptr;
        }
        Known& known = found->second;
        if (!known.is_looked_at) {
            known.is_looked_at = true;
            for (const GroupFacts::Member& member : known.facts->members) {
                known.clients.emplace(member.client_id, host_of(member.client_host));
                known.held.insert(member.assigned.begin(), member.assigned.end());
            }
        }
        return &known;
    }

    std::unordered_map<std::string_view, Known> groups_;
};

}  // namespace partita::insight
