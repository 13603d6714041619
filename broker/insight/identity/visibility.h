#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "broker/insight/identity/client_registry.h"
#include "protocol/types.h"

/// Test control: decides when each kind of client sees the new partitions of a topic. A test can so choose between "producers
/// first" and "consumers first".
namespace partita::insight {

/// A change of the partition count.
struct CountStep {
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    TimestampMs time;
};

/// How long new partitions stay hidden, in milliseconds. 0 hides nothing; a negative delay hides them until a test changes it.
struct VisibilityDelays {
    std::int64_t producers_ms = 0;
    std::int64_t consumers_ms = 0;

    [[nodiscard]] bool any() const { return producers_ms != 0 || consumers_ms != 0; }
};

/// The delay for a client with these roles. A client with both roles gets the longer delay. A client that the broker has not seen
/// produce or consume sees the truth, because admin tools must see it.
[[nodiscard]] std::int64_t delay_for(const ClientRoles* roles, const VisibilityDelays& delays);

/// How many partitions a client sees: the count before the first step that is still hidden from it. `steps` are the topic's
/// expansions, in order.
[[nodiscard]] std::int32_t visible_count(std::span<const CountStep> steps, std::int32_t true_count, std::int64_t delay_ms,
                                         TimestampMs now);

}  // namespace partita::insight
