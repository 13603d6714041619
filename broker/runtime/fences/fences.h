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
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/topics/catalog.h"
#include "storage/file_system.h"

namespace partita::runtime {

class FindingsHub;
class PublishedTopics;
class Turns;
class UpkeepBell;

/// What is kept of the growth of all topics (a `TopicExpansion` each, where there is something to keep), and the files in which
/// fences outlive the process: `partita-fences/TOPIC_ID` of the data directory.
///
/// Thread-safe, but for `load`, `state_for` and `finish_load`, which belong to whoever holds the catalog.
class Fences final : public CommitListener, public IdentityListener {
  public:
    /// Stored fences larger than it are refused; far above what `FenceMarks` can hold for 10,000 partitions.
    static constexpr std::size_t kStoredFenceBytesMax = std::size_t{1} << 30;
    static constexpr std::int64_t kUpkeepMs = 1000;

    /// What fences are made of: who reads a topic, and who is at the other end of connections.
    struct Readers {
        GroupShards& groups;
        Connections& connections;
    };
    Fences(FileSystem& file_system, const std::string& data_directory, const PublishedTopics& topics, Turns& turns, Readers readers,
           FindingsHub& findings, UpkeepBell& upkeep);

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. Before the topics are made.
    void load();
    /// What a topic needs now: the same as before when it had something, null when it needs nothing.
    /// `is_new`: the topic is being created, so nobody can have written to it yet.
    [[nodiscard]] std::shared_ptr<TopicExpansion> state_for(const topics::Topic& topic, const config::TopicConfig& config,
                                                            const std::shared_ptr<TopicExpansion>& before, bool is_new, Now now);
    /// For a topic whose growth is to be watched whatever its mode.
    [[nodiscard]] std::shared_ptr<TopicExpansion> new_state(Instant producers_known_since);
    /// All topics were made: fences that none of them took are removed.
    void finish_load();

    // Growing ------------------------------------------------------------------------------------

    /// The topic grew: its fence opens if the record of the expansion says so. Before the new partitions are visible.
    void open(const TopicState& topic, Now now);
    void topic_deleted(const TopicId& id);

    // Waking -------------------------------------------------------------------------------------

    /// Fetches that the topic's fence holds look again. Cheap while no fence exists.
    void on_commit(std::string_view topic) override {
        if (count() > 0) {
            wake_held(topic);
        }
    }
    /// Fetches that any fence holds look again.
    void identities_changed() override;
    /// Every consumer of the topic, which has a `TopicExpansion`, is made to refresh its metadata; those that wait at once.
    void nudge(const TopicState& topic, Now now);

    // Upkeep -------------------------------------------------------------------------------------

    /// When `upkeep` has something to do; far away while no fence exists.
    [[nodiscard]] Instant next_upkeep() const;
    /// Closes windows, stores fences. Blocks on the disk.
    void upkeep(Now now);
    /// Stores every fence, at an orderly stop.
    void store_all();

    // Looking ------------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t timeouts() const { return timeouts_.load(std::memory_order_relaxed); }
    [[nodiscard]] int count() const { return count_.load(std::memory_order_relaxed); }

  private:
    void wake_held(std::string_view topic);
    void wake_held(const TopicState& topic);
    [[nodiscard]] std::string path_of(const TopicId& id) const;
    [[nodiscard]] StorageResult<void> store(const TopicId& id, std::string_view fence, bool durable);

    FileSystem& files_;
    const std::string directory_;
    const PublishedTopics& topics_;
    Turns& turns_;
    const Readers readers_;
    FindingsHub& findings_;
    UpkeepBell& upkeep_;
    /// Read at the start, until their topics take them.
    std::map<TopicId, expansion::Fence> loaded_;
    std::atomic<int> count_ = 0;
    std::atomic<std::uint64_t> timeouts_ = 0;
    std::atomic<std::int64_t> next_upkeep_ms_ = 0;
    /// Topics with open findings about their fences. Of the upkeep thread.
    std::set<TopicId> told_findings_;
};

}  // namespace partita::runtime
