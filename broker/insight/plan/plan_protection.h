#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/insight/plan/guard.h"
#include "broker/insight/plan/plan.h"

/// What one of our brokers knows beyond a topic's log and groups, the mode and who writes, and how that changes a plan.
/// Pure.
namespace partita::insight {

/// What the topic's mode (partita.expansion.mode) makes of its hazards.
enum class Protection : std::uint8_t {
    /// faithful, safe-offsets: the mode does nothing against hazards.
    none,
    /// guarded: growing is refused unless the topic is drained and silent.
    guarded,
    /// fenced: records are held back, which keeps the order.
    fenced,
};

/// A producer that sends keys, whose partition depends on them.
struct KeyedProducer {
    /// As people know it: "billing (/10.0.0.7, librdkafka 2.3.0)".
    std::string name;
    /// Milliseconds since its last record.
    std::int64_t silent_ms = 0;
    /// Its connection has closed. The program may connect again and still use the old count.
    bool is_closed = false;
};

struct ProtectionFacts {
    Protection protection = Protection::none;
    /// The refusals that the mode would answer to the same request at this moment.
    std::vector<Blocker> refusals;
    std::vector<KeyedProducer> producers;
    /// `producers` may lack some who wrote keys within the last minute, and what they wrote may be deleted.
    bool may_miss_producers = false;
};

/// Judges the plan anew with these facts, so that plan and broker agree. What the mode refuses becomes a blocking
/// finding; a hazard that the plan already has is told once, with the reason of the refusal added. What the mode takes
/// care of becomes `info`. A topic to which somebody writes keys is not safe unless its mode protects it, and where that is not
/// known the verdict is `unknown`.
void protect_plan(Plan& plan, const ProtectionFacts& facts);

}  // namespace partita::insight
