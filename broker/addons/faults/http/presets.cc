#include "broker/addons/faults/http/presets.h"

#include <algorithm>

namespace partita::faults {
namespace {

// docs/test-bench.md describes them.
constexpr Preset kPresets[] = {
    {.name = "coordinator-failover", .takes_group = true, .rules = R"([
        {"id": "find", "match": {"api": "FindCoordinator", "group": "$group"}, "when": {"for_ms": 2000},
         "do": {"error": "COORDINATOR_NOT_AVAILABLE"}},
        {"id": "join", "match": {"api": "JoinGroup", "group": "$group"}, "when": {"for_ms": 2000}, "do": {"error": "NOT_COORDINATOR"}},
        {"id": "heartbeat", "match": {"api": "Heartbeat", "group": "$group"}, "when": {"for_ms": 2000},
         "do": {"error": "NOT_COORDINATOR"}},
        {"id": "consumer-heartbeat", "match": {"api": "ConsumerGroupHeartbeat", "group": "$group"}, "when": {"for_ms": 2000},
         "do": {"error": "NOT_COORDINATOR"}},
        {"id": "commit", "match": {"api": "OffsetCommit", "group": "$group"}, "when": {"for_ms": 2000},
         "do": {"error": "NOT_COORDINATOR"}},
        {"id": "transaction", "match": {"api": "EndTxn", "group": "$group"}, "when": {"for_ms": 2000},
         "do": {"error": "NOT_COORDINATOR"}},
        {"id": "loading-join", "match": {"api": "JoinGroup", "group": "$group"}, "when": {"after_ms": 2000, "for_ms": 3000},
         "do": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}},
        {"id": "loading-offsets", "match": {"api": "OffsetFetch", "group": "$group"}, "when": {"after_ms": 2000, "for_ms": 3000},
         "do": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}}])"},
    {.name = "flaky-network", .takes_topic = true, .rules = R"([
        {"id": "end", "match": {"topic": "$topic"}, "when": {"probability": 0.02, "seed": 1}, "do": {"disconnect": true}},
        {"id": "reset", "match": {"topic": "$topic"}, "when": {"probability": 0.02, "seed": 2}, "do": {"reset_after_bytes": 10}},
        {"id": "slow", "match": {"topic": "$topic"}, "when": {"probability": 0.1, "seed": 3}, "do": {"slow_bytes_per_s": 10000}},
        {"id": "late", "match": {"topic": "$topic"}, "when": {"probability": 0.2, "seed": 4}, "do": {"delay_ms": 200}}])"},
    {.name = "hot-partition", .takes_topic = true, .needs_topic = true, .rules = R"([
        {"id": "write", "match": {"api": "Produce", "topic": "$topic", "partition": 0}, "do": {"delay_ms": 500}},
        {"id": "read", "match": {"api": "Fetch", "topic": "$topic", "partition": 0}, "do": {"delay_ms": 500}}])"},
    {.name = "producer-fenced", .takes_group = true, .rules = R"([
        {"id": "commit", "match": {"api": "EndTxn", "group": "$group"}, "when": {"times": 1}, "do": {"error": "PRODUCER_FENCED"}}])"},
    {.name = "rebalance-storm", .takes_group = true, .rules = R"([
        {"id": "heartbeat", "match": {"api": "Heartbeat", "group": "$group"}, "when": {"nth": 2, "every": 2},
         "do": {"error": "REBALANCE_IN_PROGRESS"}},
        {"id": "consumer-heartbeat", "match": {"api": "ConsumerGroupHeartbeat", "group": "$group"}, "when": {"nth": 5, "every": 5},
         "do": {"error": "FENCED_MEMBER_EPOCH"}},
        {"id": "sync", "match": {"api": "SyncGroup", "group": "$group"}, "do": {"delay_ms": 500}}])"},
    {.name = "rolling-restart", .takes_topic = true, .takes_group = true, .rules = R"([
        {"id": "down", "when": {"for_ms": 2000}, "do": {"disconnect": true}},
        {"id": "write", "match": {"api": "Produce", "topic": "$topic"}, "when": {"after_ms": 2000, "for_ms": 2000, "every": 2},
         "do": {"error": "NOT_LEADER_OR_FOLLOWER"}},
        {"id": "read", "match": {"api": "Fetch", "topic": "$topic"}, "when": {"after_ms": 2000, "for_ms": 2000, "every": 2},
         "do": {"error": "NOT_LEADER_OR_FOLLOWER"}},
        {"id": "join", "match": {"api": "JoinGroup", "group": "$group"}, "when": {"after_ms": 2000, "for_ms": 2000},
         "do": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}},
        {"id": "commit", "match": {"api": "OffsetCommit", "group": "$group"}, "when": {"after_ms": 2000, "for_ms": 2000},
         "do": {"error": "COORDINATOR_LOAD_IN_PROGRESS"}},
        {"id": "down-again", "when": {"after_ms": 10000, "for_ms": 2000}, "do": {"disconnect": true}}])"},
    {.name = "slow-broker", .takes_topic = true, .rules = R"([
        {"id": "all", "match": {"topic": "$topic"}, "do": {"delay_ms": 100, "slow_bytes_per_s": 100000}}])"},
};

}  // namespace

std::expected<const Preset*, std::string> find_preset(std::string_view name) {
    const auto* const found = std::ranges::find(kPresets, name, &Preset::name);
    if (found != std::end(kPresets)) {
        return found;
    }
    std::string names;
    for (const Preset& preset : kPresets) {
        names += (names.empty() ? "" : ", ") + std::string(preset.name);
    }
    return std::unexpected("is unknown; the presets are " + names);
}

}  // namespace partita::faults
