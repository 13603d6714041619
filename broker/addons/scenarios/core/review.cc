#include "broker/addons/scenarios/core/review.h"

#include <algorithm>
#include <cmath>

#include "broker/addons/scenarios/core/answer_members.h"
#include "broker/addons/scenarios/core/counted.h"
#include "protocol/printable.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using ChangeKind = TopicChange::Kind;

/// Text that Markdown shows as it is, on one line.
std::string plain(const std::string& text) {
    std::string out;
    for (const char letter : printable(text)) {
        const bool has_meaning = std::string_view("\\`*_[]<>|#&~@!").contains(letter);
        out += (has_meaning ? "\\" : "") + std::string(1, letter);
    }
    return out;
}

/// A code block that ends nowhere in the text. Its lines stay.
std::string code_block(const std::string& text) {
    std::string fence = "```";
    while (text.contains(fence)) {
        fence += '`';
    }
    std::string lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines += printable(text.substr(begin, end - begin)) + "\n";
        begin = end + 1;
    }
    return fence + "text\n" + lines + fence + "\n";
}

std::string verdict_of(const ReviewedChange& one) {
    switch (one.change.kind) {
        case ChangeKind::unchanged:
            return "unchanged";
        case ChangeKind::creation:
            return "new topic";
        case ChangeKind::growth:
            return text_of(one.plan, "verdict").empty() ? "no plan" : text_of(one.plan, "verdict");
        case ChangeKind::shrinking:
            return "impossible";
        case ChangeKind::removal:
            return "removed";
        case ChangeKind::renewal:
            return "**all records lost**";
        case ChangeKind::unknown:
            return "count not known yet";
    }
    return {};
}

std::string moved_of(const ordered_json& plan) {
    const ordered_json& share = member(member(plan, "moved"), "key_share");
    if (!share.is_number()) {
        return "";
    }
    return std::to_string(static_cast<int>(std::lround(share.get<double>() * 100))) + " %";
}

std::string counts_of(const TopicChange& change) {
    const std::string to = std::to_string(change.wish.partitions);
    switch (change.kind) {
        case ChangeKind::creation:
            return to;
        case ChangeKind::growth:
        case ChangeKind::shrinking:
            return std::to_string(change.from) + " to " + to;
        case ChangeKind::unchanged:
        case ChangeKind::removal:
        case ChangeKind::renewal:
        case ChangeKind::unknown:
            return change.from == 0 ? "" : std::to_string(change.from);
    }
    return {};
}

std::string growth_section(const ReviewedChange& one) {
    std::string text = "\n### `" + one.change.wish.topic + "`: " + counts_of(one.change) + " partitions\n\n";
    text += plain(text_of(one.plan, "summary")) + "\n";
    const ordered_json& findings = list_of(one.plan, "findings");
    if (!findings.empty()) {
        text += "\n";
        for (const ordered_json& finding : findings) {
            text += "- **" + plain(text_of(finding, "id")) + "** (" + plain(text_of(finding, "severity")) +
                    "): " + plain(text_of(finding, "condition")) + ". " + plain(text_of(finding, "advice")) + "\n";
        }
    }
    std::string targets;
    for (const ordered_json& target : list_of(one.plan, "better_targets")) {
        if (target.is_number_integer()) {
            targets += (targets.empty() ? "" : " or ") + std::to_string(target.get<std::int64_t>());
        }
    }
    if (!targets.empty()) {
        text += "\nBetter: " + targets + " partitions, so that no key moves between old partitions.\n";
    }
    if (!one.plan_text.empty()) {
        text += "\n<details><summary>The whole plan</summary>\n\n" + code_block(one.plan_text) + "\n</details>\n";
    }
    return text;
}

}  // namespace

std::vector<TopicChange> compare(const std::vector<TopicWish>& wishes, const std::map<std::string, std::int32_t>& topics) {
    std::vector<TopicChange> changes;
    for (const TopicWish& wish : wishes) {
        const auto found = topics.find(wish.topic);
        TopicChange change{.wish = wish, .from = found == topics.end() ? 0 : found->second};
        const bool exists = change.from > 0;
        switch (wish.kind) {
            case TopicWish::Kind::count:
                change.kind = !exists                         ? ChangeKind::creation
                              : wish.partitions > change.from ? ChangeKind::growth
                              : wish.partitions < change.from ? ChangeKind::shrinking
                                                              : ChangeKind::unchanged;
                break;
            case TopicWish::Kind::unknown:
                change.kind = ChangeKind::unknown;
                break;
            case TopicWish::Kind::removal:
                change.kind = exists ? ChangeKind::removal : ChangeKind::unchanged;
                break;
            case TopicWish::Kind::renewal:
                change.kind = exists ? ChangeKind::renewal : ChangeKind::unchanged;
                break;
        }
        changes.push_back(std::move(change));
    }
    return changes;
}

bool is_at_risk(const ReviewedChange& one, FailOn fail_on) {
    switch (one.change.kind) {
        case ChangeKind::unchanged:
        case ChangeKind::creation:
        case ChangeKind::removal:
            return false;
        case ChangeKind::shrinking:
        case ChangeKind::renewal:
        case ChangeKind::unknown:
            return true;
        case ChangeKind::growth: {
            const std::string verdict = text_of(one.plan, "verdict");
            return verdict != "safe" && !(verdict == "findings" && fail_on == FailOn::block);
        }
    }
    return true;
}

std::string review_markdown(const std::vector<ReviewedChange>& changes, const std::string& against, FailOn fail_on) {
    const auto unchanged =
        std::ranges::count_if(changes, [](const ReviewedChange& one) { return one.change.kind == ChangeKind::unchanged; });
    const auto at_risk = std::ranges::count_if(changes, [&](const ReviewedChange& one) { return is_at_risk(one, fail_on); });
    const auto changed = static_cast<std::int64_t>(changes.size()) - unchanged;
    std::string text = "## Partition counts, against " + plain(against) + "\n\n";
    if (changed == 0) {
        return text + "No topic changes (" + counted(unchanged, "topic") + " compared).\n";
    }
    text += counted(changed, "topic") + (changed == 1 ? " changes" : " change") + ", " + std::to_string(at_risk) + " at risk";
    text += (unchanged > 0 ? "; " + counted(unchanged, "topic") + " unchanged" : std::string()) + ".\n\n";
    text += "| topic | partitions | verdict | keys that move | file |\n|---|---|---|---|---|\n";
    for (const ReviewedChange& one : changes) {
        if (one.change.kind != ChangeKind::unchanged) {
            text += "| `" + one.change.wish.topic + "` | " + counts_of(one.change) + " | " + verdict_of(one) + " | " +
                    moved_of(one.plan) + " | " + plain(one.change.wish.file) + " |\n";
        }
    }
    for (const ReviewedChange& one : changes) {
        const std::string name = "`" + one.change.wish.topic + "`";
        if (one.change.kind == ChangeKind::growth) {
            text += growth_section(one);
        } else if (one.change.kind == ChangeKind::shrinking) {
            text += "\n" + name + " cannot shrink: Kafka refuses a lower count. Leave " + std::to_string(one.change.from) + ".\n";
        } else if (one.change.kind == ChangeKind::renewal) {
            text +=
                "\n" + name + " would be deleted and created anew: its records, and the offsets of its groups, would be gone.\n";
        } else if (one.change.kind == ChangeKind::unknown) {
            text += "\nThe count of " + name + " is known only when the change is applied, so there is no plan.\n";
        }
    }
    return text;
}

}  // namespace partita::scenarios
