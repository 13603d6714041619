#include "tests/support/plain_client.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/coordinator.h"

namespace partita::test {
namespace {

constexpr std::chrono::milliseconds kPollStep{20};
/// The broker refuses requests that change the cluster when they allow no time.
constexpr std::int32_t kTimeoutMs = 30'000;

}  // namespace

PlainClient::Created PlainClient::create_topic(const std::string& name, int partitions,
                                               const std::map<std::string, std::string>& configs) {
    std::vector<CreateTopicsRequest::CreatableTopicConfig> entries;
    for (const auto& [key, value] : configs) {
        entries.push_back({.name = key, .value = value});
    }
    CreateTopicsRequest::CreatableTopic topic{.name = name, .num_partitions = partitions, .replication_factor = 1};
    topic.configs = entries;
    CreateTopicsRequest request;
    request.topics = {&topic, 1};
    const auto* answer = wire_.call<CreateTopicsResponse>(7, request);
    if (answer == nullptr || answer->topics.empty()) {
        return {};
    }
    return {answer->topics[0].error_code, answer->topics[0].topic_id};
}

ErrorCode PlainClient::delete_topic(const std::string& name) {
    DeleteTopicsRequest::DeleteTopicState topic{.name = name};
    DeleteTopicsRequest request{.timeout_ms = kTimeoutMs};
    request.topics = {&topic, 1};
    const auto* answer = wire_.call<DeleteTopicsResponse>(6, request);
    return answer != nullptr && !answer->responses.empty() ? answer->responses[0].error_code : ErrorCode::network_exception;
}

ErrorCode PlainClient::expand_topic(const std::string& name, int partitions) {
    CreatePartitionsRequest::CreatePartitionsTopic topic{.name = name, .count = partitions};
    topic.assignments = nullptr;
    CreatePartitionsRequest request{.timeout_ms = kTimeoutMs};
    request.topics = {&topic, 1};
    const auto* answer = wire_.call<CreatePartitionsResponse>(3, request);
    return answer != nullptr && !answer->results.empty() ? answer->results[0].error_code : ErrorCode::network_exception;
}

ErrorCode PlainClient::set_topic_config(const std::string& name, const std::string& key, const std::string& value) {
    constexpr std::int8_t kTopic = 2;
    IncrementalAlterConfigsRequest::AlterableConfig config{.name = key, .value = value};
    IncrementalAlterConfigsRequest::AlterConfigsResource resource{.resource_type = kTopic, .resource_name = name};
    resource.configs = {&config, 1};
    IncrementalAlterConfigsRequest request;
    request.resources = {&resource, 1};
    const auto* answer = wire_.call<IncrementalAlterConfigsResponse>(1, request);
    return answer != nullptr && !answer->responses.empty() ? answer->responses[0].error_code : ErrorCode::network_exception;
}

std::optional<std::map<std::string, TopicSeen>> PlainClient::metadata() {
    MetadataRequest request;
    request.topics = nullptr;
    const auto* answer = wire_.call<MetadataResponse>(12, request);
    if (answer == nullptr) {
        return std::nullopt;
    }
    std::map<std::string, TopicSeen> topics;
    for (const auto& topic : answer->topics) {
        topics[std::string(topic.name.value_or(""))] = {topic.topic_id, topic.partitions.count()};
    }
    return topics;
}

std::int64_t PlainClient::new_producer_id() {
    InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    const auto* answer = wire_.call<InitProducerIdResponse>(4, request);
    return answer != nullptr && answer->error_code == ErrorCode::none ? answer->producer_id : -1;
}

Produced PlainClient::produce(const std::string& topic, int partition, const std::vector<std::byte>& batch, int acks) {
    ProduceRequest::PartitionProduceData data{.index = partition, .records = Bytes(batch)};
    ProduceRequest::TopicProduceData wanted{.name = topic};
    wanted.partition_data = {&data, 1};
    ProduceRequest request;
    request.acks = static_cast<std::int16_t>(acks);
    request.timeout_ms = 30000;
    request.topic_data = {&wanted, 1};
    const auto* answer = wire_.call<ProduceResponse>(9, request);
    if (answer == nullptr || answer->responses.empty()) {
        return {};
    }
    const auto& reply = answer->responses[0].partition_responses[0];
    return {reply.error_code, reply.base_offset};
}

Produced PlainClient::produce_value(const std::string& topic, int partition, const std::string& value, std::int64_t producer_id,
                                    std::int32_t sequence, std::int64_t timestamp_ms) {
    BatchOptions options;
    if (producer_id >= 0) {
        options.producer_id = ProducerId{producer_id};
        options.producer_epoch = ProducerEpoch{0};
        options.base_sequence = Sequence{sequence};
    }
    BatchBuilder builder(options);
    builder.append(TimestampMs{timestamp_ms > 0 ? timestamp_ms : wall_ms()}, as_bytes("key"), as_bytes(value));
    std::vector<std::byte> batch;
    builder.build(batch);
    return produce(topic, partition, batch);
}

ErrorCode PlainClient::commit(const std::string& group, const std::string& topic, int partition, std::int64_t offset) {
    OffsetCommitRequest::Partition item{.partition_index = partition, .committed_offset = offset};
    OffsetCommitRequest::Topic wanted{.name = topic};
    wanted.partitions = {&item, 1};
    OffsetCommitRequest request;
    request.group_id = group;
    request.topics = {&wanted, 1};
    if (const ErrorCode error = find_coordinator(wire_, group); error != ErrorCode::none) {
        return error;
    }
    const auto* answer = wire_.call<OffsetCommitResponse>(8, request);
    return answer != nullptr && !answer->topics.empty() ? answer->topics[0].partitions[0].error_code
                                                        : ErrorCode::network_exception;
}

std::optional<std::int64_t> PlainClient::committed(const std::string& group, const std::string& topic, int partition) {
    std::int32_t index = partition;
    OffsetFetchRequest::Topic wanted{.name = topic};
    wanted.partition_indexes = {&index, 1};
    OffsetFetchRequest request;
    request.group_id = group;
    request.topics = {&wanted, 1};
    if (find_coordinator(wire_, group) != ErrorCode::none) {
        return std::nullopt;
    }
    const auto* answer = wire_.call<OffsetFetchResponse>(7, request);
    if (answer == nullptr || answer->error_code != ErrorCode::none || answer->topics.empty()) {
        return std::nullopt;
    }
    const auto& reply = answer->topics[0].partitions[0];
    if (reply.error_code != ErrorCode::none) {
        return std::nullopt;
    }
    return reply.committed_offset;
}

ErrorCode PlainClient::delete_records(const std::string& topic, int partition, std::int64_t before) {
    DeleteRecordsRequest::DeleteRecordsPartition item{.partition_index = partition, .offset = before};
    DeleteRecordsRequest::DeleteRecordsTopic wanted{.name = topic};
    wanted.partitions = {&item, 1};
    DeleteRecordsRequest request;
    request.topics = {&wanted, 1};
    const auto* answer = wire_.call<DeleteRecordsResponse>(2, request);
    return answer != nullptr && !answer->topics.empty() ? answer->topics[0].partitions[0].error_code
                                                        : ErrorCode::network_exception;
}

std::optional<std::int64_t> PlainClient::list_offset(const std::string& topic, int partition, std::int64_t timestamp) {
    ListOffsetsRequest::ListOffsetsPartition item{.partition_index = partition, .timestamp = timestamp};
    ListOffsetsRequest::ListOffsetsTopic wanted{.name = topic};
    wanted.partitions = {&item, 1};
    ListOffsetsRequest request;
    request.replica_id = -1;
    request.topics = {&wanted, 1};
    const auto* answer = wire_.call<ListOffsetsResponse>(7, request);
    if (answer == nullptr || answer->topics.empty()) {
        return std::nullopt;
    }
    const auto& reply = answer->topics[0].partitions[0];
    if (reply.error_code != ErrorCode::none) {
        return std::nullopt;
    }
    return reply.offset;
}

std::optional<std::vector<ReadRecord>> PlainClient::read_all(const std::string& topic, int partition, std::int64_t from) {
    std::vector<ReadRecord> records;
    while (true) {
        FetchRequest::FetchPartition item{.partition = partition, .fetch_offset = from, .partition_max_bytes = 1 << 20};
        FetchRequest::FetchTopic wanted{.topic = topic};
        wanted.partitions = {&item, 1};
        FetchRequest request;
        request.topics = {&wanted, 1};
        const auto* answer = wire_.call<FetchResponse>(12, request);
        if (answer == nullptr || answer->error_code != ErrorCode::none || answer->responses.empty()) {
            return std::nullopt;
        }
        const auto& data = answer->responses[0].partitions[0];
        if (data.error_code != ErrorCode::none) {
            return std::nullopt;
        }
        const std::int64_t before = from;
        BatchCursor cursor(data.records.bytes());
        while (cursor.next()) {
            if (!check_crc(cursor.batch())) {
                return std::nullopt;
            }
            const auto walked = for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
                if (record.offset.value >= from) {
                    records.push_back({record.offset.value, std::string(record.value ? as_text(*record.value) : "")});
                }
            });
            if (!walked) {
                return std::nullopt;
            }
            from = cursor.batch().header.next_offset().value;
        }
        if (from == before) {
            return records;
        }
    }
}

bool poll_until(bool (*condition)(void*), void* argument, double seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!condition(argument)) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(kPollStep);
    }
    return true;
}

std::uint64_t disk_usage(const std::filesystem::path& directory) {
    std::uint64_t bytes = 0;
    std::error_code error;
    // A directory may vanish meanwhile; its error ends the walk.
    for (std::filesystem::recursive_directory_iterator entry(directory, error); entry != decltype(entry)();
         entry.increment(error)) {
        struct stat status{};
        if (::stat(entry->path().c_str(), &status) == 0) {
            bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
        }
    }
    return bytes;
}

bool long_tests() { return std::getenv("PARTITA_LONG_TESTS") != nullptr; }

std::int64_t wall_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace partita::test
