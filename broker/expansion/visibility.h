#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "broker/expansion/client_registry.h"
#include "protocol/types.h"

/// Test control: when which kind of client is shown the new partitions of a topic, so that "producers first" and
/// "consumers first" are chosen and not drawn.
namespace partita::expansion {

/// A change of the partition count.
struct CountStep {
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    TimestampMs time;
};

/// How long new partitions are hidden. 0 hides nothing, a negative delay never ends by itself.
struct VisibilityDelays {
    std::int64_t producers_ms = 0;
    std::int64_t consumers_ms = 0;

    [[nodiscard]] bool any() const { return producers_ms != 0 || consumers_ms != 0; }
};

/// The delay that a client is subject to: the one of its role. A client that is both is hidden from for as long as
/// either of its roles would be; one that nobody has seen doing anything is told the truth (admin tools must be).
[[nodiscard]] std::int64_t delay_for(const ClientRoles* roles, const VisibilityDelays& delays);

/// How many partitions are shown: the count before the first step that is still hidden. `steps` are a topic's
/// expansions, in order.
[[nodiscard]] std::int32_t visible_count(std::span<const CountStep> steps, std::int32_t true_count, std::int64_t delay_ms,
                                         TimestampMs now);

}  // namespace partita::expansion
