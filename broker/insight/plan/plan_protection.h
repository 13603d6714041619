#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/insight/plan/guard.h"
#include "broker/insight/plan/plan.h"

/// The facts that a broker of ours knows beyond a topic's log and groups, namely the mode and the active producers, and their
/// effect on a plan. Pure.
namespace partita::insight {

/// The effect of the topic's mode (partita.expansion.mode) on its hazards.
enum class Protection : std::uint8_t {
    /// faithful, safe-offsets: the mode does nothing against hazards.
    none,
    /// guarded: the broker refuses growth unless the topic is drained and silent.
    guarded,
    /// fenced: the broker holds records back, which keeps the order.
    fenced,
};

/// A producer that sends keys and places them by key.
struct KeyedProducer {
    /// The name that people know it by: "billing (/10.0.0.7, librdkafka 2.3.0)".
    std::string name;
    /// Milliseconds since its last record.
    std::int64_t silent_ms = 0;
    /// Its connection has closed. The program may connect again and still use the old count.
    bool is_closed = false;
};

struct ProtectionFacts {
    Protection protection = Protection::none;
    /// The refusals with which the mode would answer the same request at this moment.
    std::vector<Blocker> refusals;
    std::vector<KeyedProducer> producers;
    /// `producers` may lack some that wrote keys within the last minute, and their records may be deleted.
    bool may_miss_producers = false;
};

/// Judges the plan anew with these facts, so that plan and broker agree. Refusals of the mode become blocking findings. If the
/// plan already has the hazard, it reports it once and adds the reason of the refusal. Hazards that the mode handles become
/// `info`. A topic with active producers of keys is not safe unless its mode protects it. If that activity is not known, the
/// verdict is `unknown`.
void protect_plan(Plan& plan, const ProtectionFacts& facts);

}  // namespace partita::insight
