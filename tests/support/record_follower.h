#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/group_coordinator.h"

/// Shows that only records change the durable state of a group coordinator. Also shows that a record has the same effect when it
/// is made and when it is replayed.
namespace partita::test {

/// Describes how the durable states of two coordinators differ; nothing when they are equal. For groups that rebalance in one of
/// them, only the offsets are compared: their members follow either the last record or the next one.
inline std::optional<std::string> durable_difference(std::string_view left_dump, std::string_view right_dump) {
    static constexpr std::string_view kRebalancing = " rebalancing\n";
    static constexpr std::string_view kGroup = "group ";
    /// No record made such a group; an aborted transaction did.
    static constexpr std::string_view kOfNobody = " type= generation=0 protocol=- leader=- since=-\n";
    struct Section {
        std::string_view id;
        std::string_view members;
        std::string_view offsets;
    };
    const auto sections = [](std::string_view dump) {
        std::vector<Section> found;
        while (!dump.empty()) {
            const std::string_view one = dump.substr(0, std::min(dump.find("\ngroup "), dump.size() - 1) + 1);
            const std::size_t members = std::min(one.find("\n  offset "), one.size() - 1) + 1;
            const std::string_view id = one.substr(kGroup.size());
            found.push_back({id.substr(0, id.find(' ')), one.substr(0, members), one.substr(members)});
            dump.remove_prefix(one.size());
        }
        return found;
    };
    if (left_dump == right_dump) {
        return std::nullopt;
    }
    std::vector<Section> left = sections(left_dump);
    std::vector<Section> right = sections(right_dump);
    const auto forget_what_only_one_has = [](std::vector<Section>& groups, const std::vector<Section>& others) {
        std::erase_if(groups, [&](const Section& group) {
            return group.offsets.empty() && group.members.ends_with(kOfNobody) &&
                   std::ranges::find(others, group.id, &Section::id) == others.end();
        });
    };
    forget_what_only_one_has(left, right);
    forget_what_only_one_has(right, left);
    if (!std::ranges::equal(left, right, {}, &Section::id, &Section::id)) {
        return "other groups:\n" + std::string(left_dump) + "and\n" + std::string(right_dump);
    }
    for (std::size_t index = 0; index < left.size(); ++index) {
        const bool rebalances = left[index].members.ends_with(kRebalancing) || right[index].members.ends_with(kRebalancing);
        if ((!rebalances && left[index].members != right[index].members) || left[index].offsets != right[index].offsets) {
            return std::string(left[index].members) + std::string(left[index].offsets) + "and\n" +
                   std::string(right[index].members) + std::string(right[index].offsets);
        }
    }
    return std::nullopt;
}

/// A coordinator that gets no requests: it only replays the records that another one makes.
class RecordFollower {
  public:
    /// Begins anew, as after a start.
    void start(const groups::GroupConfig& config) { follower_.emplace(config); }
    void hear(const groups::Record& record) { follower_->replay(record); }
    /// Describes how the durable state of the other coordinator differs from its records.
    [[nodiscard]] std::optional<std::string> difference(const groups::GroupCoordinator& other) const {
        return durable_difference(follower_->dump(), other.dump());
    }

  private:
    std::optional<groups::GroupCoordinator> follower_;
};

}  // namespace partita::test
