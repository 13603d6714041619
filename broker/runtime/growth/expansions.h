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

#include "broker/catalog/catalog_commands.h"
#include "broker/config/topic_config.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/plan/guard.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/growth/expansion_steps.h"
#include "broker/runtime/growth/expansion_worker.h"
#include "schedule/executor.h"
#include "storage/storage_error.h"

namespace partita::logs {
class Turn;
struct TopicState;
}  // namespace partita::logs

namespace partita::insight {
class ReaderObserver;
}  // namespace partita::insight

namespace partita::runtime {

class Catalog;
class Fences;

/// What the running broker does about expansions beyond what Kafka does: the modes of partita.expansion.mode, and the test
/// controls. The rules are in broker/insight; this class provides the facts that they need and the order of the steps.
///
/// A CreatePartitions request takes the same way in every mode, as a step of a worker of its own (see ExpansionWorker):
///   1. It notes which topics of the request exist and would grow (from the published table, without a lock).
///   2. It gathers facts about these topics, without any lock that others wait for (expansion_facts.h).
///   3. It judges the facts (expansion_judge.h, pure), and the catalog decides by Kafka's rules and by the verdict, if the topics
///      are still as they were in 1 (with the catalog's lock).
///   4. What may grow becomes a list of steps, which one executor takes (expansion_steps.h): seeds, the catalog's record, fence,
///      publication. When the topics changed, or other groups read them, the request begins again at 1.
/// A crash between the seeds, which are synced, and the record leaves seeds for partitions that do not exist; the next start
/// removes them before it serves anybody. When the record cannot be written, the seeds are removed at once.
class Expansions {
  public:
    /// `facts`: what it judges by; seeds go to the groups there. The three others are what an expansion changes, protects, and
    /// has watched.
    Expansions(const insight::LocalPlanSources& facts, Catalog& catalog, Fences& fences, insight::ReaderObserver& readers)
        : facts_(facts), catalog_(catalog), fences_(fences), readers_(readers) {}

    // Start --------------------------------------------------------------------------------------

    /// Repairs what a crash has left half done or unknown; does nothing after an orderly stop (`was_clean`). The broker calls
    /// this when topics and groups are loaded and nobody is served yet.
    void recover(bool was_clean, Now now);
    // CreatePartitions ---------------------------------------------------------------------------

    /// Serves one request, on the calling thread. Blocks on the disk: the worker calls this, for one request after the other.
    [[nodiscard]] ExpansionReply expand(const ExpansionRequest& request);
    /// How many times a request is attempted, because topics or their readers changed meanwhile, before it is answered
    /// REQUEST_TIMED_OUT.
    static constexpr int kAttemptsMax = 5;

    // Steps of a request; see expansion_steps.h.
    [[nodiscard]] bool seed(const GrowingTopic& topic, Now now);
    [[nodiscard]] bool sync_seeds(const GrowingTopic& topic);
    void take_back_seeds(const GrowingTopic& topic, Now now);

    // Looking and undoing ------------------------------------------------------------------------

    /// Removes the seeds of an epoch. Returns how many were removed. Empty when
    /// something could not be written; then the remaining seeds stay, and another call can remove them.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(logs::Turn& turn, const catalog::Topic& topic, std::int32_t epoch);

  private:
    class Attempt;
    class Steps;

    void remove_orphaned_seeds(Now now);

    const insight::LocalPlanSources facts_;
    Catalog& catalog_;
    Fences& fences_;
    insight::ReaderObserver& readers_;
    /// Guarded by the catalog's lock.
    insight::Confirmations confirmations_;
};

}  // namespace partita::runtime
