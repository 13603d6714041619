#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "protocol/try.h"

/// Requests that only a partition's leader can answer.
namespace partita::client {

struct TopicPartition {
    std::string topic;
    std::int32_t partition = 0;

    friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
};

/// "topic-0".
[[nodiscard]] std::string to_string(const TopicPartition& partition);

/// True if another leader, or a later attempt, may answer differently.
[[nodiscard]] bool is_leader_moving(ErrorCode code);

/// Each partition's answer, or its failure.
template <class T>
using ByPartition = std::map<TopicPartition, Result<T>>;

/// Asks leaders in turn: `ask(leader, partitions)` returns each partition's answer. If a leader moved (`is_leader_moving`), this
/// asks the new one, until default.api.timeout.ms is over. A partition that Metadata does not show, or that has no leader, gets a
/// failure. Fails as a whole if no broker can be reached.
template <class T>
[[nodiscard]] Result<ByPartition<T>> ask_leaders(
    Cluster& cluster, std::string_view call_name, std::set<TopicPartition> wanted,
    const std::function<Result<ByPartition<T>>(std::int32_t leader, const std::vector<TopicPartition>& partitions)>& ask);

/// Special values in place of a time.
inline constexpr std::int64_t kLatest = -1;
inline constexpr std::int64_t kEarliest = -2;
inline constexpr std::int64_t kMaxTimestamp = -3;
inline constexpr std::int64_t kEarliestLocal = -4;
inline constexpr std::int64_t kLatestTiered = -5;
inline constexpr std::int64_t kEarliestPendingUpload = -6;

/// The offset of the first record that is not older than a time (milliseconds since 1970), or of a constant above. -1: the
/// partition has none.
[[nodiscard]] Result<ByPartition<std::int64_t>> list_offsets(Cluster& cluster,
                                                             const std::map<TopicPartition, std::int64_t>& times);
/// As above with one time for all.
[[nodiscard]] Result<ByPartition<std::int64_t>> list_offsets(Cluster& cluster, const std::vector<TopicPartition>& partitions,
                                                             std::int64_t time);

/// Deletes the records before these offsets (-1: all); returns where the partitions now begin.
[[nodiscard]] Result<ByPartition<std::int64_t>> delete_records(Cluster& cluster,
                                                               const std::map<TopicPartition, std::int64_t>& before);

// For `ask_leaders` below.

/// The leaders of these partitions, by Metadata.
[[nodiscard]] Result<ByPartition<std::int32_t>> leaders_of(Cluster& cluster, std::string_view call_name,
                                                           const std::set<TopicPartition>& partitions);

template <class T>
Result<ByPartition<T>> ask_leaders(
    Cluster& cluster, std::string_view call_name, std::set<TopicPartition> wanted,
    const std::function<Result<ByPartition<T>>(std::int32_t leader, const std::vector<TopicPartition>& partitions)>& ask) {
    ByPartition<T> results;
    const Instant deadline = cluster.network().clock().now().monotonic + cluster.settings().default_api_timeout_ms;
    while (!wanted.empty()) {
        PARTITA_TRY_ASSIGN(auto leaders, leaders_of(cluster, call_name, wanted));
        std::map<std::int32_t, std::vector<TopicPartition>> by_leader;
        for (auto& [partition, leader] : leaders) {
            if (leader) {
                by_leader[*leader].push_back(partition);
            } else {
                results.insert_or_assign(partition, std::unexpected(std::move(leader.error())));
            }
        }
        for (const auto& [leader, partitions] : by_leader) {
            PARTITA_TRY_ASSIGN(auto answered, ask(leader, partitions));
            for (auto& [partition, result] : answered) {
                results.insert_or_assign(partition, std::move(result));
            }
        }
        wanted.clear();
        for (const auto& [partition, result] : results) {
            if (!result && is_leader_moving(result.error().code)) {
                wanted.insert(partition);
            }
        }
        if (wanted.empty() || deadline - cluster.network().clock().now().monotonic <= cluster.settings().retry_backoff_max_ms) {
            break;
        }
        cluster.network().pause(cluster.settings().retry_backoff_ms);
    }
    return results;
}

}  // namespace partita::client
