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

/// Says what holds about the members of groups and of whatever else keeps a history as groups do: each second while something
/// happened in a group lately, or a finding is open; otherwise never. It also tells histories who goes on reading what was taken
/// from it (ownership/fenced_readers.h): at each look it has fetches noted where somebody may, and judges those that were.
class OwnershipObserver final : public runtime::UpkeepTask {
  public:
    static constexpr std::int64_t kEveryMs = 1000;
    /// How long it looks on after the last news: as long as something may begin to hold by time alone.
    static constexpr std::int64_t kLookOnMs = 90'000;

    OwnershipObserver(const ObservedCluster& cluster, ObservedHistories& histories, FencedReads& reads, FindingsHub& findings)
        : cluster_(cluster), histories_(histories), reads_(reads), findings_(findings) {}

    // UpkeepTask
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;
    void hear(const runtime::UpkeepBell::Heard& heard, Instant now) override;

  private:
    /// Learns who the suspects of this round are.
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
