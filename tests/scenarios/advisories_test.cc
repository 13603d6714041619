// Tries the attacks that advisories about Kafka and its peers describe, by their numbers: those before a login, and those on
// permissions. The tests of compression and record formats (protocol/compression_test.cc, bad_input_test.cc) cover the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/sasl_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// The beginning of a request of ApiVersions v3: key, version, correlation id, no client id. Tagged fields follow.
constexpr std::string_view kFlexibleHeader("\0\x12\0\x03\0\0\0\x01\xff\xff", 10);

void append_varint(std::string& bytes, std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) {
        bytes.push_back(static_cast<char>((value & 0x7f) | 0x80));
    }
    bytes.push_back(static_cast<char>(value));
}

/// Expects that the broker still serves a new client.
void expect_served(BrokerProcess& broker) {
    WireClient client(broker.port());
    const auto* const answer = plain_login(client, "alice", "alice-secret");
    ASSERT_NE(answer, nullptr) << client.failure();
    EXPECT_EQ(answer->error_code, ErrorCode::none);
}

TEST(Advisories, Cve2022_34917_BeforeALoginMemoryFollowsWhatCameAndNotWhatIsAnnounced) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    expect_served(*broker);
    const std::int64_t before_kib = broker->resident_kib();
    constexpr int kStrangers = 500;
    std::vector<std::unique_ptr<WireClient>> strangers;
    for (int each = 0; each < kStrangers; ++each) {
        strangers.push_back(std::make_unique<WireClient>(broker->port()));
        // The client announces 512 KiB, which is allowed, and sends a few bytes.
        ASSERT_TRUE(strangers.back()->send(bytes_of(std::string_view("\0\x08\0\0\0\x24\0\2", 8))));
    }
    expect_served(*broker);
    EXPECT_LT(broker->resident_kib() - before_kib, kStrangers * 16 * patience()) << "KiB for 500 strangers";
    // One byte more is too many for a login.
    WireClient larger(broker->port());
    ASSERT_TRUE(larger.send(bytes_of(std::string_view("\0\x08\0\1", 4))));
    EXPECT_TRUE(larger.is_closed_within());
    EXPECT_TRUE(broker->wait_for_output("sasl.server.max.receive.size"));
}

TEST(Advisories, Cve2026_111115_TaggedFieldsBeforeALoginAreSkippedAndNotKept) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    expect_served(*broker);
    const std::int64_t before_kib = broker->resident_kib();
    // As many fields as a request before the login has room for, each empty.
    std::string bomb(kFlexibleHeader);
    constexpr std::uint32_t kFields = 100'000;
    append_varint(bomb, kFields);
    for (std::uint32_t tag = 0; tag < kFields; ++tag) {
        append_varint(bomb, tag);
        bomb.push_back('\0');
    }
    bomb += std::string_view("\2x\2y\0", 5);
    ASSERT_LT(bomb.size(), 500'000u);
    for (int each = 0; each < 20; ++each) {
        WireClient stranger(broker->port());
        ASSERT_TRUE(stranger.send(frame_of(bytes_of(bomb))));
        EXPECT_TRUE(stranger.receive() || stranger.was_closed());
    }
    // A count beyond the number of bytes.
    std::string lie(kFlexibleHeader);
    append_varint(lie, 0x7fff'ffff);
    WireClient liar(broker->port());
    ASSERT_TRUE(liar.send(frame_of(bytes_of(lie))));
    EXPECT_TRUE(liar.is_closed_within());
    expect_served(*broker);
    EXPECT_LT(broker->resident_kib() - before_kib, 16 * 1024 * patience());
}

TEST(Advisories, Cve2026_111108_LengthsInALoginThatAreNotThereAreRefused) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    const std::int64_t before_kib = broker->resident_kib();
    for (int each = 0; each < 20; ++each) {
        // SaslHandshake with a name of 32,767 bytes, of which three came.
        WireClient name(broker->port());
        ASSERT_TRUE(
            name.send(frame_of(bytes_of(std::string_view("\0\x11\0\1\0\0\0\1\xff\xff\x7f\xff"
                                                         "abc",
                                                         15)))));
        EXPECT_TRUE(name.is_closed_within());
        // SaslAuthenticate that announces two thousand million bytes.
        WireClient token(broker->port());
        ASSERT_NE(shake_hands(token, "PLAIN"), nullptr);
        ASSERT_TRUE(
            token.send(frame_of(bytes_of(std::string_view("\0\x24\0\1\0\0\0\2\xff\xff\x7f\xff\xff\xff"
                                                          "abc",
                                                          17)))));
        EXPECT_TRUE(token.is_closed_within());
    }
    expect_served(*broker);
    EXPECT_LT(broker->resident_kib() - before_kib, 8 * 1024 * patience());
}

TEST(Advisories, Cve2017_12610_NobodyIsSomebodyElseByWhatHeSays) {
    const auto broker = start_with_logins({"connection.failed.authentication.delay.ms=0",
                                           "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
                                           "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config=" + std::string(kPackage) +
                                               "oauthbearer.OAuthBearerLoginModule required;"});
    ASSERT_NE(broker, nullptr);
    const auto said = [&](std::string_view mechanism, std::string_view token) -> std::string {
        WireClient client(broker->port());
        if (shake_hands(client, mechanism) == nullptr) {
            return "no handshake";
        }
        const SaslAuthenticateResponse* const answer = say(client, token);
        if (answer == nullptr) {
            return "closed";
        }
        return answer->error_code == ErrorCode::none ? "" : std::string(answer->error_message.value_or("refused"));
    };
    EXPECT_THAT(said("PLAIN", std::string_view("admin\0alice\0alice-secret", 24)),
                HasSubstr("authorization id that is different from username"));
    EXPECT_EQ(said("PLAIN", std::string_view("alice\0alice\0alice-secret", 24)), "");
    // One more name behind the password.
    EXPECT_NE(said("PLAIN", std::string_view("\0alice\0alice-secret\0admin", 25)), "");
    EXPECT_NE(said("SCRAM-SHA-256", "n,a=admin,n=alice,r=nonce"), "");
}

/// Starts a broker with rules, which do not bind admin.
std::unique_ptr<BrokerProcess> start_with_rules() {
    return start_with_logins(
        {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users=User:admin"});
}

bool allow(WireClient& admin, std::int8_t operation, std::int8_t type, std::string_view name) {
    std::array creations{CreateAclsRequest::AclCreation{.resource_type = type,
                                                        .resource_name = name,
                                                        .resource_pattern_type = 3,
                                                        .principal = "User:alice",
                                                        .host = "*",
                                                        .operation = operation,
                                                        .permission_type = 3}};
    const auto* const created = admin.call<CreateAclsResponse>(2, CreateAclsRequest{.creations = creations});
    return created != nullptr && created->results.size == 1 && created->results[0].error_code == ErrorCode::none;
}

constexpr std::int8_t kRead = 3;
constexpr std::int8_t kWrite = 4;
constexpr std::int8_t kTopic = 2;

TEST(Advisories, Cve2018_17196_NoProduceOfATransactionPassesWithoutItsPermission) {
    const auto broker = start_with_rules();
    ASSERT_NE(broker, nullptr);
    WireClient admin(broker->port());
    ASSERT_EQ(plain_login(admin, "admin", "admin-secret")->error_code, ErrorCode::none);
    ASSERT_TRUE(create_topic(admin, "t", 1));
    ASSERT_TRUE(allow(admin, kWrite, kTopic, "t"));
    WireClient alice(broker->port());
    ASSERT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    const auto outcome = [&](std::optional<std::string_view> transactional_id, bool is_transactional) {
        BatchBuilder builder(is_transactional ? BatchOptions{.producer_id = ProducerId{7},
                                                             .producer_epoch = ProducerEpoch{0},
                                                             .base_sequence = Sequence{0},
                                                             .transactional = true}
                                              : BatchOptions());
        builder.append(TimestampMs{1}, as_bytes("k"), as_bytes("v"));
        std::vector<std::byte> batch;
        builder.build(batch);
        ProduceRequest::PartitionProduceData partition{.index = 0, .records = Bytes(batch)};
        ProduceRequest::TopicProduceData topic{.name = "t"};
        topic.partition_data = {&partition, 1};
        ProduceRequest request{.transactional_id = transactional_id, .acks = -1, .timeout_ms = 10'000};
        request.topic_data = {&topic, 1};
        const auto* const reply = alice.call<ProduceResponse>(7, request);
        return reply == nullptr ? ErrorCode::network_exception : reply->responses[0].partition_responses[0].error_code;
    };
    EXPECT_EQ(outcome(std::nullopt, false), ErrorCode::none);
    EXPECT_EQ(outcome("somebody's", true), ErrorCode::transactional_id_authorization_failed);
    EXPECT_EQ(outcome(std::nullopt, true), ErrorCode::transactional_id_authorization_failed) << "the batch says what it is";
}

TEST(Advisories, Cve2018_1288_AClientThatCallsItselfAReplicaIsNone) {
    const auto broker = start_with_rules();
    ASSERT_NE(broker, nullptr);
    WireClient admin(broker->port());
    ASSERT_EQ(plain_login(admin, "admin", "admin-secret")->error_code, ErrorCode::none);
    ASSERT_TRUE(create_topic(admin, "t", 1));
    std::array values{std::string("v")};
    ASSERT_EQ(produce(admin, "t", 0, make_batch(values)), ErrorCode::none);
    ASSERT_TRUE(allow(admin, kRead, kTopic, "t"));
    const auto fetch = [](WireClient& client, std::int32_t replica, std::int64_t offset) -> std::pair<ErrorCode, std::int64_t> {
        std::array partitions{FetchRequest::FetchPartition{.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1000}};
        std::array topics{FetchRequest::FetchTopic{.topic = "t", .partitions = partitions}};
        const auto* const reply = client.call<FetchResponse>(
            4, FetchRequest{.replica_id = replica, .max_wait_ms = 0, .max_bytes = 1000, .topics = topics});
        if (reply == nullptr) {
            return {ErrorCode::network_exception, -1};
        }
        const auto& partition = reply->responses[0].partitions[0];
        return {partition.error_code, partition.high_watermark};
    };
    WireClient alice(broker->port());
    ASSERT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    EXPECT_EQ(fetch(alice, -1, 0), (std::pair{ErrorCode::none, std::int64_t{1}}));
    EXPECT_EQ(fetch(alice, 5, 0).first, ErrorCode::topic_authorization_failed) << "only brokers may be replicas";
    // Fetches of a client that may do everything disturb nothing, either.
    (void)fetch(admin, 5, 0);
    (void)fetch(admin, 1, 1);
    EXPECT_EQ(fetch(alice, -1, 0), (std::pair{ErrorCode::none, std::int64_t{1}}));
    EXPECT_EQ(produce(admin, "t", 0, make_batch(values)), ErrorCode::none);
    EXPECT_EQ(fetch(alice, -1, 0), (std::pair{ErrorCode::none, std::int64_t{2}}));
}

// CVE-2023-25194, CVE-2025-27817, CVE-2025-27818: classes that look names up elsewhere, and URLs that the broker then reads.
TEST(Advisories, Cve2025_27818_NoClassAndNoUrlComesIntoTheBrokerByAlteredConfigs) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    WireClient admin(broker->port());
    ASSERT_EQ(plain_login(admin, "admin", "admin-secret")->error_code, ErrorCode::none);
    const auto alter = [&](std::string_view name, std::string_view value) {
        std::array changes{IncrementalAlterConfigsRequest::AlterableConfig{.name = name, .config_operation = 0, .value = value}};
        std::array resources{
            IncrementalAlterConfigsRequest::AlterConfigsResource{.resource_type = 4, .resource_name = "1", .configs = changes}};
        const auto* const reply =
            admin.call<IncrementalAlterConfigsResponse>(1, IncrementalAlterConfigsRequest{.resources = resources});
        return reply == nullptr ? ErrorCode::network_exception : reply->responses[0].error_code;
    };
    const std::string prefix = "listener.name.sasl_plaintext.";
    for (const std::string module :
         {"com.sun.security.auth.module.JndiLoginModule", "com.sun.security.auth.module.LdapLoginModule"}) {
        EXPECT_EQ(alter(prefix + "plain.sasl.jaas.config", module + " required user.provider.url=\"ldap://127.0.0.1:1/x\";"),
                  ErrorCode::invalid_request)
            << module;
    }
    for (const std::string& name :
         {prefix + "oauthbearer.sasl.oauthbearer.jwks.endpoint.url", prefix + "sasl.oauthbearer.jwks.endpoint.url",
          std::string("sasl.oauthbearer.jwks.endpoint.url")}) {
        EXPECT_EQ(alter(name, "file:///etc/passwd"), ErrorCode::invalid_request) << name;
    }
    EXPECT_EQ(alter(prefix + "plain.sasl.server.callback.handler.class", "no.such.Handler"), ErrorCode::invalid_request);
}

}  // namespace
}  // namespace partita::test
