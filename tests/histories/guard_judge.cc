#include "tests/histories/guard_judge.h"

#include <algorithm>

namespace partita::test::histories {
namespace {

/// Reasons that a refusal spells out; the rest is counted.
constexpr std::size_t kSpelled = 6;

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

void add_group(const std::string& name, const GroupDiary& group, const Diary& diary, std::set<std::string>& reasons) {
    std::int64_t unread = 0;
    std::int64_t uncommitted = 0;
    for (int partition = 0; partition < diary.count(); ++partition) {
        const PartitionDiary& log = diary.partitions[static_cast<std::size_t>(partition)];
        const auto committed = group.committed.find(partition);
        const bool has_committed = committed != group.committed.end();
        const std::int64_t left = log.end() - std::max(has_committed ? committed->second : 0, log.start);
        if (left <= 0) {
            continue;
        }
        unread += has_committed ? left : 0;
        uncommitted += has_committed ? 0 : 1;
    }
    if (unread > 0) {
        reasons.insert("group " + name + " has not read " + counted(unread, "record", "records") + " (H03)");
    }
    if (uncommitted > 0) {
        reasons.insert("group " + name + " has committed nothing for " + counted(uncommitted, "partition", "partitions") +
                       " with records (H03)");
    }
}

/// The clauses of a refusal; without those that are only counted.
std::vector<std::string> reasons_of(const std::string& refusal) {
    const std::string begin = "is refused: ";
    const std::size_t from = refusal.find(begin);
    const std::size_t to = refusal.find(". To grow anyway");
    std::vector<std::string> reasons;
    if (from == std::string::npos || to == std::string::npos) {
        return reasons;
    }
    std::string rest = refusal.substr(from + begin.size(), to - from - begin.size());
    for (std::size_t end = rest.find("; "); !rest.empty(); end = rest.find("; ")) {
        reasons.push_back(rest.substr(0, end));
        rest = end == std::string::npos ? "" : rest.substr(end + 2);
    }
    return reasons;
}

bool is_true(const std::string& reason, const GuardView& view) {
    if (view.of_groups.contains(reason)) {
        return true;
    }
    const auto says = [&](const std::string& producer) {
        return reason.starts_with(producer + " wrote ") && reason.ends_with(" of silence are needed (H04)");
    };
    if (std::ranges::any_of(view.maybe_writing, says)) {
        return true;
    }
    return view.maybe_unwatched && reason.starts_with("the broker has watched its producers for ");
}

}  // namespace

GuardView guard_view(const Script& script, const Diary& diary, const std::string& unique, const GrowthAnswer& times) {
    GuardView view;
    for (std::size_t index = 0; index < diary.groups.size(); ++index) {
        const GroupDiary& group = diary.groups[index];
        if (group.is_deleted || (group.committed.empty() && group.open_members() == 0)) {
            continue;
        }
        add_group(script.groups[index].name + unique, group, diary, view.of_groups);
    }
    for (const auto& [caller, wrote] : diary.wrote) {
        const std::string producer = "producer " + caller.client_id + " at /" + caller.address;
        if (times.answered - wrote.first < kGuardQuiet) {
            view.surely_writing.insert(producer);
        }
        if (times.asked - wrote.second < kGuardQuiet) {
            view.maybe_writing.insert(producer);
        }
    }
    const bool has_records =
        std::ranges::any_of(diary.partitions, [](const PartitionDiary& log) { return log.end() > log.start; });
    view.surely_unwatched = has_records && times.answered - diary.watched.first < kGuardQuiet;
    view.maybe_unwatched = has_records && times.asked - diary.watched.second < kGuardQuiet;
    return view;
}

std::vector<std::string> judge_answer(const GuardView& view, const GrowthAnswer& answer, bool is_confirmed) {
    std::vector<std::string> problems;
    const bool must_be_refused = !view.of_groups.empty() || !view.surely_writing.empty() || view.surely_unwatched;
    if (!answer.refusal) {
        if (must_be_refused && !is_confirmed) {
            problems.push_back("missing: the growth was carried out though " +
                               (!view.of_groups.empty() ? *view.of_groups.begin()
                                : view.surely_unwatched ? std::string("producers were not watched")
                                                        : *view.surely_writing.begin() + " wrote lately"));
        }
        return problems;
    }
    if (is_confirmed) {
        problems.push_back("false: the second request of the same client was refused: " + *answer.refusal);
    }
    const std::vector<std::string> reasons = reasons_of(*answer.refusal);
    if (reasons.empty()) {
        problems.push_back("false: a refusal that says no reason: " + *answer.refusal);
    }
    for (const std::string& reason : reasons) {
        const bool is_rest = reasons.size() > kSpelled && reason == reasons.back() && reason.starts_with("and ");
        if (!is_rest && !is_true(reason, view)) {
            problems.push_back("false: refused because " + reason);
        }
    }
    if (reasons.size() > kSpelled) {
        return problems;
    }
    for (const std::string& reason : view.of_groups) {
        if (std::ranges::find(reasons, reason) == reasons.end()) {
            problems.push_back("missing in the refusal: " + reason + "\n      " + *answer.refusal);
        }
    }
    for (const std::string& producer : view.surely_writing) {
        const auto says = [&](const std::string& reason) { return reason.starts_with(producer + " wrote "); };
        if (std::ranges::none_of(reasons, says)) {
            problems.push_back("missing in the refusal: " + producer + "\n      " + *answer.refusal);
        }
    }
    return problems;
}

}  // namespace partita::test::histories
