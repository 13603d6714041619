#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/finding.h"
#include "broker/expansion/group_findings.h"
#include "broker/expansion/identity.h"
#include "broker/expansion/inversions.h"
#include "broker/expansion/offset_resets.h"
#include "broker/expansion/reader_facts.h"
#include "broker/expansion/reading_connections.h"
#include "protocol/types.h"

/// What is known of the readers of one topic that has grown, from the requests they send, and the hazards that follow.
/// Pure: requests, time and facts of the broker come in as arguments. One caller at a time.
namespace partita::expansion {

class ConsumerWatch {
  public:
    using Commit = Inversions::Commit;
    static constexpr std::int64_t kSilentMs = kReaderSilentMs;

    explicit ConsumerWatch(std::string topic) : topic_(std::move(topic)) {}

    /// Every expansion of the topic that is known, ascending. What was noted of earlier ones stays. Does nothing when they are as before.
    /// `readers`: all groups that read the topic at the newest one; null when that is not known, and then those of the first look count.
    void set_growths(std::span<const EarlierExpansion> growths, const std::set<std::string>* readers = nullptr);

    // Requests, after they were answered -----------------------------------------------------------

    /// OffsetFetch answered `committed` for a partition; kNoOffset when there is none. `is_member`: the connection speaks for a member.
    void on_offset_fetch(std::string_view group, ConnectionId connection, bool is_member, const ClientIdentity& client,
                         PartitionIndex partition, Offset committed, TimestampMs now);
    /// ListOffsets answered an offset, or kNoOffset; `timestamp` is as it was asked.
    void on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// A Fetch that began at `from`.
    void on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now);
    /// An OffsetCommit that was accepted, all of its partitions of this topic at once; `before` and `keys_sent` as in
    /// `Inversions::on_commit`.
    void on_commit(std::string_view group, ConnectionId connection, const ClientIdentity& client, std::span<const Commit> commits,
                   const Inversions::Positions* before, TimestampMs now, std::uint64_t keys_sent = 0);
    /// A member leaves its group, with the partitions that it has. `connection`: over which it speaks for itself; `born`: when that was
    /// opened, or kNoTimestamp.
    void on_leave(std::string_view group, std::string_view member_id, ConnectionId connection, TimestampMs born,
                  const ClientIdentity& client, std::span<const PartitionIndex> partitions, TimestampMs now);

    /// `ReaderFacts::moved_keys` will be looked at.
    [[nodiscard]] bool needs_keys() const { return inversions_.has_news(); }
    /// Something that was noted waits for time or evidence: `findings` should be asked again soon.
    [[nodiscard]] bool is_undecided() const { return resets_.is_undecided() || inversions_.has_news(); }
    /// Everything that holds now: H03, H04 of producers that are done, H06, H07, H20 to H23, H29, H30, H48. Takes what was noted since the
    /// last call into account.
    [[nodiscard]] std::vector<Finding> findings(const ReaderFacts& facts, TimestampMs now);
    /// The first moment after the last call of `findings` at which time alone can make something else hold; none when it cannot.
    [[nodiscard]] std::optional<TimestampMs> next_change() const { return next_change_; }

    /// Groups of which something is remembered that the end of the group ends.
    [[nodiscard]] std::set<std::string> groups_told() const;
    /// The group was deleted: one that comes by its name is another.
    void forget_group(const std::string& group);

  private:
    [[nodiscard]] bool is_new(PartitionIndex partition) const {
        return !growths_.empty() && partition.value >= growths_.front().old_count;
    }

    std::string topic_;
    std::vector<EarlierExpansion> growths_;
    ReadingConnections readings_;
    MemberHistory members_;
    OffsetResets resets_;
    Inversions inversions_;
    BlindGroups blind_;
    std::optional<TimestampMs> next_change_;
};

}  // namespace partita::expansion
