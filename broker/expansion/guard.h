#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/finding.h"
#include "protocol/types.h"

/// Whether a topic may grow: what the modes refuse, and in which words. Pure: the facts come in.
namespace partita::expansion {

/// What stands against an expansion now.
struct Blocker {
    HazardId id;
    /// A clause without a full stop: "group billing has not read 1200 records".
    std::string reason;
    /// The one that the reason is about; empty where it is about none.
    std::string group = {};
    friend bool operator==(const Blocker&, const Blocker&) = default;
};

/// A group that reads the topic.
struct GuardedGroup {
    std::string group_id;
    /// Records that its members could still be given, over all partitions.
    std::int64_t unread_records = 0;
    /// Partitions with records for which it has committed nothing.
    std::int32_t uncommitted_partitions = 0;
    /// Its members are a Kafka Streams application.
    bool is_streams = false;
    /// Other topics of the same count whose partitions its members hold index by index with this one's.
    std::vector<std::string> copartitioned_with;
};

struct GuardFacts {
    std::string topic;
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    std::int64_t quiet_ms = 0;
    /// Producers of the topic with the time since their last batch. Those beyond `quiet_ms` may be left out.
    std::vector<std::pair<ClientIdentity, std::int64_t>> producers;
    /// For how long producers have been noted: a broker that just started knows nothing of the time before.
    std::int64_t producers_known_for_ms = 0;
    /// Records were written to the topic at all.
    bool has_records = false;
    std::vector<PartitionIndex> open_transactions;
    std::vector<GuardedGroup> groups;
    /// The Streams application whose internal topic this is (changelog or repartition).
    std::optional<std::string> owning_application;
};

/// Everything that stands against it, worst first. Empty: the topic is drained, and may grow in mode `guarded`.
[[nodiscard]] std::vector<Blocker> find_blockers(const GuardFacts& facts);

/// Blockers that a refusal spells out; the rest is counted.
inline constexpr std::size_t kSpelledBlockersMax = 6;
/// How long a refused request waits for its confirmation.
inline constexpr std::int64_t kConfirmationMs = 60'000;

/// The error_message of a refused CreatePartitions: what stands against it, and how to do it all the same.
[[nodiscard]] std::string guard_refusal(const GuardFacts& facts, const std::vector<Blocker>& blockers);
/// Modes other than faithful do not let Kafka's own topics grow.
[[nodiscard]] std::string internal_topic_refusal(std::string_view topic);
/// Mode `fenced`: why N to M cannot be fenced, or empty when it can.
[[nodiscard]] std::optional<std::string> fence_refusal(std::string_view topic, std::int32_t old_count,
                                                       std::int32_t new_count, bool window_is_open);

/// Requests that were refused and may be confirmed by asking again. Only who read a refusal can mean to go on in spite of it, so
/// each client confirms its own.
class Confirmations {
  public:
    /// Refusals remembered, one for each topic and client; the oldest makes room.
    static constexpr std::size_t kRefusalsMax = 1000;

    /// True when the same was refused to the same client within `kConfirmationMs` before: it is confirmed, and forgotten.
    /// Otherwise the refusal is remembered. `requester` is whatever tells clients apart that are programs of a moment, such as
    /// two runs of kafka-topics, which have no connection in common.
    [[nodiscard]] bool confirm(std::string_view topic, std::int32_t new_count, std::string_view requester, Instant now);

  private:
    struct Refusal {
        std::int32_t new_count = 0;
        Instant at;
    };
    /// By topic and requester.
    std::map<std::pair<std::string, std::string>, Refusal> refusals_;
};

}  // namespace partita::expansion
