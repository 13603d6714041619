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

/// Makes one `TopicExpansion`, the state of a topic's growth, for each topic that needs it, and opens the fences. `FenceWakes`
/// wakes the fetches that fences hold, and `FenceUpkeep` keeps the stored fences up to date.
///
/// Thread-safe, with exceptions: `load` and `finish_load` belong to the start, and only the catalog calls `state_for`.
class Fences final : public logs::TopicsListener {
  public:
    /// The parts that know the readers of a topic and the clients behind connections.
    struct Readers {
        GroupShards& groups;
        Connections& connections;
    };
    /// `upkeep` rings when a fence must be stored. `longest_transaction_ms`: see insight::FenceSettings.
    Fences(FenceFiles& files, Readers readers, UpkeepBell& upkeep, std::int64_t longest_transaction_ms)
        : files_(files), readers_(readers), upkeep_(upkeep), longest_transaction_ms_(longest_transaction_ms) {}

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. The broker calls this before the catalog makes the states of topics.
    void load(TimestampMs now);
    /// The `TopicExpansion` of a topic: `before` if it already has one, null if it needs none. `is_new`: the topic is being
    /// created, so no client can have written to it yet.
    [[nodiscard]] std::shared_ptr<TopicExpansion> state_for(const catalog::Topic& topic, const config::TopicConfig& config,
                                                            const std::shared_ptr<TopicExpansion>& before, bool is_new, Now now);
    /// A new `TopicExpansion`, for a topic whose growth must be watched in any mode.
    [[nodiscard]] std::shared_ptr<TopicExpansion> new_state(Instant producers_known_since);
    /// Removes the stored fences of topics that no longer exist. The catalog calls this after it has made the states of all
    /// topics.
    void finish_load();

    // Growing ------------------------------------------------------------------------------------

    /// Opens a fence if the record of the topic's last expansion says so. Called before clients see the new partitions.
    void open(const logs::TopicState& topic, Now now);
    /// Forgets the fences of deleted topics.
    void on_topics_changed(const logs::TopicsChange& change) override;

    // Keeping ------------------------------------------------------------------------------------

    /// Stores the fence in its file. False if that failed; the log says why. `durable`: waits until the device has it, so
    /// reactors must not ask for that.
    [[nodiscard]] bool store(const catalog::Topic& topic, std::string_view encoded_fence, bool durable);
    /// Removes the stored fence if it exists.
    void remove_stored(const TopicId& id);
    /// Adds to the number of fences (negative: fewer fences), and to the number of groups that fences gave up waiting for.
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
