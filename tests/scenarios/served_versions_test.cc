// Tests every API that the broker serves, in every version that it accepts. Each request gets one reply, which decodes in that
// version with nothing left over, whatever the request holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/23_offset_for_leader_epoch.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/33_alter_configs.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/42_delete_groups.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/46_list_partition_reassignments.h"
#include "protocol/messages/47_offset_delete.h"
#include "protocol/messages/60_describe_cluster.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/wire_client.h"
#include "tests/unit/protocol/message_generator.h"

namespace partita::test {
namespace {

using testing::MessageGenerator;

constexpr std::string_view kTopic = "versions";
constexpr std::string_view kGroup = "members";

class ServedVersions : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = BrokerProcess::start();
        ASSERT_NE(broker_, nullptr);
        client_.emplace(broker_->port());
        ASSERT_TRUE(create_topic(*client_, kTopic, 3));
        topic_id_ = topic_id_of(*client_, kTopic).value_or(TopicId{});
        values_.assign(4, std::string(300, 'v'));
    }

    void TearDown() override {
        ASSERT_TRUE(broker_->is_running());
        EXPECT_EQ(broker_->count_in_output("cannot encode a reply"), 0u) << broker_->output();
        EXPECT_EQ(broker_->stop().exit_code, 0);
    }

    /// Returns the versions that ApiVersions states.
    std::map<std::int16_t, Versions> advertised() {
        const ApiVersionsRequest request{.client_software_name = "scenario", .client_software_version = "1"};
        const auto* response = client_->call<ApiVersionsResponse>(4, request);
        EXPECT_NE(response, nullptr) << client_->failure();
        std::map<std::int16_t, Versions> versions;
        for (const auto& api : response->api_keys) {
            versions[api.api_key] = {api.min_version, api.max_version};
        }
        return versions;
    }

    /// Returns the versions that the broker accepts: it states Produce below 3 for the sake of a client, but does not serve it.
    static Versions accepted(std::int16_t key, Versions stated) {
        return {std::max(stated.first, find_api(key)->versions.first), stated.last};
    }

    void expect_answer(const ApiInfo& api, std::int16_t version, const void* request, const std::string& what) {
        if (!client_->is_connected()) {
            client_.emplace(broker_->port());
        }
        if (client_->call(api, version, request) == nullptr) {
            ADD_FAILURE() << api.name << " v" << version << " " << what << ": " << client_->failure() << "\n"
                          << to_text(*api.request, request, version);
            ASSERT_TRUE(broker_->is_running());
            client_.emplace(broker_->port());
        }
    }

    std::unique_ptr<BrokerProcess> broker_;
    std::optional<WireClient> client_;
    TopicId topic_id_;
    std::vector<std::string> values_;
};

/// Shortens waits. Requests with acks=0 have no reply.
void make_answerable(const ApiInfo& api, void* request) {
    if (api.key == ApiKey::fetch) {
        auto& fetch = *static_cast<FetchRequest*>(request);
        fetch.max_wait_ms = std::min(fetch.max_wait_ms, 5);
    }
    if (api.key == ApiKey::produce) {
        auto& produce = *static_cast<ProduceRequest*>(request);
        produce.acks = produce.acks == 0 ? std::int16_t{1} : produce.acks;
    }
}

TEST_F(ServedVersions, AreTheAdvertisedOnesAndClientsSeeWhatTheyNeed) {
    const auto versions = advertised();
    EXPECT_EQ(versions.at(0).first, kAdvertisedProduceMinVersion);
    for (const auto& [key, range] : versions) {
        const ApiInfo* api = find_api(key);
        ASSERT_NE(api, nullptr) << key;
        EXPECT_EQ(range.last, api->latest_version(false)) << api->name;
        if (key != 0) {
            EXPECT_EQ(range.first, api->versions.first) << api->name;
        }
    }
    // Everything that clients of classic groups and admin tools ask for.
    for (const std::int16_t key :
         {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 32, 37, 42, 44, 47, 60}) {
        EXPECT_TRUE(versions.contains(key)) << key;
    }
}

TEST_F(ServedVersions, AnswerGeneratedRequestsInEveryVersion) {
    for (const auto& [key, stated] : advertised()) {
        const ApiInfo& api = *find_api(key);
        const Versions range = accepted(key, stated);
        for (std::int16_t version = range.first; version <= range.last; ++version) {
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                Arena arena;
                void* request = arena.allocate_unlimited(api.request->size, api.request->alignment);
                MessageGenerator(seed * 1000 + static_cast<std::uint64_t>(key), arena).generate(*api.request, version, request);
                make_answerable(api, request);
                expect_answer(api, version, request, "generated with seed " + std::to_string(seed));
            }
        }
    }
}

TEST_F(ServedVersions, AnswerDefaultRequestsInEveryVersion) {
    for (const auto& [key, stated] : advertised()) {
        const ApiInfo& api = *find_api(key);
        const Versions range = accepted(key, stated);
        for (std::int16_t version = range.first; version <= range.last; ++version) {
            Arena arena;
            void* request = arena.allocate_unlimited(api.request->size, api.request->alignment);
            std::memcpy(request, api.request->defaults, api.request->size);
            make_answerable(api, request);
            ByteBuffer probe;
            if (!encode(*api.request, request, version, probe)) {
                continue;  // A null that the version does not have.
            }
            expect_answer(api, version, request, "with all defaults");
        }
    }
}

TEST_F(ServedVersions, OutsideOfTheRangeCloseTheConnection) {
    for (const auto& [key, stated] : advertised()) {
        const ApiInfo& api = *find_api(key);
        const Versions range = accepted(key, stated);
        for (const int version : {range.first - 1, range.last + 1, 32767, -1}) {
            if (api.key == ApiKey::api_versions) {
                continue;  // Answered, see below.
            }
            std::vector<std::byte> content(64);
            store_big_endian(content.data(), key);
            store_big_endian(content.data() + 2, static_cast<std::int16_t>(version));
            WireClient client(broker_->port());
            ASSERT_TRUE(client.send(frame_of(content)));
            EXPECT_FALSE(client.receive().has_value()) << api.name << " v" << version;
            EXPECT_TRUE(client.was_closed()) << api.name << " v" << version;
        }
    }
}

TEST_F(ServedVersions, ApisThatAreNotServedCloseTheConnection) {
    const auto versions = advertised();
    for (int key = -2; key < 100; ++key) {
        if (versions.contains(static_cast<std::int16_t>(key))) {
            continue;
        }
        for (const std::int16_t version : {std::int16_t{0}, std::int16_t{1}}) {
            std::vector<std::byte> content(64);
            store_big_endian(content.data(), static_cast<std::int16_t>(key));
            store_big_endian(content.data() + 2, version);
            WireClient client(broker_->port());
            ASSERT_TRUE(client.send(frame_of(content)));
            EXPECT_FALSE(client.receive().has_value()) << key;
            EXPECT_TRUE(client.was_closed()) << key;
        }
    }
}

TEST_F(ServedVersions, ApiVersionsFromTheFutureIsAnsweredInVersionZero) {
    for (const std::int16_t version : {std::int16_t{6}, std::int16_t{99}, std::int16_t{32767}}) {
        // Header v2, then a body that the broker cannot read.
        ByteBuffer content;
        content.append_big_endian(std::int16_t{18});
        content.append_big_endian(version);
        content.append_big_endian(std::int32_t{77});
        content.append_big_endian(std::int16_t{3});
        content.append(std::as_bytes(std::span("abc", 3)));
        content.append_big_endian(std::int8_t{0});
        content.append(bytes_of("\xff\xff\xff\xff\xff unreadable"));
        WireClient client(broker_->port());
        ASSERT_TRUE(client.send(frame_of(content.bytes())));
        const auto* response = static_cast<const ApiVersionsResponse*>(
            client.read_reply(*find_api(ApiKey::api_versions), 0, 77, WireClient::kPatience));
        ASSERT_NE(response, nullptr) << client.failure();
        EXPECT_EQ(response->error_code, ErrorCode::unsupported_version);
        ASSERT_EQ(response->api_keys.count(), 1u);
        EXPECT_EQ(response->api_keys[0].api_key, 18);
        EXPECT_EQ(response->api_keys[0].max_version, find_api(ApiKey::api_versions)->latest_version(false));
        // The connection goes on: the client tries the version that it was told.
        const ApiVersionsRequest again{.client_software_name = "scenario", .client_software_version = "1"};
        EXPECT_NE(client.call<ApiVersionsResponse>(response->api_keys[0].max_version, again), nullptr) << client.failure();
    }
}

/// Requests that succeed, so that replies with content are encoded in every version too.
class Sensible {
  public:
    Sensible(TopicId topic_id, std::span<const std::string> values, std::string& member_id)
        : topic_id_(topic_id), member_id_(member_id), batch_(make_batch(values)) {}

    /// The struct of the API; none for APIs that need no content.
    const void* make(const ApiInfo& api, std::int16_t version);

  private:
    template <class T>
    T* keep(T value) {
        return new (arena_.allocate_unlimited(sizeof(T), alignof(T))) T(value);
    }
    template <class T>
    Array<T> one(T value) {
        return Array<T>(keep(value), 1);
    }

    TopicId topic_id_;
    std::string& member_id_;
    std::vector<std::byte> batch_;
    std::string scratch_name_;
    Arena arena_;
};

const void* Sensible::make(const ApiInfo& api, std::int16_t version) {
    scratch_name_ = "made-by-" + std::to_string(static_cast<int>(api.key)) + "-v" + std::to_string(version);
    const std::string_view scratch = scratch_name_;
    switch (api.key) {
        case ApiKey::produce: {
            ProduceRequest::TopicProduceData topic;
            (version >= 13 ? static_cast<void>(topic.topic_id = topic_id_) : static_cast<void>(topic.name = kTopic));
            Array<ProduceRequest::PartitionProduceData> partitions(
                static_cast<ProduceRequest::PartitionProduceData*>(
                    arena_.allocate_unlimited(2 * sizeof(ProduceRequest::PartitionProduceData), 8)),
                2);
            partitions[0] = {.index = 0, .records = Records(Bytes(batch_))};
            partitions[1] = {.index = 1, .records = Records(Bytes(batch_).first(70))};  // The broker refuses this, with texts.
            topic.partition_data = partitions;
            return keep(ProduceRequest{.acks = 1, .timeout_ms = 1000, .topic_data = one(topic)});
        }
        case ApiKey::fetch: {
            FetchRequest::FetchTopic topic;
            (version >= 13 ? static_cast<void>(topic.topic_id = topic_id_) : static_cast<void>(topic.topic = kTopic));
            topic.partitions = one(FetchRequest::FetchPartition{.partition = 0, .partition_max_bytes = 1 << 20});
            return keep(FetchRequest{.max_wait_ms = 5,
                                     .min_bytes = 1,
                                     .isolation_level = static_cast<std::int8_t>(version % 2),
                                     .session_epoch = version >= 7 ? 0 : -1,
                                     .topics = one(topic)});
        }
        case ApiKey::list_offsets: {
            const std::int64_t timestamp = version >= 7 ? -3 : -1;
            return keep(ListOffsetsRequest{
                .replica_id = -1,
                .topics = one(ListOffsetsRequest::ListOffsetsTopic{
                    .name = kTopic, .partitions = one(ListOffsetsRequest::ListOffsetsPartition{.timestamp = timestamp})})});
        }
        case ApiKey::metadata:
            return keep(
                MetadataRequest{.topics = version >= 1 ? Array<MetadataRequest::Topic>(nullptr) : Array<MetadataRequest::Topic>(),
                                .include_cluster_authorized_operations = version >= 8 && version <= 10,
                                .include_topic_authorized_operations = version >= 8});
        case ApiKey::find_coordinator: {
            FindCoordinatorRequest request;
            (version >= 4 ? static_cast<void>(request.coordinator_keys = one(kGroup)) : static_cast<void>(request.key = kGroup));
            return keep(request);
        }
        case ApiKey::join_group:
            return keep(JoinGroupRequest{
                .group_id = kGroup,
                .session_timeout_ms = 6000,
                .rebalance_timeout_ms = version >= 1 ? 200 : -1,
                .member_id = member_id_,
                .protocol_type = "consumer",
                .protocols = one(JoinGroupRequest::Protocol{.name = "range", .metadata = Bytes(batch_).first(10)})});
        case ApiKey::offset_commit: {
            OffsetCommitRequest::Topic topic;
            (version >= 10 ? static_cast<void>(topic.topic_id = topic_id_) : static_cast<void>(topic.name = kTopic));
            topic.partitions = one(OffsetCommitRequest::Partition{.committed_offset = 3});
            return keep(OffsetCommitRequest{.group_id = "simple", .topics = one(topic)});
        }
        case ApiKey::offset_fetch: {
            OffsetFetchRequest request;
            if (version < 8) {
                request.group_id = "simple";
                request.topics = one(OffsetFetchRequest::Topic{.name = kTopic, .partition_indexes = one(0)});
            } else {
                OffsetFetchRequest::Topics topic{.partition_indexes = one(0)};
                (version >= 10 ? static_cast<void>(topic.topic_id = topic_id_) : static_cast<void>(topic.name = kTopic));
                request.groups = one(OffsetFetchRequest::Group{.group_id = "simple", .topics = one(topic)});
            }
            return keep(request);
        }
        case ApiKey::describe_groups:
            return keep(DescribeGroupsRequest{.groups = one(kGroup), .include_authorized_operations = version >= 3});
        case ApiKey::create_topics:
            return keep(CreateTopicsRequest{
                .topics = one(CreateTopicsRequest::CreatableTopic{
                    .name = scratch,
                    .num_partitions = 2,
                    .replication_factor = 1,
                    .configs = one(CreateTopicsRequest::CreatableTopicConfig{.name = "retention.ms", .value = "1000000"})})});
        case ApiKey::delete_topics: {
            DeleteTopicsRequest request{.timeout_ms = 30'000};
            if (version >= 6) {
                request.topics = one(DeleteTopicsRequest::DeleteTopicState{.name = "no-such-topic"});
            } else {
                request.topic_names = one(std::string_view("no-such-topic"));
            }
            return keep(request);
        }
        case ApiKey::delete_records:
            return keep(DeleteRecordsRequest{
                .topics = one(DeleteRecordsRequest::DeleteRecordsTopic{
                    .name = kTopic, .partitions = one(DeleteRecordsRequest::DeleteRecordsPartition{.offset = 1})})});
        case ApiKey::init_producer_id:
            return keep(InitProducerIdRequest{.transactional_id = std::nullopt, .transaction_timeout_ms = 1000});
        case ApiKey::offset_for_leader_epoch:
            return keep(OffsetForLeaderEpochRequest{
                .topics = one(OffsetForLeaderEpochRequest::OffsetForLeaderTopic{
                    .topic = kTopic, .partitions = one(OffsetForLeaderEpochRequest::OffsetForLeaderPartition{})})});
        case ApiKey::describe_configs:
            return keep(DescribeConfigsRequest{.resources = one(DescribeConfigsRequest::DescribeConfigsResource{
                                                   .resource_type = 2, .resource_name = kTopic, .configuration_keys = nullptr}),
                                               .include_synonyms = true,
                                               .include_documentation = version >= 3});
        case ApiKey::alter_configs:
            return keep(AlterConfigsRequest{
                .resources = one(AlterConfigsRequest::AlterConfigsResource{
                    .resource_type = 2,
                    .resource_name = kTopic,
                    .configs = one(AlterConfigsRequest::AlterableConfig{.name = "retention.ms", .value = "900000"})})});
        case ApiKey::incremental_alter_configs:
            return keep(IncrementalAlterConfigsRequest{.resources = one(IncrementalAlterConfigsRequest::AlterConfigsResource{
                                                           .resource_type = 2,
                                                           .resource_name = kTopic,
                                                           .configs = one(IncrementalAlterConfigsRequest::AlterableConfig{
                                                               .name = "retention.ms", .value = "900000"})})});
        case ApiKey::create_partitions:
            return keep(CreatePartitionsRequest{.topics = one(CreatePartitionsRequest::CreatePartitionsTopic{
                                                    .name = kTopic, .count = 4 + version, .assignments = nullptr}),
                                                .timeout_ms = 30'000});
        case ApiKey::offset_delete:
            return keep(OffsetDeleteRequest{
                .group_id = "simple",
                .topics = one(OffsetDeleteRequest::Topic{.name = kTopic, .partitions = one(OffsetDeleteRequest::Partition{})})});
        case ApiKey::describe_topic_partitions:
            return keep(DescribeTopicPartitionsRequest{
                .topics = one(DescribeTopicPartitionsRequest::TopicRequest{.name = kTopic}), .response_partition_limit = 2});
        case ApiKey::list_partition_reassignments:
            return keep(ListPartitionReassignmentsRequest{});
        default:
            return nullptr;
    }
}

/// Joins until the group is stable, and leaves the member id in `member_id`.
void join_once(WireClient& client, std::string& member_id) {
    const std::array protocols{JoinGroupRequest::Protocol{.name = "range"}};
    JoinGroupRequest join{.group_id = kGroup,
                          .session_timeout_ms = 30000,
                          .rebalance_timeout_ms = 200,
                          .protocol_type = "consumer",
                          .protocols = protocols};
    ASSERT_EQ(find_coordinator(client, kGroup), ErrorCode::none);
    const auto* first = client.call<JoinGroupResponse>(4, join);
    ASSERT_NE(first, nullptr) << client.failure();
    ASSERT_EQ(first->error_code, ErrorCode::member_id_required);
    member_id = first->member_id;
    join.member_id = member_id;
    const auto* second = client.call<JoinGroupResponse>(4, join);
    ASSERT_NE(second, nullptr) << client.failure();
    ASSERT_EQ(second->error_code, ErrorCode::none);
}

TEST_F(ServedVersions, AnswerRequestsThatSucceedInEveryVersion) {
    std::string member_id;
    join_once(*client_, member_id);
    for (const auto& [key, stated] : advertised()) {
        const ApiInfo& api = *find_api(key);
        const Versions range = accepted(key, stated);
        for (std::int16_t version = range.first; version <= range.last; ++version) {
            Sensible sensible(topic_id_, values_, member_id);
            if (const void* request = sensible.make(api, version)) {
                expect_answer(api, version, request, "that succeeds");
            }
        }
    }
}

}  // namespace
}  // namespace partita::test
