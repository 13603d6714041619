#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/readers/auto_resets.h"
#include "broker/insight/readers/inversions.h"
#include "broker/insight/readers/position_findings.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"
#include "protocol/types.h"

/// Follows the readers of one topic that has grown, by the requests they send, and finds the hazards that follow. Pure:
/// the caller passes requests, time and facts of the broker as arguments. One caller at a time.
namespace partita::insight {

class ConsumerWatch {
  public:
    using Commit = Inversions::Commit;
    static constexpr std::int64_t kSilentMs = kReaderSilentMs;

    explicit ConsumerWatch(std::string topic) : topic_(std::move(topic)) {}

    /// Takes all known expansions of the topic, ascending. Does nothing unless the topic has grown since the last call;
    /// what was noted before stays. `readers`: all groups that read the topic when it grew last; null when that is not
    /// known, and then the groups in the facts of the next `findings` count as its readers.
    void set_growths(std::span<const EarlierExpansion> growths, const std::set<std::string>* readers = nullptr);

    // Requests. The caller reports each one after it was answered ----------------------------------

    /// OffsetFetch answered `committed` for a partition, or kNoOffset for none. `is_member`: the connection speaks for
    /// a member.
    void on_offset_fetch(std::string_view group, ConnectionId connection, bool is_member, const ClientIdentity& client,
                         PartitionIndex partition, Offset committed, TimestampMs now);
    /// ListOffsets answered an offset, or kNoOffset. `timestamp` is the one in the request.
    void on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// A Fetch asked for records from `from` on.
    void on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now);
    /// An OffsetCommit that was accepted, all of its partitions of this topic at once; `before` and `keys_sent` as in
    /// `Inversions::on_commit`.
    void on_commit(std::string_view group, ConnectionId connection, const ClientIdentity& client, std::span<const Commit> commits,
                   const Inversions::Positions* before, TimestampMs now, std::uint64_t keys_sent = 0);
    /// Offsets that were committed within a transaction, when that is committed: what is pending is nobody's position yet, and
    /// what is aborted never was. It comes from a producer, so that its connection says nothing of who reads.
    void on_transaction_commit(std::string_view group, std::span<const Commit> commits, const Inversions::Positions* before,
                               std::uint64_t keys_sent = 0);
    /// A member leaves its group, with the partitions that it has. `connection`: over which it speaks for itself; `born`: when
    /// that was opened, or kNoTimestamp.
    void on_leave(std::string_view group, std::string_view member_id, ConnectionId connection, TimestampMs born,
                  const ClientIdentity& client, std::span<const PartitionIndex> partitions, TimestampMs now);

    /// The next `findings` will look at `ReaderFacts::moved_keys`, so the caller has to fill it.
    [[nodiscard]] bool needs_keys() const { return inversions_.has_news(); }
    /// Something that was noted waits for time or evidence: `findings` should be asked again soon.
    [[nodiscard]] bool is_undecided() const { return resets_.is_undecided() || inversions_.has_news(); }
    /// Everything that holds now: H03, H04 of producers that are done, H06, H07, H20 to H23, H29, H30, H48. Takes what was noted
    /// since the last call into account.
    [[nodiscard]] std::vector<Finding> findings(const ReaderFacts& facts, TimestampMs now);
    /// The first moment after the last call of `findings` at which time alone can make something else hold; none when it cannot.
    [[nodiscard]] std::optional<TimestampMs> next_change() const { return next_change_; }

    /// Groups of which something is remembered that must be forgotten when the group is deleted (see `forget_group`).
    [[nodiscard]] std::set<std::string> groups_told() const;
    /// The group was deleted: a later group of the same name is another one.
    void forget_group(const std::string& group);

  private:
    [[nodiscard]] bool is_new(PartitionIndex partition) const {
        return !growths_.empty() && partition.value >= growths_.front().old_count;
    }

    std::string topic_;
    std::vector<EarlierExpansion> growths_;
    ReadingConnections readings_;
    MemberHistory members_;
    AutoResets resets_;
    Inversions inversions_;
    BlindGroups blind_;
    std::optional<TimestampMs> next_change_;
};

}  // namespace partita::insight
