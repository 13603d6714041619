#pragma once

#include <cstdint>
#include <set>

#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::insight {
class FindingsHub;
}  // namespace partita::insight

namespace partita::runtime {

/// Closes due windows of fences, stores changed fences, and settles the findings about them.
class FenceUpkeep final : public UpkeepTask {
  public:
    static constexpr std::int64_t kEveryMs = 1000;

    FenceUpkeep(Fences& fences, const logs::PublishedTopics& topics, insight::FindingsHub& findings)
        : fences_(fences), topics_(topics), findings_(findings) {}

    // UpkeepTask. `kNever` while no fence exists.
    [[nodiscard]] Instant next_due() const override { return fences_.count() == 0 ? kNever : next_; }
    void run_due(Now now) override;

    /// Stores every fence. The broker calls this at an orderly stop, after the worker has ended.
    void store_all();

  private:
    void keep_up(const logs::TopicState& topic, Now now);
    /// Ends the findings about topics that were deleted.
    void forget_deleted(Now now);

    Fences& fences_;
    const logs::PublishedTopics& topics_;
    insight::FindingsHub& findings_;
    Instant next_{};
    /// Topics with open findings about their fences.
    std::set<TopicId> told_;
};

}  // namespace partita::runtime
