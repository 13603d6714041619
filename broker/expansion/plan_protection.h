#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/expansion/plan.h"

/// What a broker of ours knows beyond a topic's log and groups, and what that makes of a plan: its mode, and who writes. Pure.
namespace partita::expansion {

/// What the topic's mode (partita.expansion.mode) makes of its hazards.
enum class Protection : std::uint8_t {
    /// Nothing: faithful, safe-offsets.
    none,
    /// Mode guarded: refused unless the topic is drained and silent.
    guarded,
    /// Mode fenced: order is kept by holding records back.
    fenced,
};

/// Why the broker would refuse to grow the topic now.
struct Refusal {
    HazardId id = HazardId::keys_move;
    /// A clause: "group billing has not read 1200 records".
    std::string reason;
    /// The group that it is about; empty where it is about none.
    std::string group = {};
};

/// A producer that sends keys, whose partition depends on them.
struct KeyedProducer {
    /// As people know it: "billing (/10.0.0.7, librdkafka 2.3.0)".
    std::string name;
    /// Since its last record.
    std::int64_t silent_ms = 0;
    /// Its connection has closed. Who connects again may still have the count of before.
    bool is_closed = false;
};

struct ProtectionFacts {
    Protection protection = Protection::none;
    /// What the mode would refuse the same request with at this moment.
    std::vector<Refusal> refusals;
    std::vector<KeyedProducer> producers;
};

/// Judges the plan anew with them. What the mode refuses blocks, so that plan and broker agree: a hazard that stands already is told
/// once, with what it says of it and why it is refused; what it takes care of is good to
/// know; and a topic to which somebody writes keys is not safe unless its mode is.
void protect_plan(Plan& plan, const ProtectionFacts& facts);

}  // namespace partita::expansion
