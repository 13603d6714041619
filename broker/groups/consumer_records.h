#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/groups/core.h"

/// Inside of the coordinator: how consumer groups change.

namespace partita::groups {

/// Ascending, without repetition.
[[nodiscard]] std::vector<std::string> sorted_names(std::span<const std::string_view> names);

/// The durable part of the group as text, see `GroupCoordinator::dump`.
[[nodiscard]] std::string dump_of(const ConsumerGroup& group);

template <class R>
void GroupCoordinator::Core::change(Group& group, R record, Effects& effects) {
    record.group_id = effects.arena.copy(group.id);
    if constexpr (requires { record.member_id; }) {
        record.member_id = effects.arena.copy(record.member_id);
    } else if constexpr (requires { record.regex; }) {
        record.regex = effects.arena.copy(record.regex);
    } else if constexpr (requires { record.name; }) {
        record.name = effects.arena.copy(record.name);
    }
    group.consumer()->apply(record);
    effects.records.push_back(std::move(record));
}

}  // namespace partita::groups
