#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/finding.h"
#include "broker/expansion/key_index.h"
#include "broker/expansion/plan.h"
#include "broker/expansion/skip_table.h"
#include "protocol/types.h"

/// What is known of the readers of one topic that has grown, from the requests they send, and the hazards that follow.
/// Pure: requests, time and facts of the broker come in as arguments. One caller at a time.
namespace partita::expansion {

/// What the broker knows at one moment, besides the requests.
struct ReaderFacts {
    /// The last expansion.
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    TimestampMs expanded = kNoTimestamp;
    /// Log end offset of each old partition at the cut; missing entries are 0.
    std::span<const Offset> cut;
    /// By partition index.
    std::span<const Offset> log_starts;
    std::span<const Offset> log_ends;
    /// Groups that read the topic: members, what they hold, what they committed.
    std::span<const GroupFacts> groups;
    /// Keys seen in the topic; null when nothing is known of them.
    const KeyIndex* keys = nullptr;
};

class ConsumerWatch {
  public:
    /// Things remembered of one kind; beyond it one of them makes room.
    static constexpr std::size_t kClientsMax = 1024;
    static constexpr std::size_t kPendingMax = 4096;
    static constexpr std::size_t kSkipsMax = 4096;
    static constexpr std::size_t kGroupsMax = 1024;
    static constexpr std::size_t kAdvancesMax = 4096;
    /// Positions remembered with advances, in all.
    static constexpr std::size_t kPositionsMax = 200'000;
    static constexpr std::size_t kInvertedKeysMax = 4096;
    /// A reader that fetched nothing for so long no longer counts as one.
    static constexpr std::int64_t kSilentMs = 60'000;
    /// A client that asked for offsets, got none, and did nothing for so long with the partition is not going to.
    static constexpr std::int64_t kNoneCrashMs = 10'000;
    /// A group has so long to take new partitions before it is called blind: two heartbeats of a KIP-848 group.
    static constexpr std::int64_t kBlindMs = 10'000;

    explicit ConsumerWatch(std::string topic) : topic_(std::move(topic)) {}

    /// The topic grew; what was noted of its new partitions is about these. Does nothing when they are as before.
    void set_growth(std::int32_t old_count, std::int32_t new_count, TimestampMs expanded);
    [[nodiscard]] bool is_new(PartitionIndex partition) const { return partition.value >= old_count_; }

    // Requests, after they were answered -----------------------------------------------------------

    /// OffsetFetch answered `committed` for a partition; kNoOffset when there is none.
    void on_offset_fetch(std::string_view group, const ClientIdentity& client, PartitionIndex partition, Offset committed,
                         TimestampMs now);
    /// ListOffsets for the latest offset answered `latest`.
    void on_list_latest(const ClientIdentity& client, PartitionIndex partition, Offset latest);
    /// A Fetch that began at `from`.
    void on_fetch(const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now);
    struct Commit {
        PartitionIndex partition;
        Offset offset;
    };
    /// An OffsetCommit that was accepted, all of its partitions of this topic at once.
    void on_commit(std::string_view group, std::span<const Commit> commits);

    /// Everything that holds now: H03, H06, H07, H20 to H23, H29, H30, H48. Takes the commits noted since the last call into account and
    /// forgets them.
    [[nodiscard]] std::vector<Finding> findings(const ReaderFacts& facts, TimestampMs now);

  private:
    using ClientPartition = std::pair<ClientIdentity, PartitionIndex>;

    /// A group's client that was told there is no committed offset for a new partition.
    struct Pending {
        std::string group;
        TimestampMs asked = kNoTimestamp;
        /// What ListOffsets said since; kNoOffset when it was not asked.
        Offset latest = kNoOffset;
    };
    struct Reading {
        /// Old partitions, each with the earliest offset that was asked for since the growth.
        std::map<PartitionIndex, Offset> partitions;
        bool reads_new = false;
        TimestampMs last = kNoTimestamp;
    };
    using Positions = std::map<PartitionIndex, Offset>;
    /// A commit that moved forward, with everything that the group had committed then.
    struct Advance {
        std::string group;
        PartitionIndex partition;
        Offset before;
        Offset after;
        std::shared_ptr<const Positions> positions;
    };
    /// Proof of H06, by group and key.
    struct Inversion {
        PartitionIndex from;
        Offset earlier;
        PartitionIndex to;
        Offset later;
    };

    void find_backlogs(const ReaderFacts& facts, std::vector<Finding>& findings) const;
    /// What the group had committed in the partition when it made the advance; empty when that is not known.
    [[nodiscard]] static std::optional<Offset> position_at(const Advance& advance, PartitionIndex partition,
                                                           const ReaderFacts& facts);
    void prove_inversions(const ReaderFacts& facts);
    void find_inversions(const ReaderFacts& facts, std::vector<Finding>& findings);
    void find_skips(const ReaderFacts& facts, std::vector<Finding>& findings);
    void find_crashes(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const;
    void find_blind_groups(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const;
    /// Readers whose requests no group explains, and that are still there.
    [[nodiscard]] std::vector<std::pair<ClientIdentity, const Reading*>> manual_readers(TimestampMs now) const;
    void note_members(const ReaderFacts& facts, TimestampMs now);
    void find_replays(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const;
    void find_manual_readers(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const;
    void find_external_offsets(TimestampMs now, std::vector<Finding>& findings) const;
    void find_mirrors(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const;
    void find_seeds(const ReaderFacts& facts, std::vector<Finding>& findings) const;

    std::string topic_;
    std::int32_t old_count_ = 0;
    std::int32_t new_count_ = 0;
    TimestampMs expanded_ = kNoTimestamp;

    std::map<ClientPartition, Pending> pending_;
    SkipTable skips_{kSkipsMax};
    ClientTable<Reading, kClientsMax> readers_;
    /// When a client was last seen as a member of a group: what it fetched until shortly after then it fetched as one.
    ClientTable<TimestampMs, kClientsMax> members_;
    /// Commits by group, as requests told.
    std::map<std::string, Positions, std::less<>> commits_;
    std::vector<Advance> advances_;
    std::size_t remembered_positions_ = 0;
    std::map<std::pair<std::string, std::string>, Inversion> inversions_;
    /// Inversions beyond `kInvertedKeysMax`, and advances that found no room.
    std::int64_t uncounted_ = 0;
};

}  // namespace partita::expansion
