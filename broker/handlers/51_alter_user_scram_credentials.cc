// AlterUserScramCredentials: v0, flexible (KIP-554).
//
// A client sends the salted password; the broker keeps the two keys that a server needs (RFC 5802, section 3).

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <set>

#include "broker/catalog/scram_credentials.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(alter_user_scram_credentials, catalog, access::kAlterCluster);

namespace {

using Upsertion = AlterUserScramCredentialsRequest::ScramCredentialUpsertion;

std::string base64(Bytes bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

/// Empty if the library fails.
std::vector<std::byte> keyed_hash(const EVP_MD* hash, Bytes key, std::string_view message) {
    std::vector<std::byte> result(EVP_MAX_MD_SIZE);
    unsigned int length = 0;
    const unsigned char* done =
        HMAC(hash, key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
             message.size(), reinterpret_cast<unsigned char*>(result.data()), &length);
    result.resize(done == nullptr ? 0 : length);
    return result;
}

/// Empty for a password from which no key can be made, or for an unknown mechanism.
std::optional<catalog::ScramCredential> credential_of(const Upsertion& upsertion) {
    const bool is_sha_512 = upsertion.mechanism == static_cast<std::int8_t>(catalog::ScramMechanism::sha_512);
    const EVP_MD* hash = is_sha_512 ? EVP_sha512() : EVP_sha256();
    if (upsertion.salted_password.empty()) {
        return std::nullopt;
    }
    const std::vector<std::byte> client_key = keyed_hash(hash, upsertion.salted_password, "Client Key");
    const std::vector<std::byte> server_key = keyed_hash(hash, upsertion.salted_password, "Server Key");
    std::vector<std::byte> stored_key(EVP_MAX_MD_SIZE);
    unsigned int length = 0;
    if (client_key.empty() || server_key.empty() ||
        EVP_Digest(client_key.data(), client_key.size(), reinterpret_cast<unsigned char*>(stored_key.data()), &length, hash,
                   nullptr) != 1) {
        return std::nullopt;
    }
    stored_key.resize(length);
    return catalog::ScramCredential{.salt = base64(upsertion.salt),
                                    .stored_key = base64(stored_key),
                                    .server_key = base64(server_key),
                                    .iterations = upsertion.iterations};
}

/// Refuses every user with the same error, each once.
void refuse(runtime::RequestContext& context, const AlterUserScramCredentialsRequest& request, ErrorCode error,
            std::string_view message) {
    std::set<std::string_view> users;
    for (const auto& deletion : request.deletions) {
        users.insert(deletion.name);
    }
    for (const Upsertion& upsertion : request.upsertions) {
        users.insert(upsertion.name);
    }
    ArenaVector<AlterUserScramCredentialsResponse::AlterUserScramCredentialsResult> results(context.arena(), users.size());
    for (const std::string_view user : users) {
        results.push_back({.user = user, .error_code = error, .error_message = message});
    }
    AlterUserScramCredentialsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace

void alter_user_scram_credentials(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const AlterUserScramCredentialsRequest* request = context.decode<AlterUserScramCredentialsRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        return refuse(context, *request, ErrorCode::cluster_authorization_failed,
                      cluster_refusal(context, access::kAlterCluster));
    }
    Arena& arena = context.arena();
    catalog::AlterScramCredentials command;
    for (const auto& deletion : request->deletions) {
        command.deletions.push_back({.user = deletion.name, .mechanism = deletion.mechanism});
    }
    for (const Upsertion& upsertion : request->upsertions) {
        command.upsertions.push_back({.user = upsertion.name,
                                      .mechanism = upsertion.mechanism,
                                      .iterations = upsertion.iterations,
                                      .credential = credential_of(upsertion)});
    }
    catalog::AlterScramCredentialsResult decided;
    const bool is_written = catalog.change(context.turn, command, decided);
    ArenaVector<AlterUserScramCredentialsResponse::AlterUserScramCredentialsResult> results(arena, decided.users.size());
    for (const catalog::AlteredScramUser& altered : decided.users) {
        results.push_back({.user = arena.copy(altered.user),
                           .error_code = is_written ? altered.error.code : ErrorCode::kafka_storage_error,
                           .error_message = is_written ? message_of(altered.error, arena) : kCatalogNotWritten});
    }
    AlterUserScramCredentialsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
