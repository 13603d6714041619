#include "broker/client/partitions.h"

#include <algorithm>

#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

/// The oldest version of ListOffsets that knows this special time.
std::int16_t least_version(std::int64_t time) {
    constexpr std::int16_t kHasOneOffset = 1;
    constexpr std::int16_t kHasMaxTimestamp = 7;
    constexpr std::int16_t kHasEarliestLocal = 8;
    constexpr std::int16_t kHasLatestTiered = 9;
    constexpr std::int16_t kHasPendingUpload = 11;
    switch (time) {
        case kMaxTimestamp:
            return kHasMaxTimestamp;
        case kEarliestLocal:
            return kHasEarliestLocal;
        case kLatestTiered:
            return kHasLatestTiered;
        case kEarliestPendingUpload:
            return kHasPendingUpload;
        default:
            return kHasOneOffset;
    }
}

/// Groups partitions as requests do; the partitions of one topic are adjacent.
template <class Topic, class Partition, class Make>
class Grouped {
  public:
    Grouped(const std::vector<TopicPartition>& partitions, Make make) {
        std::map<std::string_view, std::vector<Partition>> by_topic;
        for (const TopicPartition& partition : partitions) {
            by_topic[partition.topic].push_back(make(partition));
        }
        for (auto& [name, list] : by_topic) {
            lists_.push_back(std::move(list));
            topics_.push_back({.name = name});
        }
        for (std::size_t i = 0; i < topics_.size(); ++i) {
            topics_[i].partitions = lists_[i];
        }
    }
    [[nodiscard]] Array<Topic> array() { return topics_; }

  private:
    std::vector<std::vector<Partition>> lists_;
    std::vector<Topic> topics_;
};

template <class Topic, class Partition, class Make>
Grouped<Topic, Partition, Make> grouped(const std::vector<TopicPartition>& partitions, Make make) {
    return Grouped<Topic, Partition, Make>(partitions, make);
}

/// Extracts each partition's value, or its failure, from a reply.
template <class Topics, class ValueOf>
ByPartition<std::int64_t> results_of(const Topics& topics, ValueOf value_of) {
    ByPartition<std::int64_t> results;
    for (const auto& topic : topics) {
        for (const auto& partition : topic.partitions) {
            const TopicPartition key{std::string(topic.name), partition.partition_index};
            if (partition.error_code == ErrorCode::none) {
                results.insert_or_assign(key, value_of(partition));
            } else {
                results.insert_or_assign(key, std::unexpected(refusal(partition.error_code)));
            }
        }
    }
    return results;
}

}  // namespace

std::string to_string(const TopicPartition& partition) { return partition.topic + "-" + std::to_string(partition.partition); }

bool is_leader_moving(ErrorCode code) {
    constexpr ErrorCode kMoving[] = {ErrorCode::leader_not_available,  ErrorCode::not_leader_or_follower,
                                     ErrorCode::fenced_leader_epoch,   ErrorCode::unknown_leader_epoch,
                                     ErrorCode::replica_not_available, ErrorCode::kafka_storage_error,
                                     ErrorCode::offset_not_available};
    return std::ranges::find(kMoving, code) != std::end(kMoving);
}

Result<ByPartition<std::int32_t>> leaders_of(Cluster& cluster, std::string_view call_name,
                                             const std::set<TopicPartition>& partitions) {
    std::vector<MetadataRequest::Topic> wanted;
    for (const TopicPartition& partition : partitions) {
        if (wanted.empty() || wanted.back().name != partition.topic) {
            wanted.push_back({.name = partition.topic});
        }
    }
    MetadataRequest request{.topics = wanted};
    constexpr std::int16_t kHasCreation = 4;
    const auto make = [&](std::int16_t version) {
        request.allow_auto_topic_creation = version < kHasCreation;
        return request;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<MetadataResponse>(Route::any(), {.name = call_name, .versions = {1}}, make,
                                                                 [](const MetadataResponse&) { return ErrorCode::none; }));
    ByPartition<std::int32_t> leaders;
    for (const TopicPartition& partition : partitions) {
        leaders.insert_or_assign(partition, std::unexpected(refusal(ErrorCode::unknown_topic_or_partition)));
    }
    for (const auto& topic : reply->topics) {
        const std::string name(topic.name.value_or(""));
        if (topic.error_code != ErrorCode::none) {
            for (auto& [partition, leader] : leaders) {
                if (partition.topic == name) {
                    leader = std::unexpected(refusal(topic.error_code));
                }
            }
        }
        for (const auto& partition : topic.partitions) {
            const auto found = leaders.find({name, partition.partition_index});
            if (found == leaders.end()) {
                continue;
            }
            if (partition.leader_id >= 0) {
                found->second = partition.leader_id;
            } else {
                found->second = std::unexpected(refusal(ErrorCode::leader_not_available));
            }
        }
    }
    return leaders;
}

Result<ByPartition<std::int64_t>> list_offsets(Cluster& cluster, const std::map<TopicPartition, std::int64_t>& times) {
    std::set<TopicPartition> wanted;
    std::int16_t least = 0;
    for (const auto& [partition, time] : times) {
        wanted.insert(partition);
        least = std::max(least, least_version(time));
    }
    return ask_leaders<std::int64_t>(
        cluster, "listOffsets", std::move(wanted),
        [&](std::int32_t leader, const std::vector<TopicPartition>& partitions) -> Result<ByPartition<std::int64_t>> {
            auto topics = grouped<ListOffsetsRequest::ListOffsetsTopic, ListOffsetsRequest::ListOffsetsPartition>(
                partitions, [&](const TopicPartition& partition) {
                    return ListOffsetsRequest::ListOffsetsPartition{.partition_index = partition.partition,
                                                                    .timestamp = times.at(partition)};
                });
            constexpr std::int16_t kHasTimeout = 10;
            const auto make = [&](std::int16_t version) {
                ListOffsetsRequest request{.replica_id = -1, .topics = topics.array()};
                if (version >= kHasTimeout) {
                    request.timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms);
                }
                return request;
            };
            PARTITA_TRY_ASSIGN(
                auto reply, cluster.ask<ListOffsetsResponse>(Route::node(leader), {.name = "listOffsets", .versions = {least}},
                                                             make, [](const ListOffsetsResponse&) { return ErrorCode::none; }));
            return results_of(reply->topics, [](const auto& partition) { return partition.offset; });
        });
}

Result<ByPartition<std::int64_t>> list_offsets(Cluster& cluster, const std::vector<TopicPartition>& partitions,
                                               std::int64_t time) {
    std::map<TopicPartition, std::int64_t> times;
    for (const TopicPartition& partition : partitions) {
        times[partition] = time;
    }
    return list_offsets(cluster, times);
}

Result<ByPartition<std::int64_t>> delete_records(Cluster& cluster, const std::map<TopicPartition, std::int64_t>& before) {
    std::set<TopicPartition> wanted;
    for (const auto& [partition, offset] : before) {
        wanted.insert(partition);
    }
    const std::int64_t timeout_ms = cluster.settings().request_timeout_ms;
    return ask_leaders<std::int64_t>(
        cluster, "deleteRecords", std::move(wanted),
        [&](std::int32_t leader, const std::vector<TopicPartition>& partitions) -> Result<ByPartition<std::int64_t>> {
            auto topics = grouped<DeleteRecordsRequest::DeleteRecordsTopic, DeleteRecordsRequest::DeleteRecordsPartition>(
                partitions, [&](const TopicPartition& partition) {
                    return DeleteRecordsRequest::DeleteRecordsPartition{.partition_index = partition.partition,
                                                                        .offset = before.at(partition)};
                });
            const DeleteRecordsRequest request{.topics = topics.array(), .timeout_ms = static_cast<std::int32_t>(timeout_ms)};
            PARTITA_TRY_ASSIGN(auto reply,
                               cluster.ask<DeleteRecordsResponse>(Route::node(leader), {.name = "deleteRecords"}, request));
            return results_of(reply->topics, [](const auto& partition) { return partition.low_watermark; });
        });
}

}  // namespace partita::client
