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
    /// After a power failure the newest seeds may be lost while their expansion is not: a start that follows no
    /// orderly stop seeds again for expansions of the last minutes.
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

    /// Topics and groups are there, nobody is served yet: takes back what a crash left half done, and covers
    /// what it left unknown.
    void recover(bool was_clean, Now now);
    // CreatePartitions ---------------------------------------------------------------------------

    /// From a reactor; the reply comes later.
    void submit(ExpansionRequest request) { worker_.submit(std::move(request)); }
    /// No request is begun any more, and what was begun is done. From any thread but a reactor.
    void stop() { worker_.stop(); }
    /// Serves one request, on the calling thread. Blocks on the disk.
    [[nodiscard]] ExpansionReply expand(const ExpansionRequest& request);
    /// How often facts are gathered anew because the catalog, or who reads the topics, changed meanwhile.
    static constexpr int kAttemptsMax = 5;

    /// Steps; see expansion_steps.h.
    [[nodiscard]] bool seed(const GrowingTopic& topic, Now now);
    void take_back_seeds(const GrowingTopic& topic, Now now);

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
