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

/// Makes what is kept about the growth of topics (one `TopicExpansion` for each topic that needs it), and keeps the files in
/// which fences outlive the process: `partita-fences/TOPIC_ID` in the data directory.
///
/// Thread-safe, with two exceptions: only the catalog calls `load`, `state_for` and `finish_load`, and only the upkeep thread
/// calls `upkeep`.
class Fences final : public CommitListener, public IdentityListener {
  public:
    /// A larger file of a fence is not read. This is far above what `FenceMarks` can hold for 10,000 partitions.
    static constexpr std::size_t kStoredFenceBytesMax = std::size_t{1} << 30;
    static constexpr std::int64_t kUpkeepMs = 1000;

    /// The parts that tell who reads a topic, and who is at the other end of connections.
    struct Readers {
        GroupShards& groups;
        Connections& connections;
    };
    Fences(FileSystem& file_system, const std::string& data_directory, const PublishedTopics& topics, Turns& turns,
           Readers readers, FindingsHub& findings, UpkeepBell& upkeep);

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. The catalog calls this before it makes the states of topics.
    void load();
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
    void topic_deleted(const TopicId& id);

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

    /// When the upkeep thread has to call `upkeep` next; far away while no fence exists.
    [[nodiscard]] Instant next_upkeep() const;
    /// Closes the windows that are due, stores changed fences, and settles findings about them. Blocks on the disk.
    void upkeep(Now now);
    /// Stores every fence. The broker calls this at an orderly stop.
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
    /// Fences read at the start, until their topics take them.
    std::map<TopicId, expansion::Fence> loaded_;
    std::atomic<int> count_ = 0;
    std::atomic<std::uint64_t> timeouts_ = 0;
    std::atomic<std::int64_t> next_upkeep_ms_ = 0;
    /// Topics with open findings about their fences. Only the upkeep thread uses this.
    std::set<TopicId> told_findings_;
};

}  // namespace partita::runtime
