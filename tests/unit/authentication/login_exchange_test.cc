#include "broker/authentication/login_exchange.h"

#include <gtest/gtest.h>

#include <map>

#include "broker/authentication/oauth_bearer.h"

namespace partita::authentication {
namespace {

constexpr Now kStart{{1'000}, {1'800'000'000'000}};

Now later(std::int64_t ms) { return {kStart.monotonic + ms, {kStart.wall.value + ms}}; }

/// Users with SCRAM credentials, and one delegation token.
class FewCredentials final : public CredentialStore {
  public:
    std::optional<ScramCredential> of_user(Hash hash, std::string_view user) const override {
        if (user != "bob") {
            return std::nullopt;
        }
        return make_scram_credential(hash, "bob-secret", "salt", 4096);
    }
    std::optional<TokenCredential> of_token(Hash hash, std::string_view id) const override {
        if (id != "token-1") {
            return std::nullopt;
        }
        return TokenCredential{make_scram_credential(hash, "hmac", "salt", 4096), "carol", {kStart.wall.value + 5'000}};
    }
};

std::shared_ptr<const LoginSettings> all_mechanisms(std::int64_t session_ms_max = 0) {
    LoginSettings settings;
    settings.users = {{"alice", "alice-secret"}, {"bob", "other"}};
    settings.access_keys = AccessKeys{{"root", {"key"}}};
    settings.tokens = UnsecuredTokens{};
    for (const Mechanism each : {Mechanism::plain, Mechanism::scram_sha_256, Mechanism::scram_sha_512, Mechanism::oauth_bearer}) {
        settings.offers.push_back({each, session_ms_max});
    }
    return std::make_shared<const LoginSettings>(std::move(settings));
}

/// A client in front of an exchange.
class Login {
  public:
    explicit Login(std::int64_t session_ms_max = 0) : exchange(all_mechanisms(session_ms_max)) {}

    void shake_hands(std::string_view mechanism, std::int16_t version = 1) {
        ASSERT_FALSE(exchange.refuse(ApiKey::sasl_handshake));
        const auto answer = exchange.handshake(version, mechanism);
        ASSERT_EQ(answer.error, ErrorCode::none);
    }
    LoginExchange::Answer say(std::string_view token, const Now& now = kStart) {
        EXPECT_TRUE(exchange.expects_bare_token() || !exchange.refuse(ApiKey::sasl_authenticate));
        return exchange.token(token, {now, "server-nonce", credentials});
    }
    LoginExchange::Answer plain(std::string_view user, std::string_view password, const Now& now = kStart) {
        shake_hands("PLAIN");
        return say(plain_token(user, password), now);
    }
    LoginExchange::Answer scram(Hash hash, std::string_view user, std::string_view password, bool by_token = false,
                                const Now& now = kStart) {
        shake_hands(hash == Hash::sha_256 ? "SCRAM-SHA-256" : "SCRAM-SHA-512");
        ScramClient client(hash, std::string(user), std::string(password), "nonce", by_token);
        const auto first = say(client.first_message(), now);
        if (first.end) {
            return first;
        }
        const auto proof = client.answer(first.bytes);
        EXPECT_TRUE(proof);
        auto last = say(*proof, now);
        EXPECT_TRUE(last.end || client.check(last.bytes));
        return last;
    }
    std::string who() const { return exchange.principal() ? exchange.principal()->text() : ""; }

    FewCredentials credentials;
    LoginExchange exchange;
};

std::string bearer(std::string_view claims) {
    std::string token;
    for (const std::string_view part : {std::string_view(R"({"alg":"none"})"), claims}) {
        token += to_base64(part);
        token.erase(token.find_last_not_of('=') + 1);
        token += ".";
    }
    return bearer_message(token);
}

TEST(LoginExchange, APasswordMakesAUser) {
    Login login;
    EXPECT_FALSE(login.exchange.is_complete());
    const auto answer = login.plain("alice", "alice-secret");
    EXPECT_EQ(answer.error, ErrorCode::none);
    EXPECT_EQ(answer.bytes, "");
    EXPECT_EQ(answer.session_ms, 0);
    EXPECT_TRUE(login.exchange.is_complete());
    EXPECT_EQ(login.who(), "User:alice");
    EXPECT_FALSE(login.exchange.refuse(ApiKey::metadata));
}

TEST(LoginExchange, WhatIsWrongWithAPasswordIsToldAfterTheDelay) {
    const std::pair<std::string, std::string> tokens[] = {
        {plain_token("alice", "wrong"), "Authentication failed: Invalid username or password"},
        {plain_token("nobody", "alice-secret"), "Authentication failed: Invalid username or password"},
        {plain_token("", "x"), "Authentication failed: username not specified"},
        {plain_token("alice", ""), "Authentication failed: password not specified"},
        {"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"},
        {std::string("alice\0secret", 12), "Invalid SASL/PLAIN response: expected 3 tokens, got 2"},
        {plain_token("alice", "alice-secret") + std::string("\0more\0", 6),
         "Invalid SASL/PLAIN response: expected 3 tokens, got 4"},
    };
    for (const auto& [token, text] : tokens) {
        Login login;
        login.shake_hands("PLAIN");
        const auto answer = login.say(token);
        EXPECT_EQ(answer.error, ErrorCode::sasl_authentication_failed);
        EXPECT_EQ(answer.message, text);
        ASSERT_TRUE(answer.end);
        EXPECT_TRUE(answer.end->after_delay && answer.end->has_answer);
        EXPECT_EQ(answer.end->reason.find("secret"), std::string::npos);
        EXPECT_FALSE(login.exchange.is_complete());
        EXPECT_EQ(login.who(), "");
    }
}

TEST(LoginExchange, NobodyTakesAnotherIdentityByPlain) {
    Login login;
    login.shake_hands("PLAIN");
    const auto answer = login.say(std::string("admin\0alice\0alice-secret", 24));
    EXPECT_EQ(answer.message, "Authentication failed: Client requested an authorization id that is different from username");
    EXPECT_EQ(login.who(), "");
    Login same;
    same.shake_hands("PLAIN");
    EXPECT_EQ(same.say(std::string("alice\0alice\0alice-secret", 24)).error, ErrorCode::none);
}

TEST(LoginExchange, ScramMakesAUserByEitherHash) {
    for (const Hash hash : {Hash::sha_256, Hash::sha_512}) {
        Login login;
        EXPECT_EQ(login.scram(hash, "bob", "bob-secret").error, ErrorCode::none);
        EXPECT_EQ(login.who(), "User:bob");
        EXPECT_FALSE(login.exchange.is_by_token());
    }
}

TEST(LoginExchange, WhoFailsByScramIsNotToldWhetherThereIsSuchAUser) {
    for (const std::string_view user : {"bob", "nobody"}) {
        Login login;
        const auto answer = login.scram(Hash::sha_256, user, "wrong");
        EXPECT_EQ(answer.message,
                  "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256");
        EXPECT_TRUE(answer.end && answer.end->after_delay && answer.end->has_answer);
        EXPECT_EQ(login.who(), "");
    }
}

TEST(LoginExchange, ADelegationTokenStandsForItsOwnerUntilItExpires) {
    Login login;
    const auto answer = login.scram(Hash::sha_512, "token-1", "hmac", true);
    EXPECT_EQ(answer.error, ErrorCode::none);
    EXPECT_EQ(login.who(), "User:carol");
    EXPECT_TRUE(login.exchange.is_by_token());
    EXPECT_EQ(answer.session_ms, 5'000);
    Login unknown;
    EXPECT_TRUE(unknown.scram(Hash::sha_512, "bob", "bob-secret", true).end);
}

TEST(LoginExchange, ABearerTokenMakesAUserForItsLifetime) {
    Login login;
    login.shake_hands("OAUTHBEARER");
    const auto answer = login.say(bearer(R"({"sub":"dave","exp":1800000060})"));
    EXPECT_EQ(answer.error, ErrorCode::none);
    EXPECT_EQ(answer.session_ms, 60'000);
    EXPECT_EQ(login.who(), "User:dave");
    EXPECT_FALSE(login.exchange.is_expired(later(60'000).monotonic));
    EXPECT_TRUE(login.exchange.is_expired(later(60'001).monotonic));
}

TEST(LoginExchange, ARefusedBearerTokenIsExplainedFirstAndFailsWithTheNextMessage) {
    Login login;
    login.shake_hands("OAUTHBEARER");
    const auto explained = login.say(bearer(R"({"sub":"dave","exp":1})"));
    EXPECT_EQ(explained.error, ErrorCode::none);
    EXPECT_EQ(explained.bytes, R"({"status":"invalid_token"})");
    EXPECT_FALSE(explained.end);
    EXPECT_FALSE(login.exchange.is_complete());
    const auto failed = login.say("\x01");
    EXPECT_EQ(failed.message, R"({"status":"invalid_token"})");
    EXPECT_TRUE(failed.end && failed.end->after_delay && failed.end->has_answer);
}

TEST(LoginExchange, MessagesOfBearersThatAreMalformedAreHiddenFailures) {
    const std::string good = bearer(R"({"sub":"dave","exp":1800000060})");
    for (const std::string& message :
         std::vector<std::string>{"", "\x01", good.substr(0, good.size() - 1), good.substr(1), "n,,\x01\x01",
                                  "n,,\x01"
                                  "auth=Bearer a b\x01\x01",
                                  "n,,\x01"
                                  "k3y=v\x01\x01",
                                  "n,b=x,\x01"
                                  "auth=Bearer abc\x01\x01"}) {
        Login login;
        login.shake_hands("OAUTHBEARER");
        const auto answer = login.say(message);
        EXPECT_EQ(answer.message,
                  "Authentication failed during authentication due to invalid credentials with SASL mechanism OAUTHBEARER")
            << message;
    }
}

TEST(LoginExchange, AnotherSchemeThanBearerEndsTheConnectionWithoutAnAnswer) {
    Login login;
    login.shake_hands("OAUTHBEARER");
    const auto answer = login.say(
        "n,,\x01"
        "auth=Basic abc\x01\x01");
    EXPECT_TRUE(answer.end && !answer.end->after_delay && !answer.end->has_answer);
}

TEST(LoginExchange, ABearerTakesNoOtherIdentity) {
    Login login;
    login.shake_hands("OAUTHBEARER");
    std::string message = bearer(R"({"sub":"dave","exp":1800000060})");
    message.insert(2, "a=admin");
    EXPECT_EQ(login.say(message).message,
              "Authentication failed: Client requested an authorization id (admin) that is different from the token's principal "
              "name (dave)");
}

TEST(LoginExchange, BeforeTheLoginOnlyVersionsAndHandshakesAreServed) {
    Login login;
    EXPECT_FALSE(login.exchange.refuse(ApiKey::api_versions));
    EXPECT_FALSE(login.exchange.refuse(ApiKey::api_versions));  // The first one failed, so there may be another.
    login.exchange.versions_told();
    const auto again = login.exchange.refuse(ApiKey::api_versions);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->after_delay || again->has_answer);
    for (const ApiKey key : {ApiKey::metadata, ApiKey::produce, ApiKey::sasl_authenticate}) {
        Login other;
        const auto refused = other.exchange.refuse(key);
        ASSERT_TRUE(refused);
        EXPECT_FALSE(refused->after_delay || refused->has_answer);
    }
}

TEST(LoginExchange, BetweenHandshakeAndTokenNothingElseIsServed) {
    for (const ApiKey key : {ApiKey::metadata, ApiKey::api_versions, ApiKey::sasl_handshake}) {
        Login login;
        login.shake_hands("PLAIN");
        const auto refused = login.exchange.refuse(key);
        ASSERT_TRUE(refused);
        EXPECT_TRUE(refused->after_delay);
    }
}

TEST(LoginExchange, AMechanismThatIsNotOfferedEndsTheConnectionWithAnAnswer) {
    Login login;
    ASSERT_FALSE(login.exchange.refuse(ApiKey::sasl_handshake));
    const auto answer = login.exchange.handshake(1, "GSSAPI");
    EXPECT_EQ(answer.error, ErrorCode::unsupported_sasl_mechanism);
    EXPECT_TRUE(answer.end && answer.end->after_delay && answer.end->has_answer);
}

TEST(LoginExchange, AfterAHandshakeOfVersion0TokensComeBare) {
    Login login;
    login.shake_hands("PLAIN", 0);
    EXPECT_TRUE(login.exchange.expects_bare_token());
    EXPECT_EQ(login.say(plain_token("alice", "alice-secret")).error, ErrorCode::none);
    EXPECT_TRUE(login.exchange.is_complete());
    EXPECT_FALSE(login.exchange.expects_bare_token());

    Login wrong;
    wrong.shake_hands("PLAIN", 0);
    const auto failed = wrong.say(plain_token("alice", "wrong"));
    EXPECT_TRUE(failed.end && failed.end->after_delay && !failed.end->has_answer);

    Login unknown;
    unknown.shake_hands("SCRAM-SHA-256", 0);
    const auto hidden_failure = unknown.say("n,,n=nobody,r=nonce");
    EXPECT_TRUE(hidden_failure.end && !hidden_failure.end->after_delay && !hidden_failure.end->has_answer);
}

TEST(LoginExchange, ASessionLastsAsLongAsTheListenerSays) {
    Login login(3'000);
    EXPECT_EQ(login.plain("alice", "alice-secret").session_ms, 3'000);
    EXPECT_FALSE(login.exchange.is_expired(later(3'000).monotonic));
    EXPECT_TRUE(login.exchange.is_expired(later(3'001).monotonic));
    Login shorter(100'000);
    shorter.shake_hands("OAUTHBEARER");
    EXPECT_EQ(shorter.say(bearer(R"({"sub":"dave","exp":1800000060})")).session_ms, 60'000);
}

TEST(LoginExchange, AClientLogsInAgainBeforeItsSessionEnds) {
    Login login(3'000);
    ASSERT_EQ(login.plain("alice", "alice-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(2'000).monotonic));
    EXPECT_FALSE(login.exchange.is_complete());
    EXPECT_EQ(login.exchange.handshake(1, "PLAIN").error, ErrorCode::none);
    EXPECT_EQ(login.say(plain_token("alice", "alice-secret"), later(2'000)).session_ms, 3'000);
    EXPECT_FALSE(login.exchange.is_expired(later(5'000).monotonic));
    EXPECT_TRUE(login.exchange.is_expired(later(5'001).monotonic));
}

TEST(LoginExchange, AClientLogsInAgainOnceASecondAndOnlyWhenItsSessionEnds) {
    Login endless;
    ASSERT_EQ(endless.plain("alice", "alice-secret").error, ErrorCode::none);
    EXPECT_FALSE(endless.exchange.again(later(5'000).monotonic));
    EXPECT_TRUE(endless.exchange.is_complete());

    Login login(3'000);
    ASSERT_EQ(login.plain("alice", "alice-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(10).monotonic));
    ASSERT_EQ(login.exchange.handshake(1, "PLAIN").error, ErrorCode::none);
    ASSERT_EQ(login.say(plain_token("alice", "alice-secret"), later(10)).error, ErrorCode::none);
    EXPECT_FALSE(login.exchange.again(later(1'009).monotonic));
    EXPECT_TRUE(login.exchange.again(later(1'010).monotonic));
}

TEST(LoginExchange, NobodyBecomesSomebodyElseByLoggingInAgain) {
    Login login(3'000);
    ASSERT_EQ(login.plain("alice", "alice-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(1'500).monotonic));
    ASSERT_EQ(login.exchange.handshake(1, "PLAIN").error, ErrorCode::none);
    const auto answer = login.say(plain_token("bob", "other"), later(1'500));
    EXPECT_EQ(answer.message, "Cannot change principals during re-authentication from User.alice: User.bob");
    EXPECT_TRUE(answer.end && answer.end->after_delay && answer.end->has_answer);
    EXPECT_EQ(login.who(), "User:alice");
}

TEST(LoginExchange, AConnectionStringForAnotherTopicIsSomebodyElse) {
    const std::string text = "Endpoint=sb://ns/;SharedAccessKeyName=root;SharedAccessKey=key";
    Login login(60'000);
    const std::string of_orders = text + ";EntityPath=orders";
    EXPECT_FALSE(login.plain(kConnectionStringUser, of_orders).end);
    EXPECT_EQ(login.who(), "User:root");
    EXPECT_EQ(login.exchange.principal()->grant(), access::KeyGrant{.only_topic = "orders"});
    const auto again = [&](const std::string& password, std::int64_t ms) {
        EXPECT_TRUE(login.exchange.again(later(ms).monotonic));
        EXPECT_EQ(login.exchange.handshake(1, "PLAIN").error, ErrorCode::none);
        return login.say(plain_token(kConnectionStringUser, password), later(ms));
    };
    EXPECT_FALSE(again(of_orders, 2'000).end);
    EXPECT_TRUE(again(text, 4'000).end);
}

TEST(LoginExchange, AWrongPasswordAgainSaysThatItWasAgain) {
    Login login(3'000);
    ASSERT_EQ(login.scram(Hash::sha_256, "bob", "bob-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(1'500).monotonic));
    ASSERT_EQ(login.exchange.handshake(1, "SCRAM-SHA-256").error, ErrorCode::none);
    EXPECT_EQ(login.say("n,,n=nobody,r=nonce", later(1'500)).message,
              "Authentication failed during re-authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256");
}

TEST(LoginExchange, AMechanismThatIsNotOfferedAgainEndsTheConnectionAtOnce) {
    Login login(3'000);
    ASSERT_EQ(login.plain("alice", "alice-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(1'500).monotonic));
    const auto answer = login.exchange.handshake(1, "GSSAPI");
    EXPECT_TRUE(answer.end && !answer.end->after_delay && !answer.end->has_answer);
}

TEST(LoginExchange, AnotherMechanismAgainEndsTheConnectionWithTheNextRequest) {
    Login login(3'000);
    ASSERT_EQ(login.plain("alice", "alice-secret").error, ErrorCode::none);
    ASSERT_TRUE(login.exchange.again(later(1'500).monotonic));
    const auto answer = login.exchange.handshake(1, "SCRAM-SHA-256");
    EXPECT_EQ(answer.error, ErrorCode::none);
    EXPECT_FALSE(answer.end);
    const auto refused = login.exchange.refuse(ApiKey::sasl_authenticate);
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->after_delay);
}

}  // namespace
}  // namespace partita::authentication
