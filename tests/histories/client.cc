#include "tests/histories/client.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/record_batch.h"

namespace partita::test::histories {

namespace {
std::atomic<int> clients = 0;
}  // namespace

void expect_none(ErrorCode error, const std::string& what) {
    if (error != ErrorCode::none) {
        throw Failure{what + ": error " + std::to_string(static_cast<int>(error))};
    }
}

Client::Client(std::uint16_t port, const Caller& caller, std::string topic)
    : caller_(caller), number_(++clients), topic_(std::move(topic)), data_(port, caller), coordinator_(port, caller) {
    introduce(data_);
    introduce(coordinator_);
}

void Client::introduce(WireClient& wire) {
    if (!wire.is_connected()) {
        throw Failure{"the broker cannot be reached"};
    }
    const ApiVersionsRequest request{.client_software_name = "history", .client_software_version = "1.0"};
    expect_none(call<ApiVersionsResponse>(wire, 3, request).error_code, "ApiVersions");
}

int Client::partition_count() {
    std::array topics{MetadataRequest::Topic{.name = topic_}};
    const auto& response =
        call<MetadataResponse>(data_, 12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false});
    if (response.topics.count() != 1) {
        throw Failure{"Metadata does not tell of the topic"};
    }
    expect_none(response.topics[0].error_code, "Metadata");
    return static_cast<int>(response.topics[0].partitions.count());
}

std::int64_t Client::produce(int partition, const std::vector<std::byte>& batch) {
    std::int64_t offset = -1;
    const auto error = test::produce(data_, topic_, partition, batch, &offset);
    if (!error) {
        throw Failure{"Produce found no answer: " + data_.failure()};
    }
    expect_none(*error, "Produce");
    return offset;
}

std::int64_t Client::new_producer_id() {
    InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    const auto& response = call<InitProducerIdResponse>(data_, 4, request);
    expect_none(response.error_code, "InitProducerId");
    return response.producer_id;
}

std::int64_t Client::list_offset(int partition, std::int64_t timestamp) {
    std::array partitions{ListOffsetsRequest::ListOffsetsPartition{.partition_index = partition, .timestamp = timestamp}};
    std::array topics{ListOffsetsRequest::ListOffsetsTopic{.name = topic_, .partitions = partitions}};
    const auto& response = call<ListOffsetsResponse>(data_, 7, ListOffsetsRequest{.replica_id = -1, .topics = topics});
    expect_none(response.topics[0].partitions[0].error_code, "ListOffsets");
    return response.topics[0].partitions[0].offset;
}

Client::Fetched Client::fetch(const Offsets& positions, int partition_max_bytes) {
    std::vector<FetchRequest::FetchPartition> partitions;
    for (const auto& [partition, position] : positions) {
        partitions.push_back({.partition = partition, .fetch_offset = position, .partition_max_bytes = partition_max_bytes});
    }
    std::array topics{FetchRequest::FetchTopic{.topic = topic_, .partitions = partitions}};
    const auto& response = call<FetchResponse>(data_, 12, FetchRequest{.topics = topics});
    expect_none(response.error_code, "Fetch");
    Fetched fetched;
    for (const auto& data :
         response.responses.count() == 0 ? Array<FetchResponse::PartitionData>() : response.responses[0].partitions) {
        if (data.error_code == ErrorCode::offset_out_of_range) {
            fetched.out_of_range.insert(data.partition_index);
            continue;
        }
        expect_none(data.error_code, "Fetch of partition " + std::to_string(data.partition_index));
        BatchCursor cursor(data.records.bytes());
        while (cursor.next()) {
            const auto walked = for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
                if (record.offset.value >= positions.at(data.partition_index)) {
                    fetched.offsets[data.partition_index].push_back(record.offset.value);
                }
            });
            if (!walked) {
                throw Failure{"a batch that was fetched is damaged"};
            }
        }
    }
    return fetched;
}

Offsets Client::committed(const std::string& group, const Partitions& partitions) {
    const std::vector<std::int32_t> indexes(partitions.begin(), partitions.end());
    std::array topics{OffsetFetchRequest::Topics{.name = topic_, .partition_indexes = indexes}};
    std::array groups{OffsetFetchRequest::Group{.group_id = group, .member_id = std::nullopt, .topics = topics}};
    const auto& response = call<OffsetFetchResponse>(coordinator_, 9, OffsetFetchRequest{.groups = groups});
    expect_none(response.groups[0].error_code, "OffsetFetch");
    Offsets offsets;
    if (response.groups[0].topics.count() == 0) {
        return offsets;
    }
    for (const auto& partition : response.groups[0].topics[0].partitions) {
        expect_none(partition.error_code, "OffsetFetch of a partition");
        offsets[partition.partition_index] = partition.committed_offset;
    }
    return offsets;
}

}  // namespace partita::test::histories
