#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/insight/fence/fence.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/runtime/fences/fence_readers.h"
#include "protocol/error_code.h"
#include "protocol/mutex.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

/// The running broker's state of one topic's growth: its producers (modes guarded and fenced), its fence, and a nudge in
/// progress. A topic that needs none of this has no TopicExpansion, so its produces and fetches only test one null pointer.
///
/// Thread-safe.
class TopicExpansion {
  public:
    /// How many consumers one nudge reaches; further ones are not nudged.
    static constexpr std::size_t kNudgedMax = 4096;
    /// A nudge reaches the consumers that fetch within this time.
    static constexpr std::int64_t kNudgeMs = 30'000;

    /// A time long before everything: all producers are known from the topic's first record on.
    static constexpr Instant kSinceItsCreation{-(std::int64_t{1} << 60)};

    /// `longest_transaction_ms`: see insight::FenceSettings.
    TopicExpansion(GroupShards& groups, Connections& connections, Instant producers_known_since,
                   std::int64_t longest_transaction_ms)
        : groups_(groups),
          connections_(connections),
          longest_transaction_ms_(longest_transaction_ms),
          producers_known_since_(producers_known_since),
          readers_(groups, connections) {}

    // Produce ------------------------------------------------------------------------------------

    /// The maximum number of remembered producers. A new producer replaces the one that was silent for longest.
    static constexpr std::size_t kProducersMax = 1000;
    /// How many processes of disconnected producers one `upkeep` checks for their end.
    static constexpr std::size_t kLeftProcessesMax = 64;

    struct Producer {
        ProducerId producer_id = kNoProducerId;
        insight::ConnectionId connection;
        std::string_view client_id;
        std::string_view address;
    };
    /// Notes the producer, and marks the batch in the fence. Called before the batch for `partition` is staged, on the thread
    /// that stages it.
    void on_produce(const logs::TopicState& topic, PartitionIndex partition, const Producer& producer, Now now);
    /// Called after the end of a connection that wrote to the topic or read it, while `Connections` still knows it.
    void on_connection_closed(insight::ConnectionId connection);

    // Fetch --------------------------------------------------------------------------------------

    struct Reader {
        std::string_view client_id;
        std::string_view address;
        insight::ConnectionId connection;
        bool read_committed = false;
    };
    struct FetchVerdict {
        /// NOT_LEADER_OR_FOLLOWER, for one fetch of each nudged consumer.
        ErrorCode error = ErrorCode::none;
        /// The fetch must return nothing at or above this offset.
        std::optional<Offset> limit;
        /// True if it will soon be known whether the limit holds for this reader. A fetch that can wait should do so;
        /// `FenceWakes::identities_changed` wakes it.
        bool is_undecided = false;
        /// True if the reader may be in no group. The answer then shows the true end of the log, because a program that reads to
        /// the end must not take the limit for the end. Group members see the limit as the end.
        bool shows_end = false;
    };
    /// Limits a fetch at `fetch_offset` of a partition whose log ends at `end`.
    [[nodiscard]] FetchVerdict on_fetch(const logs::TopicState& topic, PartitionIndex partition, const Reader& reader,
                                        Offset fetch_offset, Offset end, Now now);

    // Expanding ----------------------------------------------------------------------------------

    struct ProducerActivity {
        std::vector<std::pair<insight::ClientIdentity, std::int64_t>> silent_ms;
        std::int64_t known_for_ms = 0;
    };
    [[nodiscard]] ProducerActivity producer_activity(Instant now) const;
    [[nodiscard]] bool has_open_window() const;
    /// Opens the fence because the topic grows in mode fenced. Called before clients see the new partitions.
    void open_fence(const logs::TopicState& topic, std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, Now now);
    /// Adopts a stored fence at the start.
    void restore_fence(insight::Fence fence);
    /// Called at a start without a preceding orderly stop: see Fence::cover_unknown. The caller then stores the fence.
    void cover_unknown_batches(const logs::TopicState& topic);

    // Keeping ------------------------------------------------------------------------------------

    struct Upkeep {
        /// The encoded fence to store; empty if it has not changed since it was stored.
        std::optional<std::string> store;
        /// The fence is over, so its stored form must be removed.
        bool is_over = false;
        /// Why this call closed the window; `none` if it did not.
        insight::Fence::WindowState closed = insight::Fence::WindowState::none;
        std::uint64_t new_timeouts = 0;
        /// All findings that hold now about readers of the fence.
        std::vector<insight::Finding> findings;
    };
    /// Closes a due window, forgets what no longer holds any reader, and returns the changes since the last call. FenceUpkeep
    /// calls this on the upkeep thread.
    [[nodiscard]] Upkeep upkeep(const logs::TopicState& topic, Now now);
    /// The fence as it should be stored now, changed or not. Empty without a fence.
    [[nodiscard]] std::optional<std::string> encoded_fence() const;
    /// Called when storing failed: the next `upkeep` hands the fence out again.
    void not_stored() { dirty_.store(true, std::memory_order_relaxed); }

    // Controls and looking -----------------------------------------------------------------------

    /// Makes every consumer of the topic refresh its metadata: each gets one error at its next fetch (see FetchVerdict::error).
    void nudge(Instant now);

    struct Status {
        insight::Fence::WindowState window = insight::Fence::WindowState::none;
        std::int32_t window_epoch = 0;
        TimestampMs window_opened = kNoTimestamp;
        bool has_fence = false;
        std::uint64_t timeouts = 0;
        std::uint64_t held_fetches = 0;
        std::vector<insight::Fence::Waiting> waiting;
        /// Groups that the fence gave up waiting for.
        std::set<std::string> released;
        std::vector<insight::Fence::Outsider> unattributed;
        /// The first `kUnprovenShown` of `unproven_count` producers. They keep the window open, because nothing proves that they
        /// know the new count.
        std::vector<insight::ProducerWindow::Unproven> unproven;
        std::size_t unproven_count = 0;
    };
    /// How many unproven producers `status` lists.
    static constexpr std::size_t kUnprovenShown = 16;
    [[nodiscard]] Status status() const;

  private:
    /// A producer and the time of its last write.
    struct Wrote {
        insight::Writer writer;
        Instant last;
    };

    [[nodiscard]] FenceReaders::Judgement judge_reader(const logs::TopicState& topic, PartitionIndex partition,
                                                       const Reader& reader, Instant now) REQUIRES(mutex_);
    [[nodiscard]] insight::Fence::Progress progress_of(const groups::TopicReader& group, PartitionIndex parent,
                                                       const PartitionLog& parent_log, bool read_committed, Instant now) const
        REQUIRES(mutex_);
    [[nodiscard]] FetchVerdict fence_limit(const logs::TopicState& topic, PartitionIndex partition, PartitionIndex parent,
                                           const Reader& reader, Offset fetch_offset, Offset end, Now now) REQUIRES(mutex_);
    void note_fetched(const logs::TopicState& topic, PartitionIndex parent, const Reader& reader, Offset fetch_offset,
                      Instant now) REQUIRES(mutex_);
    Wrote& note_producer(const logs::TopicState& topic, const insight::ProducerInstance& instance, const Producer& producer,
                         Instant now) REQUIRES(mutex_);
    [[nodiscard]] insight::FenceSettings fence_settings(const logs::TopicState& topic) const;
    void exclude_ended_producers();

    GroupShards& groups_;
    Connections& connections_;
    const std::int64_t longest_transaction_ms_;
    mutable Mutex mutex_{LockRank::topic_growth};
    insight::RecentTable<insight::ProducerInstance, Wrote, kProducersMax> producers_ GUARDED_BY(mutex_);
    Instant producers_known_since_ GUARDED_BY(mutex_);
    std::optional<insight::Fence> fence_ GUARDED_BY(mutex_);
    FenceReaders readers_ GUARDED_BY(mutex_);
    std::uint64_t told_timeouts_ GUARDED_BY(mutex_) = 0;
    std::optional<Instant> nudge_end_ GUARDED_BY(mutex_);
    std::set<insight::ConnectionId> nudged_ GUARDED_BY(mutex_);

    std::atomic<bool> dirty_ = false;
};

}  // namespace partita::runtime
