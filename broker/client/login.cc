#include "broker/client/login.h"

#include <array>
#include <cstdint>
#include <utility>

#include "broker/authentication/jaas.h"
#include "broker/authentication/plain.h"
#include "broker/authentication/scram.h"
#include "broker/client/connection.h"
#include "protocol/messages/17_sasl_handshake.h"
#include "protocol/messages/36_sasl_authenticate.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

using authentication::Hash;

constexpr std::string_view kPlainModule = "org.apache.kafka.common.security.plain.PlainLoginModule";
constexpr std::string_view kScramModule = "org.apache.kafka.common.security.scram.ScramLoginModule";

std::unexpected<Failure> refuse_login(std::string message) {
    return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = std::move(message)});
}

std::unexpected<Failure> not_believed(const std::string& message) {
    return std::unexpected(refusal(ErrorCode::sasl_authentication_failed, message));
}

std::string fresh_nonce() {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
    std::string nonce;
    for (const std::uint8_t byte : random_value<std::array<std::uint8_t, 32>>()) {
        nonce.push_back(kDigits[byte % kDigits.size()]);
    }
    return nonce;
}

/// Offers only the requested mechanism; succeeds if the broker has it.
Result<void> shake_hands(Connection& connection, const std::string& mechanism, Instant deadline) {
    const ApiInfo& api = *find_api(ApiKey::sasl_handshake);
    // From version 1 on, each token travels in a request of its own.
    PARTITA_TRY_ASSIGN(const auto version, connection.version_for(api, {.first = 1}));
    const SaslHandshakeRequest request{.mechanism = mechanism};
    PARTITA_TRY_ASSIGN(const auto raw, connection.call(api, version, &request, deadline));
    const auto& reply = *static_cast<const SaslHandshakeResponse*>(raw.message);
    if (reply.error_code == ErrorCode::none) {
        return {};
    }
    if (reply.error_code != ErrorCode::unsupported_sasl_mechanism) {
        return std::unexpected(refusal(reply.error_code));
    }
    std::string offered;
    for (const std::string_view each : reply.mechanisms) {
        offered += (offered.empty() ? "" : ", ") + std::string(each);
    }
    return std::unexpected(
        refusal(reply.error_code,
                "Client SASL mechanism '" + mechanism + "' not enabled in the server, enabled mechanisms are [" + offered + "]"));
}

Result<std::string> say(Connection& connection, std::string_view token, Instant deadline) {
    const ApiInfo& api = *find_api(ApiKey::sasl_authenticate);
    PARTITA_TRY_ASSIGN(const auto version, connection.version_for(api, {}));
    const SaslAuthenticateRequest request{.auth_bytes = as_bytes(token)};
    PARTITA_TRY_ASSIGN(const auto raw, connection.call(api, version, &request, deadline));
    const auto& reply = *static_cast<const SaslAuthenticateResponse*>(raw.message);
    if (reply.error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply.error_code, reply.error_message.value_or("")));
    }
    return std::string(as_text(reply.auth_bytes));
}

Result<void> log_in_by_scram(Connection& connection, const Login& login, Instant deadline) {
    const Hash hash = login.mechanism == "SCRAM-SHA-512" ? Hash::sha_512 : Hash::sha_256;
    authentication::ScramClient client(hash, login.user, login.password, fresh_nonce(), login.by_token);
    PARTITA_TRY_ASSIGN(const auto first, say(connection, client.first_message(), deadline));
    const auto proof = client.answer(first);
    if (!proof) {
        return not_believed(proof.error());
    }
    PARTITA_TRY_ASSIGN(const auto last, say(connection, *proof, deadline));
    if (const auto known = client.check(last); !known) {
        return not_believed(known.error());
    }
    return {};
}

/// The login by librdkafka's settings.
Result<Login> named_login(const std::map<std::string, std::string>& properties, Login login) {
    const auto user = properties.find("sasl.username");
    const auto password = properties.find("sasl.password");
    if (user == properties.end() && password == properties.end()) {
        return refuse_login("sasl.jaas.config is missing: it names the user");
    }
    if (user == properties.end() || password == properties.end()) {
        return refuse_login(std::string(user == properties.end() ? "sasl.password" : "sasl.username") + " is given without " +
                            (user == properties.end() ? "sasl.username" : "sasl.password"));
    }
    login.user = user->second;
    login.password = password->second;
    return login;
}

}  // namespace

Result<Login> login_of(const std::map<std::string, std::string>& properties) {
    const auto given = properties.find("sasl.mechanism");
    Login login{.mechanism = given == properties.end() ? "GSSAPI" : given->second};
    const bool is_plain = login.mechanism == "PLAIN";
    if (!is_plain && login.mechanism != "SCRAM-SHA-256" && login.mechanism != "SCRAM-SHA-512") {
        return refuse_login("sasl.mechanism=" + login.mechanism +
                            " is not served: only PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are");
    }
    const auto line = properties.find("sasl.jaas.config");
    if (line == properties.end()) {
        return named_login(properties, std::move(login));
    }
    const auto modules = authentication::parse_jaas(line->second);
    if (!modules) {
        return refuse_login(modules.error().message + " (sasl.jaas.config, column " + std::to_string(modules.error().column) +
                            ")");
    }
    if (modules->size() != 1) {
        return refuse_login("JAAS config property contains " + std::to_string(modules->size()) +
                            " login modules, should be 1 module");
    }
    const authentication::LoginModule& module = modules->front();
    const std::string_view wanted = is_plain ? kPlainModule : kScramModule;
    if (module.class_name != wanted) {
        return refuse_login("sasl.jaas.config names the login module " + module.class_name + "; " + login.mechanism + " wants " +
                            std::string(wanted));
    }
    const std::string* const user = module.option("username");
    const std::string* const password = module.option("password");
    if (user == nullptr || password == nullptr) {
        return refuse_login("sasl.jaas.config has no username or no password");
    }
    const std::string* const by_token = module.option("tokenauth");
    login.user = *user;
    login.password = *password;
    login.by_token = by_token != nullptr && *by_token == "true";
    return login;
}

Result<void> log_in(Connection& connection, const Login& login, Instant deadline) {
    PARTITA_TRY(shake_hands(connection, login.mechanism, deadline));
    if (login.mechanism != "PLAIN") {
        return log_in_by_scram(connection, login, deadline);
    }
    PARTITA_TRY(say(connection, authentication::plain_token(login.user, login.password), deadline));
    return {};
}

}  // namespace partita::client
