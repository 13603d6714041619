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

/// Mode `fenced`: a reader gets records of a new partition only after it has processed the earlier records in the partition
/// where their keys used to be.
///
/// The promised invariant (printed in docs/expansion.md): take two records a and b of one key and one producer, where a was
/// acknowledged before b was sent. Members of one consumer group read both through the group protocol. Then Fetch does not
/// return b until the group's committed position has passed a, or the fence timed out, which the broker counts and logs.
///
/// It works because N divides M: a key that moves to a new partition q comes from exactly one old partition, q mod N,
/// its parent. While producers may still use the old count, every batch that is appended to q notes where the parent's
/// log ends at that moment (`FenceMarks`). Old partitions are never fenced, so no cycle of waiting can form.
namespace partita::insight {

struct FenceSettings {
    /// The topic's partita.expansion.fence.timeout.ms and partita.expansion.window.ms.
    std::int64_t timeout_ms = 120'000;
    std::int64_t window_ms = 600'000;
    /// The longest time that a transaction can be open. If one is open for longer, no client or coordinator will end it.
    std::int64_t longest_transaction_ms = 910'000;
};

/// The fence of one topic, over all its expansions. Pure: time, log ends and commits are arguments. One caller at a time.
class Fence {
  public:
    /// Most (group, partition) pairs whose waiting is timed. Readers of committed records are counted apart from others. For a
    /// further pair, the fence forgets the pair that was judged longest ago.
    static constexpr std::size_t kHoldsMax = 4096;
    /// Most readers in no known group that are listed.
    static constexpr std::size_t kUnattributedMax = 64;
    /// Three times the default auto.commit.interval.ms.
    static constexpr std::int64_t kCommitGraceMs = 15'000;

    enum class WindowState : std::uint8_t { none, open, closed_by_proof, closed_by_time };

    // The window ---------------------------------------------------------------------------------

    /// Opens the window: the topic grows from `old_count` to `new_count`, a multiple of it. No other window may be open.
    /// `known_producers` wrote to the topic lately; the broker has noted producers since `producers_known_since`.
    void open(std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, TimestampMs now,
              std::vector<ProducerWindow::Unproven> known_producers, TimestampMs producers_known_since);

    [[nodiscard]] bool is_open() const { return window_.state == WindowState::open; }
    [[nodiscard]] WindowState window_state() const { return window_.state; }
    [[nodiscard]] std::int32_t window_epoch() const { return window_.epoch; }
    /// The topic has at least this many partitions once the growth that opened the last window is published.
    [[nodiscard]] std::int32_t partition_count() const { return window_.new_count; }
    [[nodiscard]] TimestampMs window_opened() const { return window_.opened; }

    /// Notes that a producer sends a batch to `partition`. Does nothing without an open window.
    void on_produce(const ProducerInstance& producer, const Writer& writer, PartitionIndex partition, TimestampMs now);
    /// The producers that the open window waits for; none without a window. The caller tells this object when their
    /// connections close and their processes end.
    [[nodiscard]] ProducerWindow& producers() { return window_.producers; }
    [[nodiscard]] const ProducerWindow& producers() const { return window_.producers; }

    /// The caller calls it before a batch for a new partition gets its offset: see FenceMarks::add. True if there is something
    /// new to store. Does nothing without an open window, or for a partition of another epoch.
    bool mark(PartitionIndex partition, Offset end, Offset parent_end);

    /// Tells whether and how the window should be closed now; null if it should stay open. By proof: all producers are proven to
    /// know the new count, and had time to send what they had placed before. By time: `window_ms` have passed. The caller then
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

    /// The old partition (parent) for which `partition` waits; null if nothing holds it, or no longer holds it.
    [[nodiscard]] std::optional<PartitionIndex> parent_of(PartitionIndex partition) const;
    /// True if some partition waits for this one.
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
    /// The progress of a group in a parent, as a reader sees it.
    struct Progress {
        /// The group has processed every record below this offset that such a reader could be given.
        Offset drained;
        /// The reader reads committed records only. If readers that may belong to the group differ in this, the fence times them
        /// apart.
        bool read_committed = false;
        /// The next records are in a transaction that is still open, so readers of committed records do not get them. The group
        /// is then not slow: its time begins anew, until `longest_transaction_ms` have passed.
        bool waits_for_transaction = false;
    };
    /// Decides how far the members of `group`, with this progress in the parent, may read `partition`, whose log ends at `end`.
    [[nodiscard]] Verdict judge(std::string_view group, PartitionIndex partition, const Progress& progress, Offset end,
                                const FenceSettings& settings, Instant now);

    /// A reader in no group that fetches a held partition. The fence lets it pass and lists it.
    struct Outsider {
        ClientIdentity client;
        /// The client's process, if it is known: see to_string(ProcessIdentity).
        std::string program;
        PartitionIndex partition;
        friend auto operator<=>(const Outsider&, const Outsider&) = default;
    };
    void note_unattributed(Outsider outsider);
    [[nodiscard]] const std::set<Outsider>& unattributed() const { return unattributed_; }

    /// For groups that never commit: the group's members have fetched the parent up to `offset`. This is weaker than a commit,
    /// because clients fetch ahead of their processing (librdkafka by 100,000 records). So it counts only for a group that has
    /// fetched for `kCommitGraceMs` without committing.
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
    /// Groups that a timeout let through, as far as the fence remembers their holds. Code that waited for their backlogs need not
    /// wait any more.
    [[nodiscard]] std::set<std::string> released_groups() const;
    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_; }
    [[nodiscard]] std::uint64_t held_fetches() const { return held_fetches_; }

    // Upkeep -------------------------------------------------------------------------------------

    /// Drops marks that hold no reader any more. `starts(partition, parent)` returns the log starts of both.
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
    /// Reads the output of `encode`. Producers are not stored, so they count as known only from `now` on.
    [[nodiscard]] static std::expected<Fence, std::string> decode(std::string_view bytes, TimestampMs now);

    /// Forgets all partitions from `partition_count` on, and their window. A power failure can keep a stored fence and lose the
    /// expansion to which it belongs.
    void forget_partitions_from(std::int32_t partition_count);

    /// For a start after the process died before it stored the newest marks. All records behind the stored marks wait for the
    /// parent as it is now, and so do records that replace lost ones. `find(partition, parent)` returns the facts about both
    /// logs, as FenceMarks::Found. The caller stores the fence before any write: the next start could not tell such records from
    /// the lost ones.
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
        /// When the group began to wait for one transaction.
        std::optional<Instant> transaction_since;
        /// A timeout let the group read everything below this offset.
        Offset released{0};
        bool held = false;
    };
    struct Fetched {
        Offset offset;
        /// When the group began to fetch without a commit.
        Instant since;
    };
    /// Group, partition, and whether the reader reads committed records only.
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

/// Rewrites H03 of a group for which a fence waits, or will wait: its backlog is harmless, and people need do nothing.
void tell_of_fence(Finding& backlog);

}  // namespace partita::insight
