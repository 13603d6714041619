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

#include "broker/catalog/commands.h"
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

/// The part of expansions that goes beyond Kafka: the modes of partita.expansion.mode, and the test controls. The rules are in
/// broker/insight; this class provides their facts and the order of the steps.
///
/// Every mode serves a CreatePartitions request the same way, as a step of a separate worker (see ExpansionWorker):
///   1. Note which topics of the request exist and would grow (from the published table, without a lock).
///   2. Gather facts about these topics, without any lock that other threads wait for (expansion_facts.h).
///   3. Judge the facts (expansion_judge.h, pure). If the topics are still as they were in 1, the catalog then decides by Kafka's
///      rules and by the verdict (with the catalog's lock).
///   4. Turn the topics that may grow into a list of steps, which one executor takes (expansion_steps.h): seeds, the catalog's
///      record, fence, publication.
///
/// If the topics changed, or other groups read them, the request begins again at 1. The seeds are synced before the record. So a
/// crash in between leaves seeds for partitions that do not exist; the next start removes them before it serves clients. If the
/// record cannot be written, the seeds are removed at once.
class Expansions {
  public:
    /// `facts`: the sources for the judgement; seeds go to the groups there. The expansion changes `catalog`, protects by
    /// `fences`, and has `readers` watched.
    Expansions(const insight::LocalPlanSources& facts, Catalog& catalog, Fences& fences, insight::ReaderObserver& readers)
        : facts_(facts), catalog_(catalog), fences_(fences), readers_(readers) {}

    // Start --------------------------------------------------------------------------------------

    /// Repairs what a crash left unfinished or unknown. Does nothing after an orderly stop (`was_clean`). The broker calls this
    /// after topics and groups are loaded and before it serves clients.
    void recover(bool was_clean, Now now);
    // CreatePartitions ---------------------------------------------------------------------------

    /// Serves one request on the calling thread. Blocks on the disk. The worker calls this for one request after the other.
    [[nodiscard]] ExpansionReply expand(const ExpansionRequest& request);
    /// How many attempts a request gets if topics or their readers keep changing. After that it is answered REQUEST_TIMED_OUT.
    static constexpr int kAttemptsMax = 5;

    // Steps of a request; see expansion_steps.h.
    [[nodiscard]] bool seed(const GrowingTopic& topic, Now now);
    [[nodiscard]] bool sync_seeds(const GrowingTopic& topic);
    void take_back_seeds(const GrowingTopic& topic, Now now);

    // Looking and undoing ------------------------------------------------------------------------

    /// Removes the seeds of an epoch. Returns how many it removed. Empty if a write failed: the remaining seeds stay, and another
    /// call can remove them.
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
