// Tests clients that have to log in by SASL, byte by byte: what Kafka answers, what ends a connection and when, and what others
// notice of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "broker/authentication/crypto.h"
#include "broker/authentication/plain.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/17_sasl_handshake.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/36_sasl_authenticate.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"
#include "tests/support/sasl_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using authentication::Hash;
using authentication::plain_token;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

std::string scram_bytes(std::string_view password) {
    return authentication::salted_password(Hash::sha_256, password, "salt", 4096);
}

TEST(Login, WhoKnowsThePasswordIsServed) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_NE(client.call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr);
    const SaslHandshakeResponse* const hands = shake_hands(client, "PLAIN");
    ASSERT_NE(hands, nullptr);
    EXPECT_EQ(hands->error_code, ErrorCode::none);
    EXPECT_EQ(broker->metric("kafka_server_socketservermetrics_successful_authentication_total"), 0);
    EXPECT_THAT(std::vector<std::string_view>(hands->mechanisms.begin(), hands->mechanisms.end()),
                ElementsAre("PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"));
    const SaslAuthenticateResponse* const answer = say(client, plain_token("alice", "alice-secret"));
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->error_code, ErrorCode::none);
    EXPECT_EQ(answer->session_lifetime_ms, 0);
    EXPECT_TRUE(is_served(client));
    EXPECT_EQ(broker->metric("kafka_server_socketservermetrics_successful_authentication_total"), 1);
    EXPECT_EQ(broker->metric("kafka_server_socketservermetrics_failed_authentication_total"), 0);
    // A session without an end cannot log in again.
    EXPECT_EQ(shake_hands(client, "PLAIN")->error_code, ErrorCode::illegal_sasl_state);
    EXPECT_EQ(say(client, "x")->error_code, ErrorCode::illegal_sasl_state);
    EXPECT_TRUE(is_served(client));
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(Login, WhoProducesIsShownWithTheNameThatWasProven) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_EQ(plain_login(client, "alice", "alice-secret")->error_code, ErrorCode::none);
    ASSERT_TRUE(create_topic(client, "t", 1));
    std::array values{std::string("v")};
    ASSERT_EQ(produce(client, "t", 0, make_batch(values)), ErrorCode::none);
    EXPECT_THAT(broker->http_get("/v1/connections")->body, ::testing::HasSubstr("\"principal\":\"User:alice\""));
    EXPECT_TRUE(
        eventually([&] { return broker->http_get("/v1/topics/t/producers")->body.contains("\"principal\":\"User:alice\""); }));
}

TEST(Login, AWrongPasswordIsAnsweredAfterTheDelayAndEndsTheConnection) {
    const auto broker = start_with_logins({"connection.failed.authentication.delay.ms=300"});
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_NE(shake_hands(client, "PLAIN"), nullptr);
    const auto begin = steady_clock::now();
    const SaslAuthenticateResponse* const answer = say(client, plain_token("alice", "wrong"));
    ASSERT_NE(answer, nullptr) << client.failure();
    EXPECT_GE(steady_clock::now() - begin, 299ms);
    EXPECT_EQ(answer->error_code, ErrorCode::sasl_authentication_failed);
    EXPECT_EQ(answer->error_message, "Authentication failed: Invalid username or password");
    EXPECT_TRUE(client.is_closed_within());
    EXPECT_EQ(broker->metric("kafka_server_socketservermetrics_failed_authentication_total"), 1);
    EXPECT_EQ(broker->count_in_output("secret"), 0u) << broker->output();
    EXPECT_TRUE(broker->wait_for_output("failed authentication: Authentication failed: Invalid username or password"));
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(Login, WhileOneWaitsForItsRefusalOthersLogIn) {
    const auto broker = start_with_logins({"connection.failed.authentication.delay.ms=60000"});
    ASSERT_NE(broker, nullptr);
    WireClient refused(broker->port());
    ASSERT_NE(shake_hands(refused, "PLAIN"), nullptr);
    (void)refused.send_request(2, SaslAuthenticateRequest{.auth_bytes = as_bytes(plain_token("alice", "wrong"))});
    // The broker does not read what the client sends after that.
    (void)refused.send_request(4, ListGroupsRequest{});
    WireClient client(broker->port());
    EXPECT_EQ(plain_login(client, "alice", "alice-secret")->error_code, ErrorCode::none);
    EXPECT_TRUE(is_served(client));
    EXPECT_TRUE(refused.is_silent_for(50ms));
}

TEST(Login, AMechanismThatIsNotOfferedIsAnsweredWithThoseThatAre) {
    const auto broker = start_with_logins({"connection.failed.authentication.delay.ms=0"});
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    const SaslHandshakeResponse* const hands = shake_hands(client, "GSSAPI");
    ASSERT_NE(hands, nullptr);
    EXPECT_EQ(hands->error_code, ErrorCode::unsupported_sasl_mechanism);
    EXPECT_EQ(hands->mechanisms.size, 3u);
    EXPECT_TRUE(client.is_closed_within());
}

TEST(Login, WhoAsksBeforeTheLoginIsSentAwayWithoutAnAnswer) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    for (const auto& frame :
         {request_frame(12, MetadataRequest{}), request_frame(4, ListGroupsRequest{}),
          request_frame(2, SaslAuthenticateRequest{.auth_bytes = as_bytes(plain_token("alice", "alice-secret"))}),
          frame_of(bytes_of("\x60 an old client's token"))}) {
        WireClient client(broker->port());
        client.send(frame);
        EXPECT_FALSE(client.receive());
        EXPECT_TRUE(client.was_closed());
    }
    // The limit holds between handshake and token, too.
    WireClient client(broker->port());
    ASSERT_NE(shake_hands(client, "PLAIN"), nullptr);
    client.send(request_frame(4, ListGroupsRequest{}));
    EXPECT_FALSE(client.receive());
    EXPECT_TRUE(client.was_closed());
    EXPECT_TRUE(broker->wait_for_output("a request of type Metadata came before the client logged in"));
}

TEST(Login, RequestsOfStrangersAreSmall) {
    const auto broker = start_with_logins({"sasl.server.max.receive.size=1000"});
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_NE(shake_hands(client, "PLAIN"), nullptr);
    client.send(std::vector{std::byte{0}, std::byte{0}, std::byte{3}, std::byte{0xe9}});  // 1001
    EXPECT_TRUE(client.is_closed_within());
    EXPECT_TRUE(broker->wait_for_output("(sasl.server.max.receive.size)")) << broker->output();
    // A known user may send larger requests.
    WireClient known(broker->port());
    EXPECT_EQ(plain_login(known, "alice", "alice-secret")->error_code, ErrorCode::none);
    const std::string long_name(2000, 'x');
    std::array names{std::string_view(long_name)};
    EXPECT_NE((known.call<ListGroupsResponse>(4, ListGroupsRequest{.states_filter = names})), nullptr);
}

TEST(Login, OfTooManyStrangersTheFirstMakesRoom) {
    const auto broker = start_with_logins({"partita.authentication.waiting.max=10"});
    ASSERT_NE(broker, nullptr);
    WireClient known(broker->port());
    ASSERT_EQ(plain_login(known, "alice", "alice-secret")->error_code, ErrorCode::none);
    std::vector<std::unique_ptr<WireClient>> strangers;
    for (int each = 0; each < 11; ++each) {
        strangers.push_back(std::make_unique<WireClient>(broker->port()));
        // The handshakes make the clients come in this order.
        ASSERT_NE(shake_hands(*strangers.back(), "PLAIN"), nullptr);
    }
    EXPECT_TRUE(strangers.front()->is_closed_within());
    EXPECT_TRUE(broker->wait_for_output("partita.authentication.waiting.max"));
    EXPECT_TRUE(is_served(known));
    const SaslAuthenticateResponse* const answer = say(*strangers[1], plain_token("alice", "alice-secret"));
    ASSERT_NE(answer, nullptr) << "the others are still there";
    EXPECT_EQ(answer->error_code, ErrorCode::none);
}

TEST(Login, AnOldClientSendsItsTokenBare) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_NE(shake_hands(client, "PLAIN", 0), nullptr);
    client.send(frame_of(bytes_of(plain_token("alice", "alice-secret"))));
    const auto answer = client.receive();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->empty());
    EXPECT_TRUE(is_served(client));

    WireClient wrong(broker->port());
    ASSERT_NE(shake_hands(wrong, "PLAIN", 0), nullptr);
    wrong.send(frame_of(bytes_of(plain_token("alice", "wrong"))));
    EXPECT_FALSE(wrong.receive());
    EXPECT_TRUE(wrong.was_closed());
}

TEST(Login, ACredentialThatAnAdministratorMadeLogsInAtOnceAndNoLongerThanItExists) {
    const auto broker = start_with_logins();
    ASSERT_NE(broker, nullptr);
    const auto scram_login = [&](std::string_view password) {
        WireClient client(broker->port());
        return test::scram_login(client, Hash::sha_256, "bob", password).said;
    };
    constexpr std::string_view kRefused =
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256";
    EXPECT_EQ(scram_login("bob-secret"), kRefused);

    WireClient admin(broker->port());
    ASSERT_EQ(plain_login(admin, "admin", "admin-secret")->error_code, ErrorCode::none);
    const std::string salted = scram_bytes("bob-secret");
    std::array upsertions{AlterUserScramCredentialsRequest::ScramCredentialUpsertion{
        .name = "bob", .mechanism = 1, .iterations = 4096, .salt = as_bytes("salt"), .salted_password = as_bytes(salted)}};
    const auto* altered =
        admin.call<AlterUserScramCredentialsResponse>(0, AlterUserScramCredentialsRequest{.upsertions = upsertions});
    ASSERT_TRUE(altered != nullptr && altered->results.size == 1 && altered->results[0].error_code == ErrorCode::none);
    EXPECT_EQ(scram_login("bob-secret"), "served");
    EXPECT_EQ(scram_login("another"), kRefused);

    std::array deletions{AlterUserScramCredentialsRequest::ScramCredentialDeletion{.name = "bob", .mechanism = 1}};
    ASSERT_NE((admin.call<AlterUserScramCredentialsResponse>(0, AlterUserScramCredentialsRequest{.deletions = deletions})),
              nullptr);
    EXPECT_EQ(scram_login("bob-secret"), kRefused);
}

TEST(Login, NobodyBecomesSomebodyElseByLoggingInAgain) {
    const auto broker = start_with_logins({"connections.max.reauth.ms=60000"});
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_EQ(plain_login(client, "alice", "alice-secret")->error_code, ErrorCode::none);
    const SaslAuthenticateResponse* const again = plain_login(client, "admin", "admin-secret");
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->error_message, "Cannot change principals during re-authentication from User.alice: User.admin");
    EXPECT_TRUE(client.is_closed_within());
}

TEST(Login, WhatNobodyCouldLogInByIsRefusedAtTheStartWithOneLine) {
    const auto refused = [](const std::vector<std::string>& settings) {
        BrokerProcess::Options options{.choose_port = false};
        options.overrides = {"listeners=SASL_PLAINTEXT://127.0.0.1:0", "inter.broker.listener.name=SASL_PLAINTEXT"};
        options.overrides.insert(options.overrides.end(), settings.begin(), settings.end());
        const Finished finished = BrokerProcess::run(options);
        EXPECT_NE(finished.exit_code, 0);
        return finished.output;
    };
    EXPECT_THAT(refused({}), ::testing::HasSubstr("GSSAPI (Kerberos)"));
    EXPECT_THAT(refused({"sasl.enabled.mechanisms=PLAIN"}),
                ::testing::HasSubstr("set listener.name.sasl_plaintext.plain.sasl.jaas.config="));
    const std::string line = "listener.name.sasl_plaintext.plain.sasl.jaas.config=" + std::string(kPackage) +
                             "plain.PlainLoginModule required user_alice=\"alice-secret\"";
    const std::string output = refused({"sasl.enabled.mechanisms=PLAIN", line});
    EXPECT_THAT(output, ::testing::HasSubstr("JAAS config entry not terminated by semi-colon"));
    EXPECT_THAT(output, ::testing::Not(::testing::HasSubstr("alice-secret")));
    EXPECT_THAT(refused({"sasl.enabled.mechanisms=PLAIN", line + ";"}),
                ::testing::HasSubstr("sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms"));
}

}  // namespace
}  // namespace partita::test
