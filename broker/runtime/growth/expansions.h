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
#include "schedule/executor.h"
#include "storage/storage_error.h"

namespace partita::runtime {

class Catalog;
class Fences;
class GroupShards;
class KeyObserver;
class PublishedTopics;
class ReaderObserver;
class Turn;
class Turns;
struct TopicState;

/// What the running broker does about expansions beyond what Kafka does: the modes of partita.expansion.mode, and the test
/// controls. The rules are in broker/expansion; this class provides the facts that they need and the order of the steps.
///
/// A CreatePartitions request takes the same way in every mode, on a thread of its own (see ExpansionWorker):
///   1. It notes which topics of the request exist and would grow (from the published table, without a lock).
///   2. It gathers facts about these topics, without any lock that others wait for (expansion_facts.h).
///   3. It judges the facts (expansion_judge.h, pure), and the catalog decides by Kafka's rules and by the verdict, if the topics
///      are still as they were in 1 (with the catalog's lock).
///   4. What may grow becomes a list of steps, which one executor takes (expansion_steps.h): seeds, the catalog's record, fence,
///      publication. When the topics changed, or other groups read them, the request begins again at 1.
/// A crash between the seeds and the record leaves seeds for partitions that do not exist; the next start removes them before it
/// serves anybody. When the record cannot be written, the seeds are removed at once.
class Expansions {
  public:
    /// A power failure may lose the newest seeds but not their expansion. A start that follows no orderly stop therefore gives
    /// the seeds of an expansion again that is younger than this.
    static constexpr std::int64_t kSeedAgainMs = 600'000;

    struct Parts {
        const PublishedTopics& topics;
        Catalog& catalog;
        GroupShards& groups;
        Fences& fences;
        KeyObserver& keys;
        ReaderObserver& readers;
        Clock& clock;
    };
    Expansions(const Parts& parts, Turns& turns, Executor& executor) : parts_(parts), worker_(turns, executor, *this) {}

    // Start --------------------------------------------------------------------------------------

    /// Repairs what a crash has left half done or unknown; does nothing after an orderly stop (`was_clean`). The broker calls
    /// this when topics and groups are loaded and nobody is served yet.
    void recover(bool was_clean, Now now);
    // CreatePartitions ---------------------------------------------------------------------------

    /// Hands the request to the worker thread, which delivers the reply later. Any reactor may call this.
    void submit(ExpansionRequest request) { worker_.submit(std::move(request)); }
    /// Lets the worker finish its present request and begin no other one. Any thread but a reactor's may call this.
    void stop() { worker_.stop(); }
    /// Serves one request, on the calling thread. Blocks on the disk.
    [[nodiscard]] ExpansionReply expand(const ExpansionRequest& request);
    /// How many times a request is attempted, because topics or their readers changed meanwhile, before it is answered
    /// REQUEST_TIMED_OUT.
    static constexpr int kAttemptsMax = 5;

    // Steps of a request; see expansion_steps.h.
    [[nodiscard]] bool seed(const GrowingTopic& topic, Now now);
    void take_back_seeds(const GrowingTopic& topic, Now now);

    // Looking and undoing ------------------------------------------------------------------------

    struct SeededEpoch {
        std::int32_t epoch = 0;
        std::int32_t first = 0;
        std::int32_t end = 0;
        /// Groups with seeds that nobody has committed over, and the number of partitions with such seeds.
        std::vector<std::pair<std::string, std::size_t>> groups;
    };
    /// Removes the seeds of an epoch for good: no later start gives them again. Returns how many were removed. Empty when
    /// something could not be written; then the remaining seeds stay, and another call can remove them.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(Turn& turn, const topics::Topic& topic, std::int32_t epoch);

  private:
    class Attempt;
    class Steps;

    void remove_orphaned_seeds(Now now);
    const Parts parts_;
    /// With the catalog's lock held.
    expansion::Confirmations confirmations_;
    ExpansionWorker worker_;
};

}  // namespace partita::runtime
