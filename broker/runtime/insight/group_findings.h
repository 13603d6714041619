#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "broker/runtime/loop/upkeep_task.h"
#include "schedule/executor.h"

namespace partita::runtime {

class ClaimShards;
class FindingsHub;
class GroupShards;

/// Says what holds about the members of groups and the owners of claims (broker/ownership): each second while something happened
/// in a group lately, or a finding is open; otherwise never.
class GroupFindings final : public UpkeepTask {
  public:
    static constexpr std::int64_t kEveryMs = 1000;
    /// How long it looks on after the last news: as long as something may begin to hold by time alone.
    static constexpr std::int64_t kLookOnMs = 90'000;

    GroupFindings(GroupShards& groups, ClaimShards& claims, FindingsHub& findings)
        : groups_(groups), claims_(claims), findings_(findings) {}

    // UpkeepTask
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;
    void hear(const UpkeepBell::Heard& heard, Instant now) override;

  private:
    GroupShards& groups_;
    ClaimShards& claims_;
    FindingsHub& findings_;
    std::uint64_t seen_version_ = 1;
    Instant next_{};
    Instant look_until_{};
    /// Groups with open findings.
    std::set<std::string> told_;
};

}  // namespace partita::runtime
