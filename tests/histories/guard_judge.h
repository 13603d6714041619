#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/histories/diary.h"

/// Derives the objections to a growth in mode `guarded` from the diaries, by the rules in docs/expansion.md. Judges whether an
/// answer of the broker agrees. Pure.
namespace partita::test::histories {

/// The silence of producers that a history's topic asks for.
inline constexpr std::chrono::milliseconds kGuardQuiet(1500);

/// One answer to CreatePartitions, and when it was asked for and came.
struct GrowthAnswer {
    /// The text of a POLICY_VIOLATION; nothing when the growth was carried out (or would be).
    std::optional<std::string> refusal;
    Clock::time_point asked;
    Clock::time_point answered;
};

/// The objections that the broker must have to a growth that was requested within that time.
struct GuardView {
    /// All objections, in the words of the refusal.
    std::set<std::string> of_groups;
    /// Producers that wrote too recently ("producer shop at /127.0.0.1"): those beyond doubt, and those for which the times leave
    /// it open.
    std::set<std::string> surely_writing;
    std::set<std::string> maybe_writing;
    /// Producers have not been watched for long enough.
    bool surely_unwatched = false;
    bool maybe_unwatched = false;
};
[[nodiscard]] GuardView guard_view(const Script& script, const Diary& diary, const std::string& unique,
                                   const GrowthAnswer& times);

/// Returns one sentence for each thing in the answer that is false or missing. `is_confirmed`: the broker refused the same to
/// this client before, and the second request is an order.
[[nodiscard]] std::vector<std::string> judge_answer(const GuardView& view, const GrowthAnswer& answer, bool is_confirmed);

}  // namespace partita::test::histories
