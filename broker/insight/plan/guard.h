#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/findings/record_count.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/plan/open_transaction.h"
#include "protocol/types.h"

/// Decides whether a topic may grow: the modes' refusals and their texts. Pure: the caller passes the facts.
namespace partita::insight {

/// One reason why a topic may not grow now.
struct Blocker {
    HazardId id;
    /// A clause without a full stop: "group billing has not read 1200 records".
    std::string reason;
    /// The group that the reason is about; empty if it is about no group.
    std::string group = {};
    friend bool operator==(const Blocker&, const Blocker&) = default;
};

/// A group that reads the topic.
struct GuardedGroup {
    std::string group_id;
    /// Records that the group's members could still be given, over all partitions.
    RecordCount unread;
    /// Partitions with records for which the group has committed nothing.
    std::int32_t uncommitted_partitions = 0;
    /// The group's members are a Kafka Streams application.
    bool is_streams = false;
    /// Other topics with the same count: its members hold the same partition indexes of them as of this one.
    std::vector<std::string> copartitioned_with;
};

struct GuardFacts {
    std::string topic;
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    std::int64_t quiet_ms = 0;
    /// Producers of the topic with the milliseconds since their last batch. The caller may leave out those beyond `quiet_ms`.
    std::vector<std::pair<ClientIdentity, std::int64_t>> producers;
    /// For how long the broker has noted producers: a broker that has just started knows nothing of the time before.
    std::int64_t producers_known_for_ms = 0;
    /// At least one record was ever written to the topic.
    bool has_records = false;
    std::vector<OpenTransaction> open_transactions;
    std::vector<GuardedGroup> groups;
    /// The Streams application whose internal topic this is (changelog or repartition).
    std::optional<std::string> owning_application;
};

/// All blockers, worst first. Empty: the topic is drained, and may grow in mode `guarded`.
[[nodiscard]] std::vector<Blocker> find_blockers(const GuardFacts& facts);

/// Blockers that the text of a refusal spells out; it only counts the others.
inline constexpr std::size_t kSpelledBlockersMax = 6;
/// After a refusal, a client has this long to confirm by repeating its request.
inline constexpr std::int64_t kConfirmationMs = 60'000;

/// The error_message of a refused CreatePartitions: the reasons against it, and how to grow the topic all the same.
[[nodiscard]] std::string guard_refusal(const GuardFacts& facts, const std::vector<Blocker>& blockers);
/// The error_message for Kafka's own topics: only mode faithful lets them grow.
[[nodiscard]] std::string internal_topic_refusal(std::string_view topic);
/// Mode `fenced`: the error_message if growing from `old_count` to `new_count` cannot be fenced; null if it can.
[[nodiscard]] std::optional<std::string> fence_refusal(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                                                       bool window_is_open);
/// The same two refusals as blockers, with the text of the refusal as the reason.
[[nodiscard]] Blocker internal_topic_blocker(std::string_view topic);
[[nodiscard]] std::optional<Blocker> fence_blocker(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                                                   bool window_is_open);

/// Refused requests that the same client may confirm by repeating them. Each client confirms only its own refusals: a client that
/// has not read the refusal cannot mean to go on in spite of it.
class Confirmations {
  public:
    /// Most refusals that are remembered, one for each topic and client. A further one replaces the oldest.
    static constexpr std::size_t kRefusalsMax = 1000;

    /// True if the same request was refused to the same client within the last `kConfirmationMs`. The request then counts as
    /// confirmed, and the refusal is forgotten. Otherwise this remembers the refusal. `requester` is any text that tells clients
    /// apart. It must not depend on the connection, because each run of a tool such as kafka-topics has another one.
    [[nodiscard]] bool confirm(std::string_view topic, std::int32_t new_count, std::string_view requester, Instant now);

  private:
    struct Refusal {
        std::int32_t new_count = 0;
        Instant at;
    };
    /// By topic and requester.
    std::map<std::pair<std::string, std::string>, Refusal> refusals_;
};

}  // namespace partita::insight
