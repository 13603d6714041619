#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "broker/insight/facts/cluster.h"
#include "broker/insight/ownership/fenced_readers.h"
#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::insight {

class FencedReads;
class FindingsHub;

/// Settles the findings about the members of groups, and about other owners with histories like those of groups. It looks each
/// second while something happened lately or a finding is open; otherwise never. It also tells histories which members keep
/// reading partitions that others took over (ownership/fenced_readers.h): at each look it judges the noted fetches, and says of
/// which partitions to note fetches from now on.
class OwnershipObserver final : public runtime::UpkeepTask {
  public:
    static constexpr std::int64_t kEveryMs = 1000;
    /// How long it keeps looking after the last news: as long as a condition may begin to hold by time alone.
    static constexpr std::int64_t kLookOnMs = 90'000;

    OwnershipObserver(const ObservedCluster& cluster, ObservedHistories& histories, FencedReads& reads, FindingsHub& findings)
        : cluster_(cluster), histories_(histories), reads_(reads), findings_(findings) {}

    // UpkeepTask
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;
    void hear(const runtime::UpkeepBell::Heard& heard, Instant now) override;

  private:
    /// Looks up the connections of this round's suspects.
    void identify_suspects();
    void judge_reads();
    void judge(Suspect& suspect, const SeenRead& read);

    const ObservedCluster& cluster_;
    ObservedHistories& histories_;
    FencedReads& reads_;
    FindingsHub& findings_;
    std::uint64_t seen_version_ = 1;
    Instant next_{};
    Instant look_until_{};
    FencedReaders fenced_readers_;
    /// Groups with open findings.
    std::set<std::string> told_;
};

}  // namespace partita::insight
