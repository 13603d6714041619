#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
#include "broker/insight/readers/order_findings.h"
#include "broker/insight/readers/order_watch.h"
#include "broker/insight/readers/position_findings.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"
#include "protocol/types.h"

/// Follows the readers of one topic that has grown, by their requests, and finds the resulting hazards. Pure: the caller passes
/// requests, time and facts of the broker as arguments. One caller at a time.
namespace partita::insight {

class ConsumerWatch {
  public:
    using Commit = Inversions::Commit;
    static constexpr std::int64_t kSilentMs = kReaderSilentMs;

    explicit ConsumerWatch(std::string topic) : topic_(std::move(topic)) {}

    /// Takes all known expansions of the topic, ascending. Does nothing unless the topic has grown since the last call; earlier
    /// notes stay. `readers`: all groups that read the topic when it grew last. Null if that is not known; then the groups in the
    /// facts of the next `findings` count as its readers.
    void set_growths(std::span<const EarlierExpansion> growths, const std::set<std::string>* readers = nullptr);

    // Requests. The caller reports each one after its answer --------------------------------------

    /// OffsetFetch answered `committed` for a partition, or kNoOffset for none. `is_member`: the connection speaks for
    /// a member.
    void on_offset_fetch(std::string_view group, ConnectionId connection, bool is_member, const ClientIdentity& client,
                         PartitionIndex partition, Offset committed, TimestampMs now);
    /// ListOffsets answered an offset, or kNoOffset. `timestamp` is the one in the request.
    void on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// The broker sent records to a reader. The caller has reported the reader's fetch before.
    void on_delivery(const Delivery& delivery) { order_.on_delivery(delivery); }
    /// Some deliveries were lost before they came here: numbers that rest on them are lower bounds from now on.
    void lose_deliveries() { order_.lose_deliveries(); }
    /// A Fetch asked for records from `from` on.
    void on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now);
    /// An accepted OffsetCommit, with all of its partitions of this topic at once; `before` and `keys_sent` as in
    /// `Inversions::on_commit`.
    void on_commit(std::string_view group, ConnectionId connection, const ClientIdentity& client, std::span<const Commit> commits,
                   const Inversions::Positions* before, TimestampMs now, std::uint64_t keys_sent = 0);
    /// Offsets that were committed within a transaction, reported when that is committed. Pending offsets are no position yet,
    /// and aborted ones never were. They come from a producer, so the connection does not show who reads.
    void on_transaction_commit(std::string_view group, std::span<const Commit> commits, const Inversions::Positions* before,
                               std::uint64_t keys_sent = 0);
    /// A member leaves its group, with the partitions that it has. `connection`: the one over which it speaks for itself; `born`:
    /// when that was opened, or kNoTimestamp.
    void on_leave(std::string_view group, std::string_view member_id, ConnectionId connection, TimestampMs born,
                  const ClientIdentity& client, std::span<const PartitionIndex> partitions, TimestampMs now);

    /// The next `findings` will look at `ReaderFacts::moved_keys`, so the caller must fill it.
    [[nodiscard]] bool needs_keys() const { return inversions_.has_news(); }
    /// Something that was noted waits for time or evidence: the caller should call `findings` again soon.
    [[nodiscard]] bool is_undecided() const { return resets_.is_undecided() || inversions_.has_news() || order_.has_work(); }
    /// The last `findings` used up its budget: there are records left to read.
    [[nodiscard]] bool is_reading() const { return order_.is_reading(); }
    /// All findings that hold now: H03, H04 of producers that are done, H06, H07, H20 to H23, H29, H30, H48. Considers everything
    /// that was noted since the last call.
    [[nodiscard]] std::vector<Finding> findings(const ReaderFacts& facts, TimestampMs now);
    /// The first moment after the last call of `findings` at which time alone can change what holds; null if it cannot.
    [[nodiscard]] std::optional<TimestampMs> next_change() const { return next_change_; }

    /// See OrderWatch. Then, for a group, the keys that only its commits proved at the last call of `findings`, if
    /// it had one member.
    [[nodiscard]] std::vector<WrongKey> wrong_keys(const OrderWatch::Reader& reader) const;

    /// Groups with remembered state that must be forgotten when the group is deleted (see `forget_group`).
    [[nodiscard]] std::set<std::string> groups_told() const;
    /// The group was deleted: a later group of the same name is a new group.
    void forget_group(const std::string& group);

  private:
    [[nodiscard]] bool is_new(PartitionIndex partition) const {
        return !growths_.empty() && partition.value >= growths_.front().old_count;
    }
    [[nodiscard]] FirstReads first_reads(ReaderOwners& owners) const;

    std::string topic_;
    std::vector<EarlierExpansion> growths_;
    ReadingConnections readings_;
    MemberHistory members_;
    AutoResets resets_;
    Inversions inversions_;
    void note_commits(std::string_view group, std::span<const Commit> commits, const Inversions::Positions* before,
                      TimestampMs now, std::uint64_t keys_sent);
    /// Looks which keys commits prove, apart from those that the answers to the group judge.
    void prove_by_commits(const ReaderFacts& facts);

    /// By group, at the last look.
    std::map<std::string, std::vector<Inversions::Proven>> proven_;
    OrderWatch order_;
    OrderFindings order_findings_;
    /// The groups that read the topic when it grew last, if that is known.
    std::optional<std::set<std::string>> readers_;
    BlindGroups blind_;
    std::optional<TimestampMs> next_change_;
};

}  // namespace partita::insight
