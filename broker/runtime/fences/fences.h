#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "broker/catalog/catalog.h"
#include "broker/config/topic_config.h"
#include "broker/logs/topics_listener.h"
#include "broker/runtime/fences/fence_files.h"
#include "broker/runtime/fences/topic_expansion.h"

namespace partita::runtime {

class UpkeepBell;

/// Makes what is kept about the growth of topics, one `TopicExpansion` for each topic that needs it, and opens their fences.
/// `FenceWakes` wakes whom fences hold, and `FenceUpkeep` keeps the stored fences up to date.
///
/// Thread-safe, with exceptions: `load` and `finish_load` are of the start, and only the catalog calls `state_for`.
class Fences final : public TopicsListener {
  public:
    /// The parts that tell who reads a topic, and who is at the other end of connections.
    struct Readers {
        GroupShards& groups;
        Connections& connections;
    };
    /// `upkeep` rings when there is a fence to store. `longest_transaction_ms`: see insight::FenceSettings.
    Fences(FenceFiles& files, Readers readers, UpkeepBell& upkeep, std::int64_t longest_transaction_ms)
        : files_(files), readers_(readers), upkeep_(upkeep), longest_transaction_ms_(longest_transaction_ms) {}

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. The broker calls this before the catalog makes the states of topics.
    void load(TimestampMs now);
    /// The `TopicExpansion` of a topic: `before` when it has one already, null when it needs none. `is_new` says that the topic
    /// is being created, so that nobody can have written to it yet.
    [[nodiscard]] std::shared_ptr<TopicExpansion> state_for(const catalog::Topic& topic, const config::TopicConfig& config,
                                                            const std::shared_ptr<TopicExpansion>& before, bool is_new, Now now);
    /// A new `TopicExpansion`, for a topic whose growth is to be watched whatever its mode.
    [[nodiscard]] std::shared_ptr<TopicExpansion> new_state(Instant producers_known_since);
    /// Removes the stored fences of topics that no longer exist. The catalog calls this when the states of all topics are made.
    void finish_load();

    // Growing ------------------------------------------------------------------------------------

    /// Opens a fence if the record of the topic's last expansion says so. Called before anybody sees the new partitions.
    void open(const TopicState& topic, Now now);
    /// Forgets the fences of deleted topics.
    void on_topics_changed(const TopicsChange& change) override;

    // Keeping ------------------------------------------------------------------------------------

    /// Stores the fence in its file. False when that failed; the log says why. `durable`: waits until it is on the device, as no
    /// reactor may.
    [[nodiscard]] bool store(const catalog::Topic& topic, std::string_view encoded_fence, bool durable);
    /// Removes the stored fence, if there is one.
    void remove_stored(const TopicId& id);
    /// So many fences more than before (less than 0: fewer), and groups that one gave up waiting for.
    void note_upkeep(int change, std::uint64_t new_timeouts);

    // Looking ------------------------------------------------------------------------------------

    /// How many times a fence let a group pass that had not caught up.
    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_.load(std::memory_order_relaxed); }
    /// How many topics have a fence.
    [[nodiscard]] int count() const { return count_.load(std::memory_order_relaxed); }

  private:
    FenceFiles& files_;
    const Readers readers_;
    UpkeepBell& upkeep_;
    const std::int64_t longest_transaction_ms_;
    /// Fences read at the start, until their topics take them.
    std::map<TopicId, insight::Fence> loaded_;
    std::atomic<int> count_ = 0;
    std::atomic<std::uint64_t> timeouts_ = 0;
};

}  // namespace partita::runtime
