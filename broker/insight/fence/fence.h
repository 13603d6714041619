#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/insight/fence/fence_marks.h"
#include "broker/insight/findings/finding.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/keys/producer_window.h"
#include "protocol/types.h"

/// Mode `fenced`: a reader is given records of a new partition only after it has processed what came before them in the
/// partition where their keys used to be.
///
/// The promised invariant (printed in docs/expansion.md): if a and b have the same key and the same producer,
/// a was acknowledged before b was sent, and both are read by members of one group through the group protocol, then
/// b is not returned by Fetch until the group's committed position has passed a, or the fence timed out, which is
/// counted and logged.
///
/// It works because N divides M: a key that moves to a new partition q comes from exactly one old partition, q mod N,
/// its parent. While producers may still use the old count, every batch that is appended to q notes where the parent's
/// log ends at that moment (`FenceMarks`). Old partitions are never fenced, so no cycle of waiting can form.
namespace partita::insight {

struct FenceSettings {
    /// The topic's partita.expansion.fence.timeout.ms and partita.expansion.window.ms.
    std::int64_t timeout_ms = 120'000;
    std::int64_t window_ms = 600'000;
    /// How long a transaction can be open. One that is open for longer has nobody who would end it.
    std::int64_t longest_transaction_ms = 910'000;
};

/// The fence of one topic, over all its expansions. Pure: time, log ends and commits come in as arguments. One
/// caller at a time.
class Fence {
  public:
    /// (group, partition) pairs whose waiting is timed, of readers of committed records apart from others. For a further one, the
    /// pair that was judged longest ago is forgotten.
    static constexpr std::size_t kHoldsMax = 4096;
    /// Readers in no known group that are listed.
    static constexpr std::size_t kUnattributedMax = 64;
    /// Three times the default auto.commit.interval.ms.
    static constexpr std::int64_t kCommitGraceMs = 15'000;

    enum class WindowState : std::uint8_t { none, open, closed_by_proof, closed_by_time };

    // The window ---------------------------------------------------------------------------------

    /// Opens the window: the topic grows from `old_count` to `new_count`, a multiple of it. No window may be open.
    /// `known_producers` wrote to the topic lately; the broker has noted producers since `producers_known_since`.
    void open(std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, TimestampMs now,
              std::vector<ProducerWindow::Unproven> known_producers, TimestampMs producers_known_since);

    [[nodiscard]] bool is_open() const { return window_.state == WindowState::open; }
    [[nodiscard]] WindowState window_state() const { return window_.state; }
    [[nodiscard]] std::int32_t window_epoch() const { return window_.epoch; }
    /// The topic has at least this many partitions as soon as the growth that opened the last window is published.
    [[nodiscard]] std::int32_t partition_count() const { return window_.new_count; }
    [[nodiscard]] TimestampMs window_opened() const { return window_.opened; }

    /// A producer sends a batch to `partition`. Does nothing without an open window.
    void on_produce(const ProducerInstance& producer, const Writer& writer, PartitionIndex partition, TimestampMs now);
    /// The producers that the open window waits for; none without a window. The caller tells this object when their
    /// connections close and their processes end.
    [[nodiscard]] ProducerWindow& producers() { return window_.producers; }
    [[nodiscard]] const ProducerWindow& producers() const { return window_.producers; }

    /// The caller calls it before a batch for a new partition gets its offset: see FenceMarks::add. True when there is
    /// something new to store. Does nothing without an open window, or for a partition of another epoch.
    bool mark(PartitionIndex partition, Offset end, Offset parent_end);

    /// Tells how the window should be closed now, if it should: by proof, when all producers are proven to know the new
    /// count and had time to send what they had placed before; by time, when `window_ms` have passed. The caller then
    /// calls `close`.
    [[nodiscard]] std::optional<WindowState> due_to_close(const FenceSettings& settings, TimestampMs now) const;
    /// Closes the window. Batches that come later wait for the parent as it is now. `ends(partition, parent)` returns
    /// the log ends of both; it is called once for each new partition.
    template <class Ends>
    void close(WindowState how, Ends&& ends) {
        for (auto& [partition, child] : children_) {
            if (child.epoch == window_.epoch) {
                const auto [end, parent_end] = ends(partition, child.parent);
                child.marks.add(end, parent_end);
            }
        }
        end_window(how);
    }

    // Reading ------------------------------------------------------------------------------------

    /// The old partition (parent) that `partition` waits for; empty when nothing holds it, or holds it any more.
    [[nodiscard]] std::optional<PartitionIndex> parent_of(PartitionIndex partition) const;
    /// Some partition waits for this one.
    [[nodiscard]] bool is_parent(PartitionIndex partition) const;
    [[nodiscard]] std::vector<PartitionIndex> children_of(PartitionIndex parent) const;

    struct Verdict {
        /// Nothing at or above it may be returned.
        Offset limit;
        /// Some records at or above the limit wait.
        bool held = false;
        /// The group waited longer than the timeout: this verdict lets it through up to `limit`.
        bool timed_out = false;
    };
    /// How far a group is in a parent, as a reader sees it.
    struct Progress {
        /// It has processed everything below that such a reader could be given.
        Offset drained;
        /// The reader reads committed records alone. Readers who may be of the group and read in the other way are told apart:
        /// the waiting of one is not that of the other.
        bool read_committed = false;
        /// What comes next is in a transaction that is still open, and is given to nobody who reads committed records alone. Then
        /// it is not the group that is slow: its time begins anew, until `longest_transaction_ms` have passed.
        bool waits_for_transaction = false;
    };
    /// Decides how far the members of `group`, which is so far in the parent, may read `partition`, whose log ends at `end`.
    [[nodiscard]] Verdict judge(std::string_view group, PartitionIndex partition, const Progress& progress, Offset end,
                                const FenceSettings& settings, Instant now);

    /// A reader in no group that fetches a held partition. The fence lets it pass and lists it.
    struct Outsider {
        ClientIdentity client;
        /// The client's process, when it is known: see to_string(ProcessIdentity).
        std::string program;
        PartitionIndex partition;
        friend auto operator<=>(const Outsider&, const Outsider&) = default;
    };
    void note_unattributed(Outsider outsider);
    [[nodiscard]] const std::set<Outsider>& unattributed() const { return unattributed_; }

    /// For groups that never commit: the group's members have fetched the parent up to `offset`. That is weaker than a
    /// commit, because clients fetch ahead of what they have processed (librdkafka by 100,000 records); so it counts
    /// only for a group that has fetched for `kCommitGraceMs` without committing.
    void note_fetched(std::string_view group, PartitionIndex parent, Offset offset, Instant now);
    [[nodiscard]] std::optional<Offset> fetched(std::string_view group, PartitionIndex parent, Instant now) const;

    struct Waiting {
        std::string group;
        PartitionIndex partition;
        Offset limit;
        Offset drained;
        Instant since;
    };
    /// All groups that wait at this moment, for people to look at.
    [[nodiscard]] std::vector<Waiting> waiting() const;
    /// Groups that a timeout let through, as far as their holds are remembered. Whatever else waited for their backlogs
    /// no longer does.
    [[nodiscard]] std::set<std::string> released_groups() const;
    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_; }
    [[nodiscard]] std::uint64_t held_fetches() const { return held_fetches_; }

    // Keeping it ---------------------------------------------------------------------------------

    /// Drops marks that hold nobody any more. `starts(partition, parent)` returns the log starts of both.
    template <class Starts>
    void forget(Starts&& starts) {
        for (auto child = children_.begin(); child != children_.end();) {
            const auto [start, parent_start] = starts(child->first, child->second.parent);
            child->second.marks.forget(start, parent_start);
            const bool done = child->second.marks.empty() && !(is_open() && child->second.epoch == window_.epoch);
            child = done ? children_.erase(child) : std::next(child);
        }
    }
    /// Nothing is held and no window is open: the caller may drop the fence.
    [[nodiscard]] bool is_over() const { return children_.empty() && !is_open(); }

    [[nodiscard]] std::string encode() const;
    /// Reads what `encode` wrote. Producers are not stored, so they count as known only from `now` on.
    [[nodiscard]] static std::expected<Fence, std::string> decode(std::string_view bytes, TimestampMs now);

    /// Forgets all partitions from `partition_count` on, and their window: a power failure can keep a stored fence and
    /// lose the expansion that it belongs to.
    void forget_partitions_from(std::int32_t partition_count);

    /// For a start after the process died before it stored the newest marks: all records behind the stored marks, and those that
    /// come in the place of lost ones, wait for the parent as it is now. `find(partition, parent)` returns what there is of
    /// the two, as FenceMarks::Found. The caller stores the fence before anybody writes: the next start could not tell such
    /// records from the lost ones.
    template <class Find>
    void cover_unknown(Find&& find) {
        for (auto& [partition, child] : children_) {
            child.marks.cover_unknown(find(partition, child.parent));
        }
    }

  private:
    struct Child {
        std::int32_t epoch = 0;
        PartitionIndex parent;
        FenceMarks marks;
    };
    struct Window {
        WindowState state = WindowState::none;
        std::int32_t epoch = 0;
        std::int32_t old_count = 0;
        std::int32_t new_count = 0;
        TimestampMs opened = kNoTimestamp;
        TimestampMs producers_known_since = kNoTimestamp;
        ProducerWindow producers;
    };
    struct Hold {
        Offset drained;
        Offset limit;
        Instant since;
        Instant asked;
        /// Since then it waits for one transaction.
        std::optional<Instant> transaction_since;
        /// A timeout let the group read everything below this offset.
        Offset released{0};
        bool held = false;
    };
    struct Fetched {
        Offset offset;
        /// The group has fetched since then without a commit.
        Instant since;
    };
    /// By group, partition, and whether committed records alone are read.
    using HoldKey = std::tuple<std::string, PartitionIndex, bool>;

    void end_window(WindowState how);
    Hold& hold_of(HoldKey key, Offset drained, Instant now);

    Window window_;
    std::map<PartitionIndex, Child> children_;
    std::map<HoldKey, Hold> holds_;
    std::map<std::pair<std::string, PartitionIndex>, Fetched> fetched_;
    std::set<Outsider> unattributed_;
    std::uint64_t timeouts_ = 0;
    std::uint64_t held_fetches_ = 0;
};

/// Rewrites H03 of a group for which a fence waits, or will wait: its backlog is no danger, and there is nothing to do.
void tell_of_fence(Finding& backlog);

}  // namespace partita::insight
