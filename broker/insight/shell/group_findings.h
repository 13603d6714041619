#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "broker/insight/ownership/fenced_readers.h"
#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::runtime {

class Connections;
class FencedReads;
class FindingsHub;
class GroupShards;
class OwnershipSource;

/// Says what holds about the members of groups and the owners of claims (broker/insight/ownership): each second while something
/// happened in a group lately, or a finding is open; otherwise never. It also tells histories who goes on reading what was taken
/// from it (ownership/fenced_readers.h): at each look it has fetches noted where somebody may, and judges those that were.
class GroupFindings final : public UpkeepTask {
  public:
    static constexpr std::int64_t kEveryMs = 1000;
    /// How long it looks on after the last news: as long as something may begin to hold by time alone.
    static constexpr std::int64_t kLookOnMs = 90'000;

    /// `others` know of owners of partitions besides: it outlives this.
    GroupFindings(GroupShards& groups, const std::vector<OwnershipSource*>& others, Connections& connections, FencedReads& reads,
                  FindingsHub& findings)
        : groups_(groups), others_(others), connections_(connections), reads_(reads), findings_(findings) {}

    // UpkeepTask
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;
    void hear(const UpkeepBell::Heard& heard, Instant now) override;

  private:
    /// Learns who the suspects of this round are.
    void identify_suspects();
    void judge_reads();
    void judge(insight::Suspect& suspect, const insight::SeenRead& read);

    GroupShards& groups_;
    const std::vector<OwnershipSource*>& others_;
    Connections& connections_;
    FencedReads& reads_;
    FindingsHub& findings_;
    std::uint64_t seen_version_ = 1;
    Instant next_{};
    Instant look_until_{};
    insight::FencedReaders fenced_readers_;
    /// Groups with open findings.
    std::set<std::string> told_;
};

}  // namespace partita::runtime
