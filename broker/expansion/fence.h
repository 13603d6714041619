#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/finding.h"
#include "broker/expansion/fence_marks.h"
#include "broker/expansion/producer_window.h"
#include "protocol/types.h"

/// Mode `fenced`: records of a new partition wait until their reader has done what came before them in the
/// partition where their keys used to be.
///
/// The invariant that is promised (printed in docs/expansion.md): if a and b have the same key and the same producer,
/// a was acknowledged before b was sent, and both are read by members of one group through the group protocol, then
/// b is not returned by Fetch until the group's committed position has passed a, or the fence timed out, which is
/// counted and logged.
///
/// It works because N divides M: a key that moves goes to a new partition q, and comes from the one old partition
/// q mod N. Every batch that is appended to q while producers with the old count may be about notes where the log of
/// q mod N ends at that moment (`FenceMarks`). Old partitions are never fenced, so nobody waits for anybody in a circle.
namespace partita::expansion {

struct FenceSettings {
    /// From the topic's partita.expansion.fence.timeout.ms and partita.expansion.window.ms.
    std::int64_t timeout_ms = 120'000;
    std::int64_t window_ms = 600'000;
};

/// The fence of one topic, over all its expansions. Pure: time, log ends and commits come in as arguments. One
/// caller at a time.
class Fence {
  public:
    /// (group, partition) pairs whose waiting is timed. The one that was asked about longest ago makes room.
    static constexpr std::size_t kHoldsMax = 4096;
    /// Clients of no known group that are listed.
    static constexpr std::size_t kUnattributedMax = 64;
    /// Three times the default auto.commit.interval.ms.
    static constexpr std::int64_t kCommitGraceMs = 15'000;

    enum class WindowState : std::uint8_t { none, open, closed_by_proof, closed_by_time };

    // The window ---------------------------------------------------------------------------------

    /// The topic grows from `old_count` to `new_count`, a multiple of it. No window may be open.
    /// `known_producers` wrote to the topic lately; `producers_known_since` tells from when on they were noted.
    void open(std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, TimestampMs now,
              std::vector<ProducerWindow::Unproven> known_producers, TimestampMs producers_known_since);

    [[nodiscard]] bool is_open() const { return window_.state == WindowState::open; }
    [[nodiscard]] WindowState window_state() const { return window_.state; }
    [[nodiscard]] std::int32_t window_epoch() const { return window_.epoch; }
    /// How many partitions the topic has at least once the growth is published that opened the last window.
    [[nodiscard]] std::int32_t partition_count() const { return window_.new_count; }
    [[nodiscard]] TimestampMs window_opened() const { return window_.opened; }

    /// A producer sends a batch to `partition`. Only while the window is open.
    void on_produce(const ProducerInstance& producer, const Writer& writer, PartitionIndex partition, TimestampMs now);
    /// The producers that the open window waits for; none without one. What happens to their connections and processes is told to it.
    [[nodiscard]] ProducerWindow& producers() { return window_.producers; }
    [[nodiscard]] const ProducerWindow& producers() const { return window_.producers; }

    /// Before a batch for the new partition gets its offset: see FenceMarks::add. True when there is something new
    /// to store. Without an open window, or for a partition of another epoch, nothing happens.
    bool mark(PartitionIndex partition, Offset end, Offset parent_end);

    /// Closes the window when it is time: all producers are proven to know the new count (and had time to get
    /// rid of what they had placed before), or `window_ms` passed. The shell then calls `close`.
    [[nodiscard]] std::optional<WindowState> due_to_close(const FenceSettings& settings, TimestampMs now) const;
    /// Ends the window. Batches that come later wait for the parent as it is now: `ends` is asked once per new
    /// partition, for its own end and its parent's.
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

    /// The old partition that `partition` waits for. Empty when nothing holds it (any more).
    [[nodiscard]] std::optional<PartitionIndex> parent_of(PartitionIndex partition) const;
    /// Some partition waits for it.
    [[nodiscard]] bool is_parent(PartitionIndex partition) const;
    [[nodiscard]] std::vector<PartitionIndex> children_of(PartitionIndex parent) const;

    struct Verdict {
        /// Nothing at or above it may be returned.
        Offset limit;
        /// There is something at or above the limit that waits.
        bool held = false;
        /// The group had to wait too long and is let through up to `limit`, this once.
        bool timed_out = false;
    };
    /// What the members of `group` may read of `partition`, whose log ends at `end`. `drained`: the group has done
    /// everything of the parent below it (see `FenceReading`).
    [[nodiscard]] Verdict judge(std::string_view group, PartitionIndex partition, Offset drained, Offset end,
                                const FenceSettings& settings, Instant now);

    /// A fetch of a held partition that belongs to no group: it passes, and is listed.
    struct Outsider {
        ClientIdentity client;
        /// Its process, when that is known: see to_string(ProcessIdentity).
        std::string program;
        PartitionIndex partition;
        friend auto operator<=>(const Outsider&, const Outsider&) = default;
    };
    void note_unattributed(Outsider outsider);
    [[nodiscard]] const std::set<Outsider>& unattributed() const { return unattributed_; }

    /// For groups that never commit: the members have fetched the parent up to `offset`. Weaker than a commit, since
    /// clients fetch ahead of what they work on (librdkafka by 100,000 records): so it counts only for a group that
    /// has fetched for `kCommitGraceMs` without committing.
    void note_fetched(std::string_view group, PartitionIndex parent, Offset offset, Instant now);
    [[nodiscard]] std::optional<Offset> fetched(std::string_view group, PartitionIndex parent, Instant now) const;

    struct Waiting {
        std::string group;
        PartitionIndex partition;
        Offset limit;
        Offset drained;
        Instant since;
    };
    /// Who waits at this moment, for people to look at.
    [[nodiscard]] std::vector<Waiting> waiting() const;
    /// Groups that a timeout let through, as far as their holds are remembered: what waited for their backlog does no more.
    [[nodiscard]] std::set<std::string> released_groups() const;
    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_; }
    [[nodiscard]] std::uint64_t held_fetches() const { return held_fetches_; }

    // Keeping it ---------------------------------------------------------------------------------

    /// Drops marks that hold nobody any more. `ends` gives log starts: of the partition and of its parent.
    template <class Starts>
    void forget(Starts&& starts) {
        for (auto child = children_.begin(); child != children_.end();) {
            const auto [start, parent_start] = starts(child->first, child->second.parent);
            child->second.marks.forget(start, parent_start);
            const bool done = child->second.marks.empty() && !(is_open() && child->second.epoch == window_.epoch);
            child = done ? children_.erase(child) : std::next(child);
        }
    }
    /// Nothing is held and no window is open: the fence may go.
    [[nodiscard]] bool is_over() const { return children_.empty() && !is_open(); }

    [[nodiscard]] std::string encode() const;
    /// What `encode` gave. Producers are not stored: a restart knows none, so they count as known from `now` on.
    [[nodiscard]] static std::expected<Fence, std::string> decode(std::string_view bytes, TimestampMs now);

    /// A power failure can keep a stored fence and lose the expansion that it belongs to. Of partitions that there are not,
    /// and of their window, nothing stays.
    void forget_partitions_from(std::int32_t partition_count);

    /// The process died without storing the newest marks: whatever lies behind the stored ones waits for the
    /// parent as it is now. `ends` as in `close`, with the partition's log start instead of its end.
    template <class Ends>
    void cover_unknown(Ends&& ends) {
        for (auto& [partition, child] : children_) {
            const auto [start, parent_end] = ends(partition, child.parent);
            child.marks.cover_unknown(start, parent_end);
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
        /// Everything below it was let through by a timeout.
        Offset released{0};
        bool held = false;
    };
    struct Fetched {
        Offset offset;
        /// Since when the group fetches without a commit.
        Instant since;
    };
    using HoldKey = std::pair<std::string, PartitionIndex>;

    void end_window(WindowState how);
    Hold& hold_of(std::string_view group, PartitionIndex partition, Offset drained, Instant now);

    Window window_;
    std::map<PartitionIndex, Child> children_;
    std::map<HoldKey, Hold> holds_;
    std::map<HoldKey, Fetched> fetched_;
    std::set<Outsider> unattributed_;
    std::uint64_t timeouts_ = 0;
    std::uint64_t held_fetches_ = 0;
};

/// H03 of a group for which a fence waits, or will: its backlog is no danger, and there is nothing to do.
void tell_of_fence(Finding& backlog);

}  // namespace partita::expansion
