#include "broker/catalog/kafka_access.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "broker/catalog/kafka_record_fields.h"
#include "broker/catalog/scram_credentials.h"
#include "protocol/cursor.h"

namespace partita::catalog {
namespace {

enum class AccessRecordKind : std::uint32_t {
    delegation_token = 10,
    scram_credential = 11,
    acl = 18,
    remove_acl = 19,
    remove_scram_credential = 22,
    remove_delegation_token = 26,
};

std::string base64(std::string_view bytes) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const char byte : bytes) {
        pending = pending << 8 | static_cast<unsigned char>(byte);
        for (pending_bits += 8; pending_bits >= 6; pending_bits -= 6) {
            text.push_back(kAlphabet[pending >> (pending_bits - 6) & 0x3f]);
        }
    }
    if (pending_bits > 0) {
        text.push_back(kAlphabet[pending << (6 - pending_bits) & 0x3f]);
    }
    text.resize((text.size() + 3) / 4 * 4, '=');
    return text;
}

/// False for codes that only filters have.
bool are_codes_of_an_acl(std::int8_t resource, std::int8_t pattern, std::int8_t operation, std::int8_t effect) {
    return access::is_resource_code(resource) && resource != access::kAnyCode && access::is_pattern_code(pattern) &&
           pattern != access::kAnyCode && pattern != access::kMatchCode && access::is_operation_code(operation) &&
           operation != access::kAnyCode && access::is_effect_code(effect) && effect != access::kAnyCode;
}

/// "User:alice". The name may contain colons.
access::PrincipalName principal_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) {
        return {.type = {}, .name = std::string(text)};
    }
    return {.type = std::string(text.substr(0, colon)), .name = std::string(text.substr(colon + 1))};
}

}  // namespace

std::optional<bool> KafkaAccess::apply(std::uint32_t kind, Cursor& cursor) {
    switch (static_cast<AccessRecordKind>(kind)) {
        case AccessRecordKind::delegation_token:
            return apply_token(cursor);
        case AccessRecordKind::scram_credential:
            return apply_credential(cursor);
        case AccessRecordKind::acl:
            return apply_acl(cursor);
        case AccessRecordKind::remove_acl:
            return apply_acl_removal(cursor);
        case AccessRecordKind::remove_scram_credential:
            return apply_credential_removal(cursor);
        case AccessRecordKind::remove_delegation_token:
            return apply_token_removal(cursor);
    }
    return std::nullopt;
}

bool KafkaAccess::apply_credential(Cursor& cursor) {
    std::optional<std::string> user;
    std::int8_t mechanism = 0;
    std::optional<std::string> salt;
    std::optional<std::string> stored_key;
    std::optional<std::string> server_key;
    ScramCredential credential;
    if (!read_compact_text(cursor, user) || !user || !cursor.read(mechanism) || !read_compact_text(cursor, salt) || !salt ||
        !read_compact_text(cursor, stored_key) || !stored_key || !read_compact_text(cursor, server_key) || !server_key ||
        !cursor.read(credential.iterations)) {
        return false;
    }
    credential.salt = base64(*salt);
    credential.stored_key = base64(*stored_key);
    credential.server_key = base64(*server_key);
    if (const std::string_view name = scram_mechanism_name(static_cast<ScramMechanism>(mechanism)); !name.empty()) {
        scram_credentials_[*user].insert_or_assign(std::string(name), scram_credential_text(credential));
    }
    return true;
}

bool KafkaAccess::apply_credential_removal(Cursor& cursor) {
    std::optional<std::string> user;
    std::int8_t mechanism = 0;
    if (!read_compact_text(cursor, user) || !user || !cursor.read(mechanism)) {
        return false;
    }
    if (const auto found = scram_credentials_.find(*user); found != scram_credentials_.end()) {
        found->second.erase(std::string(scram_mechanism_name(static_cast<ScramMechanism>(mechanism))));
        if (found->second.empty()) {
            scram_credentials_.erase(found);
        }
    }
    return true;
}

bool KafkaAccess::apply_acl(Cursor& cursor) {
    Uuid id;
    std::int8_t resource = 0;
    std::int8_t pattern = 0;
    std::int8_t operation = 0;
    std::int8_t effect = 0;
    access::Acl acl;
    if (!read_id(cursor, id) || !cursor.read(resource) || !read_compact_text(cursor, acl.name) || !cursor.read(pattern) ||
        !read_compact_text(cursor, acl.principal) || !read_compact_text(cursor, acl.host) || !cursor.read(operation) ||
        !cursor.read(effect)) {
        return false;
    }
    if (!are_codes_of_an_acl(resource, pattern, operation, effect)) {
        unknown_acls_.insert(id);
        return true;
    }
    acl.resource = static_cast<access::ResourceType>(resource);
    acl.pattern = static_cast<access::PatternType>(pattern);
    acl.operation = static_cast<access::Operation>(operation);
    acl.effect = static_cast<access::AclEffect>(effect);
    acls_.insert_or_assign(id, std::move(acl));
    return true;
}

bool KafkaAccess::apply_acl_removal(Cursor& cursor) {
    Uuid id;
    if (!read_id(cursor, id)) {
        return false;
    }
    acls_.erase(id);
    unknown_acls_.erase(id);
    return true;
}

bool KafkaAccess::apply_token(Cursor& cursor) {
    std::string owner;
    std::string requester;
    std::uint32_t count_and_one = 0;
    access::DelegationToken token;
    if (!read_compact_text(cursor, owner) || !read_compact_text(cursor, requester) ||
        !cursor.read_unsigned_varint(count_and_one)) {
        return false;
    }
    // Each element takes a byte at least.
    for (std::uint32_t index = 1; index < count_and_one; ++index) {
        std::string renewer;
        if (!read_compact_text(cursor, renewer)) {
            return false;
        }
        token.renewers.push_back(principal_of(renewer));
    }
    if (!cursor.read(token.issued.value) || !cursor.read(token.latest.value) || !cursor.read(token.expires.value) ||
        !read_compact_text(cursor, token.id)) {
        return false;
    }
    token.owner = principal_of(owner);
    token.requester = principal_of(requester);
    if (!token.id.empty()) {
        tokens_.insert_or_assign(token.id, std::move(token));
    }
    return true;
}

bool KafkaAccess::apply_token_removal(Cursor& cursor) {
    std::string id;
    if (!read_compact_text(cursor, id)) {
        return false;
    }
    tokens_.erase(id);
    return true;
}

std::vector<access::Acl> KafkaAccess::acls() const {
    std::vector<access::Acl> acls;
    acls.reserve(acls_.size());
    for (const auto& [id, acl] : acls_) {
        acls.push_back(acl);
    }
    std::ranges::sort(acls);
    const auto repeated = std::ranges::unique(acls);
    acls.erase(repeated.begin(), repeated.end());
    return acls;
}

std::vector<access::DelegationToken> KafkaAccess::delegation_tokens() const {
    std::vector<access::DelegationToken> tokens;
    for (const auto& [id, token] : tokens_) {
        tokens.push_back(token);
    }
    return tokens;
}

}  // namespace partita::catalog
