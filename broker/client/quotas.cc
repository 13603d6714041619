#include "broker/client/quotas.h"

#include <openssl/evp.h>

#include <array>

#include "protocol/messages/48_describe_client_quotas.h"
#include "protocol/messages/49_alter_client_quotas.h"
#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::size_t kSaltBytes = 24;

std::optional<std::string> owned(const std::optional<std::string_view>& text) {
    return text ? std::optional(std::string(*text)) : std::nullopt;
}
std::optional<std::string_view> view(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

/// The fields of a new credential on the wire.
struct Salted {
    std::array<std::byte, kSaltBytes> salt{};
    std::vector<std::byte> password;
};

Result<Salted> salted(const NewCredential& credential) {
    constexpr std::size_t kSha256Bytes = 32;
    constexpr std::size_t kSha512Bytes = 64;
    const bool is_short = credential.mechanism == ScramMechanism::sha_256;
    Salted result{.salt = random_value<std::array<std::byte, kSaltBytes>>()};
    result.password.resize(is_short ? kSha256Bytes : kSha512Bytes);
    const int done =
        ::PKCS5_PBKDF2_HMAC(credential.password.data(), static_cast<int>(credential.password.size()),
                            reinterpret_cast<const unsigned char*>(result.salt.data()), static_cast<int>(kSaltBytes),
                            credential.iterations, is_short ? ::EVP_sha256() : ::EVP_sha512(),
                            static_cast<int>(result.password.size()), reinterpret_cast<unsigned char*>(result.password.data()));
    if (done != 1) {
        return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = "cannot hash the password"});
    }
    return result;
}

}  // namespace

std::optional<ScramMechanism> parse_scram_mechanism(std::string_view name) {
    for (const ScramMechanism mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512}) {
        if (to_string(mechanism) == name) {
            return mechanism;
        }
    }
    return std::nullopt;
}

std::string_view to_string(ScramMechanism mechanism) {
    switch (mechanism) {
        case ScramMechanism::sha_256:
            return "SCRAM-SHA-256";
        case ScramMechanism::sha_512:
            return "SCRAM-SHA-512";
    }
    return "UNKNOWN";
}

Result<std::vector<EntityQuotas>> describe_quotas(Cluster& cluster, const std::vector<QuotaMatch>& matches,
                                                  QuotaEntities entities) {
    constexpr std::int8_t kExact = 0;
    constexpr std::int8_t kDefault = 1;
    constexpr std::int8_t kAny = 2;
    std::vector<DescribeClientQuotasRequest::ComponentData> components;
    for (const QuotaMatch& match : matches) {
        components.push_back({.entity_type = match.type,
                              .match_type = !match.name   ? kAny
                                            : *match.name ? kExact
                                                          : kDefault,
                              .match = match.name ? view(*match.name) : std::nullopt});
    }
    const DescribeClientQuotasRequest request{.components = components, .strict = entities == QuotaEntities::exact};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<DescribeClientQuotasResponse>(Route::any(), {.name = "describeClientQuotas"}, request));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code, reply->error_message.value_or("")));
    }
    std::vector<EntityQuotas> quotas;
    for (const auto& entry : reply->entries) {
        EntityQuotas one;
        for (const auto& entity : entry.entity) {
            one.entity.emplace_back(entity.entity_type, owned(entity.entity_name));
        }
        for (const auto& value : entry.values) {
            one.values.emplace_back(value.key, value.value);
        }
        quotas.push_back(std::move(one));
    }
    return quotas;
}

Result<void> alter_quotas(Cluster& cluster, const QuotaEntity& entity,
                          const std::vector<std::pair<std::string, std::optional<double>>>& values) {
    std::vector<AlterClientQuotasRequest::EntityData> entities;
    for (const auto& [type, name] : entity) {
        entities.push_back({.entity_type = type, .entity_name = view(name)});
    }
    std::vector<AlterClientQuotasRequest::OpData> ops;
    for (const auto& [key, value] : values) {
        ops.push_back({.key = key, .value = value.value_or(0), .remove = !value});
    }
    AlterClientQuotasRequest::EntryData entry{.entity = entities, .ops = ops};
    const AlterClientQuotasRequest request{.entries = {&entry, 1}};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<AlterClientQuotasResponse>(Route::controller(), {.name = "alterClientQuotas"}, request));
    for (const auto& result : reply->entries) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

Result<std::vector<UserCredentials>> describe_credentials(Cluster& cluster, const std::vector<std::string>& users) {
    std::vector<DescribeUserScramCredentialsRequest::UserName> names;
    for (const std::string& user : users) {
        names.push_back({.name = user});
    }
    const DescribeUserScramCredentialsRequest request{.users = names};
    auto reply =
        cluster.ask<DescribeUserScramCredentialsResponse>(Route::any(), {.name = "describeUserScramCredentials"}, request);
    PARTITA_TRY(reply);
    if ((*reply)->error_code != ErrorCode::none) {
        return std::unexpected(refusal((*reply)->error_code, (*reply)->error_message.value_or("")));
    }
    std::vector<UserCredentials> found;
    for (const auto& result : (*reply)->results) {
        UserCredentials one{.user = std::string(result.user),
                            .error = result.error_code,
                            .message = std::string(result.error_message.value_or(""))};
        for (const auto& info : result.credential_infos) {
            one.iterations.emplace_back(static_cast<ScramMechanism>(info.mechanism), info.iterations);
        }
        found.push_back(std::move(one));
    }
    return found;
}

Result<void> alter_credentials(Cluster& cluster, const std::string& user, const std::vector<NewCredential>& set,
                               const std::vector<ScramMechanism>& deleted) {
    std::vector<Salted> secrets;
    std::vector<AlterUserScramCredentialsRequest::ScramCredentialUpsertion> upsertions;
    std::vector<AlterUserScramCredentialsRequest::ScramCredentialDeletion> deletions;
    for (const NewCredential& credential : set) {
        PARTITA_TRY_ASSIGN(auto secret, salted(credential));
        secrets.push_back(std::move(secret));
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
        upsertions.push_back({.name = user,
                              .mechanism = static_cast<std::int8_t>(set[i].mechanism),
                              .iterations = set[i].iterations,
                              .salt = secrets[i].salt,
                              .salted_password = secrets[i].password});
    }
    for (const ScramMechanism mechanism : deleted) {
        deletions.push_back({.name = user, .mechanism = static_cast<std::int8_t>(mechanism)});
    }
    const AlterUserScramCredentialsRequest request{.deletions = deletions, .upsertions = upsertions};
    auto reply =
        cluster.ask<AlterUserScramCredentialsResponse>(Route::controller(), {.name = "alterUserScramCredentials"}, request);
    PARTITA_TRY(reply);
    for (const auto& result : (*reply)->results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

}  // namespace partita::client
