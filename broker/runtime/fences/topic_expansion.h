#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/fence.h"
#include "broker/runtime/fences/fence_readers.h"
#include "protocol/error_code.h"
#include "protocol/mutex.h"

namespace partita::runtime {

struct TopicState;

/// What a running broker keeps about the growth of one topic: who writes to it (modes guarded and fenced), its fence,
/// and a nudge that is under way. Topics that need none of it have none: produce and fetch look at one null
/// pointer.
///
/// Thread-safe.
class TopicExpansion {
  public:
    /// Consumers that one nudge remembers; when there are more, the rest is not nudged.
    static constexpr std::size_t kNudgedMax = 4096;
    /// A consumer that fetches within this time of a nudge is nudged.
    static constexpr std::int64_t kNudgeMs = 30'000;

    /// Long before everything: producers are known from the topic's first record on.
    static constexpr Instant kSinceItsCreation{-(std::int64_t{1} << 60)};

    TopicExpansion(GroupShards& groups, Connections& connections, Instant producers_known_since)
        : groups_(groups), connections_(connections), producers_known_since_(producers_known_since), readers_(groups, connections) {}

    // Produce ------------------------------------------------------------------------------------

    /// Producers that are remembered; the one that was silent for longest makes room.
    static constexpr std::size_t kProducersMax = 1000;
    /// Processes of producers that left whose end is looked for in one `upkeep`.
    static constexpr std::size_t kLeftProcessesMax = 64;

    struct Producer {
        ProducerId producer_id = kNoProducerId;
        expansion::ConnectionId connection;
        std::string_view client_id;
        std::string_view address;
    };
    /// Before a batch for `partition` is staged, on the thread that stages it.
    void on_produce(const TopicState& topic, PartitionIndex partition, const Producer& producer, Now now);
    /// A connection that wrote to the topic or read it has ended. Who it was is still known to `Connections`.
    void on_connection_closed(expansion::ConnectionId connection);

    // Fetch --------------------------------------------------------------------------------------

    struct Reader {
        std::string_view client_id;
        std::string_view address;
        expansion::ConnectionId connection;
        bool read_committed = false;
    };
    struct FetchVerdict {
        /// NOT_LEADER_OR_FOLLOWER for one fetch of each consumer that is nudged.
        ErrorCode error = ErrorCode::none;
        /// Nothing at or above it may be returned.
        std::optional<Offset> limit;
        /// Whether that is so will be known in a moment: a fetch that can wait should. `Fences::identities_changed` wakes it.
        bool is_undecided = false;
        /// It may be in no group, and so the answer shows where the log ends: a program that reads to the end must not take the limit for
        /// it. Members are shown the limit, as if there were nothing more.
        bool shows_end = false;
    };
    /// What a fetch at `fetch_offset` of a partition whose log ends at `end` may have.
    [[nodiscard]] FetchVerdict on_fetch(const TopicState& topic, PartitionIndex partition, const Reader& reader,
                                        Offset fetch_offset, Offset end, Now now);

    // Expanding ----------------------------------------------------------------------------------

    struct ProducerActivity {
        std::vector<std::pair<expansion::ClientIdentity, std::int64_t>> silent_ms;
        std::int64_t known_for_ms = 0;
    };
    [[nodiscard]] ProducerActivity producer_activity(Instant now) const;
    [[nodiscard]] bool has_open_window() const;
    /// The topic grew, and mode fenced is in force. Before the new partitions are visible.
    void open_fence(const TopicState& topic, std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, Now now);
    /// From storage, at the start.
    void restore_fence(expansion::Fence fence);
    /// After a start that followed no orderly stop: see Fence::cover_unknown.
    void cover_unknown_batches(const TopicState& topic);

    // Keeping ------------------------------------------------------------------------------------

    struct Upkeep {
        /// To be stored. Empty: remove what is stored, the fence is over.
        std::optional<std::string> store;
        bool is_over = false;
        expansion::Fence::WindowState closed = expansion::Fence::WindowState::none;
        std::uint64_t new_timeouts = 0;
        /// Everything that holds about readers of the fence.
        std::vector<expansion::Finding> findings;
    };
    /// Closes a window that is due, forgets what holds nobody, and hands out what changed since the last time. Called
    /// by maintenance.
    [[nodiscard]] Upkeep upkeep(const TopicState& topic, Now now);
    /// What the disk should say now, whatever was stored before. Empty without a fence.
    [[nodiscard]] std::optional<std::string> encoded_fence() const;
    /// Storing failed: the next `upkeep` gives it again.
    void not_stored() { dirty_.store(true, std::memory_order_relaxed); }

    // Controls and looking -----------------------------------------------------------------------

    /// Every consumer of the topic is made to refresh its metadata, once each, by its next fetch.
    void nudge(Instant now);
    [[nodiscard]] std::size_t nudged() const;

    struct Status {
        expansion::Fence::WindowState window = expansion::Fence::WindowState::none;
        std::int32_t window_epoch = 0;
        TimestampMs window_opened = kNoTimestamp;
        bool has_fence = false;
        std::uint64_t timeouts = 0;
        std::uint64_t held_fetches = 0;
        std::vector<expansion::Fence::Waiting> waiting;
        /// Groups that the fence gave up waiting for.
        std::set<std::string> released;
        std::vector<expansion::Fence::Outsider> unattributed;
        /// Producers for which the window is kept open: those that are not proven to know the new count, the first few of `unproven_count`.
        std::vector<expansion::ProducerWindow::Unproven> unproven;
        std::size_t unproven_count = 0;
    };
    /// Unproven producers that `status` spells out.
    static constexpr std::size_t kUnprovenShown = 16;
    [[nodiscard]] Status status() const;

  private:
    /// What was seen of a producer.
    struct Wrote {
        expansion::Writer writer;
        Instant last;
    };

    [[nodiscard]] FenceReaders::Judgement judge_reader(const TopicState& topic, PartitionIndex partition, const Reader& reader, Instant now)
        REQUIRES(mutex_);
    [[nodiscard]] FetchVerdict fence_limit(const TopicState& topic, PartitionIndex partition, PartitionIndex parent, const Reader& reader,
                                           Offset fetch_offset, Offset end, Now now) REQUIRES(mutex_);
    void note_fetched(const TopicState& topic, PartitionIndex parent, const Reader& reader, Offset fetch_offset, Instant now)
        REQUIRES(mutex_);
    Wrote& note_producer(const TopicState& topic, const expansion::ProducerInstance& instance, const Producer& producer, Instant now)
        REQUIRES(mutex_);
    void exclude_ended_producers();

    GroupShards& groups_;
    Connections& connections_;
    mutable Mutex mutex_{LockRank::topic_growth};
    expansion::RecentTable<expansion::ProducerInstance, Wrote, kProducersMax> producers_ GUARDED_BY(mutex_);
    Instant producers_known_since_ GUARDED_BY(mutex_);
    std::optional<expansion::Fence> fence_ GUARDED_BY(mutex_);
    FenceReaders readers_ GUARDED_BY(mutex_);
    std::uint64_t told_timeouts_ GUARDED_BY(mutex_) = 0;
    std::optional<Instant> nudge_end_ GUARDED_BY(mutex_);
    std::set<expansion::ConnectionId> nudged_ GUARDED_BY(mutex_);

    std::atomic<bool> dirty_ = false;
};

}  // namespace partita::runtime
