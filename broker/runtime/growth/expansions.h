#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/topic_config.h"
#include "broker/expansion/client_registry.h"
#include "broker/expansion/guard.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/growth/expansion_steps.h"
#include "broker/runtime/growth/expansion_worker.h"
#include "broker/topics/catalog_commands.h"
#include "storage/storage_error.h"

namespace partita::runtime {

class Broker;
class RequestContext;
class Turn;
struct TopicState;

/// What the running broker does about expansions beyond what Kafka does: the modes of partita.expansion.mode, and the
/// test controls. The rules are in broker/expansion; here are the facts they need and the order of the steps.
///
/// CreatePartitions in every mode goes along one line, on a thread of its own (see ExpansionWorker):
///   1. Kafka's rules are asked, and what would grow is noted (a moment with the catalog's lock);
///   2. facts about these topics are gathered, without any lock that others wait for (expansion_facts.h);
///   3. they are judged (expansion_judge.h, pure), and the catalog decides, if it still is as it was in 1 (with its lock);
///   4. what may grow becomes a list of steps, and one executor takes them (expansion_steps.h): seeds, the catalog's record,
///      fence, publication. When the catalog, or who reads the topic, changed meanwhile, all of it begins again.
/// A crash between the seeds and the record leaves seeds for partitions that do not exist; the next start removes them before
/// anybody is served. When the record cannot be written, they are removed at once.
class Expansions {
  public:
    /// Stored fences larger than it are refused; far above what `FenceMarks` can hold for 10,000 partitions.
    static constexpr std::size_t kStoredFenceBytesMax = std::size_t{1} << 30;
    /// After a power failure the newest seeds may be lost while their expansion is not: a start that follows no
    /// orderly stop seeds again for expansions of the last minutes.
    static constexpr std::int64_t kSeedAgainMs = 600'000;
    static constexpr std::int64_t kUpkeepMs = 1000;

    explicit Expansions(Broker& broker) : broker_(broker), worker_(broker, *this) {}

    // Start --------------------------------------------------------------------------------------

    /// Reads the stored fences. Before the topics are made.
    void load_fences(const std::string& data_directory);
    /// Topics and groups are there, nobody is served yet: takes back what a crash left half done, and covers
    /// what it left unknown.
    void recover(bool was_clean, Now now);
    /// What a topic needs now: the same as before when it had something, null when it needs nothing.
    /// `is_new`: the topic is being created, so nobody can have written to it yet.
    [[nodiscard]] std::shared_ptr<TopicExpansion> state_for(const topics::Topic& topic, const config::TopicConfig& config,
                                                            const std::shared_ptr<TopicExpansion>& before, bool is_new,
                                                            Now now);

    // CreatePartitions ---------------------------------------------------------------------------

    /// From a reactor; the reply comes later.
    void submit(ExpansionRequest request) { worker_.submit(std::move(request)); }
    /// No request is begun any more, and what was begun is done. From any thread but a reactor.
    void stop() { worker_.stop(); }
    /// Serves one request, on the calling thread. Blocks on the disk.
    [[nodiscard]] ExpansionReply expand(const ExpansionRequest& request);
    /// How often facts are gathered anew because the catalog, or who reads the topics, changed meanwhile.
    static constexpr int kAttemptsMax = 5;

    /// Two of the steps; see expansion_steps.h.
    void open_fence(const TopicState& topic, Now now);
    [[nodiscard]] bool seed(const GrowingTopic& topic, Now now);
    void take_back_seeds(const GrowingTopic& topic, Now now);
    void topic_deleted(const TopicId& id);

    // Groups -------------------------------------------------------------------------------------

    /// A group's records of the topic are durable: fetches that a fence holds look again. Cheap while no fence exists.
    void on_commit(std::string_view topic) {
        if (fences_.load(std::memory_order_relaxed) > 0) {
            wake_held(topic);
        }
    }

    /// More is known of who is at the other end of connections: fetches that a fence holds look again. From any thread.
    void identities_changed();

    // Maintenance --------------------------------------------------------------------------------

    /// When `upkeep` has something to do; far away while no fence exists.
    [[nodiscard]] Instant next_upkeep() const;
    /// Closes windows, stores fences. Blocks on the disk.
    void upkeep(Now now);
    /// Stores every fence, at an orderly stop.
    void store_all();

    // Test controls ------------------------------------------------------------------------------

    void note_producer(const expansion::ClientIdentity& client);
    void note_consumer(const expansion::ClientIdentity& client);
    /// How many partitions of the topic this client is shown in metadata. `own` is what it did over the connection that asks; as long as that
    /// is nothing, it is taken for what clients of its name and address did.
    [[nodiscard]] std::int32_t visible_partitions(const TopicState& topic, const expansion::ClientIdentity& client,
                                                  const expansion::ClientRoles& own, Now now);

    // Looking and undoing ------------------------------------------------------------------------

    struct SeededEpoch {
        std::int32_t epoch = 0;
        std::int32_t first = 0;
        std::int32_t end = 0;
        /// Groups that still have a seed that nobody committed over, with the number of such partitions.
        std::vector<std::pair<std::string, std::size_t>> groups;
    };
    /// Takes back the seeds of an epoch, for good: no later start gives them again. Empty when it cannot be written; then what was not
    /// removed stays, and can be removed again by the next call.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(Turn& turn, const topics::Topic& topic, std::int32_t epoch);
    [[nodiscard]] std::uint64_t fence_timeouts() const { return fence_timeouts_.load(std::memory_order_relaxed); }
    [[nodiscard]] int fences() const { return fences_.load(std::memory_order_relaxed); }

  private:
    class Attempt;
    class Steps;

    void remove_orphaned_seeds(Now now);
    void wake_held(std::string_view topic);
    void wake_held(const TopicState& topic);
    [[nodiscard]] std::string fence_path(const TopicId& id) const;
    [[nodiscard]] StorageResult<void> store(const TopicId& id, std::string_view fence, bool durable);
    void count_fences();

    Broker& broker_;
    std::string fence_directory_;
    /// Read at the start, until their topics take them.
    std::map<TopicId, expansion::Fence> loaded_fences_;
    std::atomic<int> fences_ = 0;
    std::atomic<std::uint64_t> fence_timeouts_ = 0;
    std::atomic<std::int64_t> next_upkeep_ms_;
    /// Topics with open findings about their fences. Of the maintenance thread.
    std::set<TopicId> told_findings_;
    /// With the catalog's lock held.
    expansion::Confirmations confirmations_;
    ExpansionWorker worker_;

    std::mutex roles_mutex_;
    // Guarded by roles_mutex_.
    expansion::ClientRoleTable roles_;
};

}  // namespace partita::runtime
