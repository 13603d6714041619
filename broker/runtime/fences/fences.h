#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "broker/config/topic_config.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fence_files.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/partitions/topics_listener.h"
#include "broker/topics/catalog.h"

namespace partita::runtime {

class FindingsHub;
class PublishedTopics;
class Turns;

/// Makes what is kept about the growth of topics (one `TopicExpansion` for each topic that needs it), and keeps the stored fences
/// up to date.
///
/// Thread-safe, with three exceptions: `load` and `finish_load` are of the start, only the catalog calls `state_for`, and the
/// functions of an upkeep task.
class Fences final : public CommitListener, public IdentityListener, public TopicsListener, public UpkeepTask {
  public:
    static constexpr std::int64_t kUpkeepMs = 1000;

    /// The parts that tell who reads a topic, and who is at the other end of connections.
    struct Readers {
        GroupShards& groups;
        Connections& connections;
    };
    /// `upkeep` rings when there is a fence to store.
    Fences(FenceFiles& files, const PublishedTopics& topics, Turns& turns, Readers readers, FindingsHub& findings,
           UpkeepBell& upkeep);

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. The broker calls this before the catalog makes the states of topics.
    void load(TimestampMs now);
    /// The `TopicExpansion` of a topic: `before` when it has one already, null when it needs none. `is_new` says that the topic
    /// is being created, so that nobody can have written to it yet.
    [[nodiscard]] std::shared_ptr<TopicExpansion> state_for(const topics::Topic& topic, const config::TopicConfig& config,
                                                            const std::shared_ptr<TopicExpansion>& before, bool is_new, Now now);
    /// A new `TopicExpansion`, for a topic whose growth is to be watched whatever its mode.
    [[nodiscard]] std::shared_ptr<TopicExpansion> new_state(Instant producers_known_since);
    /// Removes the stored fences of topics that no longer exist. The catalog calls this when the states of all topics are made.
    void finish_load();

    // Growing ------------------------------------------------------------------------------------

    /// Opens a fence if the record of the topic's last expansion says so. Called before anybody sees the new partitions.
    void open(const TopicState& topic, Now now);
    /// Forgets the fences of deleted topics, and nudges the consumers of topics that are newly configured so.
    void on_topics_changed(const TopicsChange& change) override;

    // Waking -------------------------------------------------------------------------------------

    /// Makes the fetches that the topic's fence holds look again. Cheap while no fence exists.
    void on_commit(std::string_view topic) override {
        if (count() > 0) {
            wake_held(topic);
        }
    }
    /// Makes the fetches that any fence holds look again.
    void identities_changed() override;
    /// Makes every consumer of the topic refresh its metadata, those with a waiting fetch at once. The topic has a
    /// `TopicExpansion`.
    void nudge(const TopicState& topic, Now now);

    // Upkeep -------------------------------------------------------------------------------------

    /// Far away while no fence exists.
    [[nodiscard]] Instant next_due() const override;
    /// Closes the windows that are due, stores changed fences, and settles findings about them. Blocks on the disk.
    void run_due(Now now) override;
    /// Stores every fence. The broker calls this at an orderly stop.
    void store_all();

    // Looking ------------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_.load(std::memory_order_relaxed); }
    [[nodiscard]] int count() const { return count_.load(std::memory_order_relaxed); }

  private:
    void remove_stored(const TopicId& id);
    void wake_held(std::string_view topic);
    void wake_held(const TopicState& topic);

    FenceFiles& files_;
    const PublishedTopics& topics_;
    Turns& turns_;
    const Readers readers_;
    FindingsHub& findings_;
    UpkeepBell& upkeep_;
    /// Fences read at the start, until their topics take them.
    std::map<TopicId, expansion::Fence> loaded_;
    std::atomic<int> count_ = 0;
    std::atomic<std::uint64_t> timeouts_ = 0;
    std::atomic<std::int64_t> next_upkeep_ms_ = 0;
    /// Topics with open findings about their fences. Only the upkeep thread uses this.
    std::set<TopicId> told_findings_;
};

}  // namespace partita::runtime
