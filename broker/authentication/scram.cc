#include "broker/authentication/scram.h"

#include <charconv>
#include <utility>
#include <vector>

#include "broker/authentication/sasl_text.h"
#include "protocol/try.h"

namespace partita::authentication {
namespace {

/// Limit of a message's attributes; no valid message has more.
constexpr std::size_t kAttributesMax = 32;

/// The attributes between commas; values contain no commas. Empty if there are too many.
std::vector<std::string_view> attributes_of(std::string_view message) {
    std::vector<std::string_view> attributes;
    while (attributes.size() < kAttributesMax) {
        const std::size_t comma = message.find(',');
        attributes.push_back(message.substr(0, comma));
        if (comma == message.npos) {
            return attributes;
        }
        message.remove_prefix(comma + 1);
    }
    return {};
}

bool is_ascii_without_null(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) - 1u > 0x7eu) {
            return false;
        }
    }
    return !text.empty();
}

/// printable of RFC 5802 without the comma, at which the message was already split.
bool is_printable(std::string_view text) {
    for (const char c : text) {
        if (c < 0x21 || c > 0x7e) {
            return false;
        }
    }
    return !text.empty();
}

/// Decodes a saslname.
std::string name_of(std::string_view sasl_name) {
    std::string name;
    while (!sasl_name.empty()) {
        if (sasl_name.starts_with("=2C") || sasl_name.starts_with("=3D")) {
            name.push_back(sasl_name[1] == '2' ? ',' : '=');
            sasl_name.remove_prefix(3);
        } else {
            name.push_back(sasl_name.front());
            sasl_name.remove_prefix(1);
        }
    }
    return name;
}

std::string sasl_name_of(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (c == ',') {
            result += "=2C";
        } else if (c == '=') {
            result += "=3D";
        } else {
            result.push_back(c);
        }
    }
    return result;
}

struct Extension {
    std::string_view name;
    std::string_view value;
};

std::optional<Extension> extension_of(std::string_view attribute) {
    const std::size_t equals = attribute.find('=');
    if (equals == 0 || equals == attribute.npos) {
        return std::nullopt;
    }
    const Extension extension{attribute.substr(0, equals), attribute.substr(equals + 1)};
    for (const char c : extension.name) {
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
            return std::nullopt;
        }
    }
    return is_ascii_without_null(extension.value) ? std::optional(extension) : std::nullopt;
}

/// Strict base64: whole groups of four, as in the grammar of RFC 5802.
std::optional<std::string> whole_base64(std::string_view text) { return text.size() % 4 == 0 ? from_base64(text) : std::nullopt; }

bool is_true(std::string_view text) {
    if (text.size() != 4) {
        return false;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if ((text[i] | 0x20) != "true"[i]) {
            return false;
        }
    }
    return true;
}

/// The texts have the same length.
std::string exclusive_or(std::string_view one, std::string_view other) {
    std::string result(one);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = static_cast<char>(result[i] ^ other[i]);
    }
    return result;
}

std::optional<std::int32_t> positive_number(std::string_view text) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number <= 0) {
        return std::nullopt;
    }
    return number;
}

LoginFailure malformed(std::string_view which) {
    return hidden("Invalid SCRAM client " + std::string(which) + " message format");
}

}  // namespace

std::optional<ScramCredential> parse_scram_credential(std::string_view text) {
    ScramCredential credential;
    for (const std::string_view attribute : attributes_of(text)) {
        const std::size_t equals = attribute.find('=');
        if (equals == attribute.npos) {
            return std::nullopt;
        }
        const std::string_view name = attribute.substr(0, equals);
        const std::string_view value = attribute.substr(equals + 1);
        if (name == "iterations") {
            const std::optional<std::int32_t> iterations = positive_number(value);
            if (!iterations) {
                return std::nullopt;
            }
            credential.iterations = *iterations;
            continue;
        }
        std::string* const field = name == "salt"         ? &credential.salt
                                   : name == "stored_key" ? &credential.stored_key
                                   : name == "server_key" ? &credential.server_key
                                                          : nullptr;
        std::optional<std::string> bytes = from_base64(value);
        if (field == nullptr || !bytes) {
            return std::nullopt;
        }
        *field = std::move(*bytes);
    }
    if (credential.iterations == 0 || credential.stored_key.empty() || credential.server_key.empty()) {
        return std::nullopt;
    }
    return credential;
}

ScramCredential make_scram_credential(Hash hash, std::string_view password, std::string_view salt, std::int32_t iterations) {
    std::string salted = salted_password(hash, password, salt, iterations);
    ScramCredential credential{.salt = std::string(salt),
                               .stored_key = digest(hash, keyed_digest(hash, salted, "Client Key")),
                               .server_key = keyed_digest(hash, salted, "Server Key"),
                               .iterations = iterations};
    wipe(salted);
    return credential;
}

std::expected<ScramFirstMessage, LoginFailure> parse_scram_first(std::string_view message) {
    const std::vector<std::string_view> attributes = attributes_of(message);
    std::size_t at = 0;
    const auto take = [&](std::string_view prefix) -> std::optional<std::string_view> {
        if (at >= attributes.size() || !attributes[at].starts_with(prefix)) {
            return std::nullopt;
        }
        return attributes[at++].substr(prefix.size());
    };
    ScramFirstMessage first;
    // Channel binding (p=...) needs TLS, and Kafka does not support it.
    if (const auto binding = take("n"); !binding || !binding->empty()) {
        return std::unexpected(malformed("first"));
    }
    if (const auto identity = take("a="); identity) {
        if (!is_sasl_name(*identity)) {
            return std::unexpected(malformed("first"));
        }
        first.authorization_id = *identity;
    } else if (const auto none = take(""); !none || !none->empty()) {
        return std::unexpected(malformed("first"));
    }
    if (const auto reserved = take("m="); reserved && !is_ascii_without_null(*reserved)) {
        return std::unexpected(malformed("first"));
    }
    const auto name = take("n=");
    const auto nonce = name && is_sasl_name(*name) ? take("r=") : std::nullopt;
    if (!nonce || !is_printable(*nonce)) {
        return std::unexpected(malformed("first"));
    }
    first.user = name_of(*name);
    first.nonce = *nonce;
    first.bare = "n=" + std::string(*name) + ",r=" + first.nonce;
    for (; at < attributes.size(); ++at) {
        const std::optional<Extension> extension = extension_of(attributes[at]);
        if (!extension) {
            return std::unexpected(malformed("first"));
        }
        if (extension->name == "tokenauth") {
            first.token_authentication = is_true(extension->value);
        }
        first.bare += "," + std::string(attributes[at]);
    }
    return first;
}

std::expected<ScramFinalMessage, LoginFailure> parse_scram_final(std::string_view message) {
    const std::vector<std::string_view> attributes = attributes_of(message);
    if (attributes.size() < 3 || !attributes[0].starts_with("c=") || !attributes[1].starts_with("r=") ||
        !attributes.back().starts_with("p=")) {
        return std::unexpected(malformed("final"));
    }
    for (std::size_t i = 2; i + 1 < attributes.size(); ++i) {
        if (!extension_of(attributes[i])) {
            return std::unexpected(malformed("final"));
        }
    }
    const std::optional<std::string> binding = whole_base64(attributes[0].substr(2));
    std::optional<std::string> proof = whole_base64(attributes.back().substr(2));
    const std::string_view nonce = attributes[1].substr(2);
    if (!binding || !proof || !is_printable(nonce)) {
        return std::unexpected(malformed("final"));
    }
    return ScramFinalMessage{.nonce = std::string(nonce),
                             .proof = std::move(*proof),
                             .without_proof = "c=" + to_base64(*binding) + ",r=" + std::string(nonce)};
}

std::expected<std::string, LoginFailure> ScramServer::begin(const ScramFirstMessage& first, ScramCredential credential,
                                                            std::string_view nonce) {
    if (!first.authorization_id.empty() && first.authorization_id != first.user) {
        return std::unexpected(
            told("Authentication failed: Client requested an authorization id that is different from username"));
    }
    if (credential.iterations < kScramIterationsMin) {
        return std::unexpected(hidden("Iterations " + std::to_string(credential.iterations) + " is less than the minimum " +
                                      std::to_string(kScramIterationsMin)));
    }
    credential_ = std::move(credential);
    nonce_ = first.nonce + std::string(nonce);
    std::string server_first =
        "r=" + nonce_ + ",s=" + to_base64(credential_.salt) + ",i=" + std::to_string(credential_.iterations);
    signed_so_far_ = first.bare + "," + server_first + ",";
    return server_first;
}

std::expected<std::string, LoginFailure> ScramServer::finish(std::string_view client_final) {
    PARTITA_TRY_ASSIGN(auto final_message, parse_scram_final(client_final));
    if (final_message.nonce != nonce_) {
        return std::unexpected(hidden("Invalid client nonce in the final client message."));
    }
    const std::string signed_text = signed_so_far_ + final_message.without_proof;
    const std::string client_signature = keyed_digest(hash_, credential_.stored_key, signed_text);
    if (final_message.proof.size() != client_signature.size()) {
        return std::unexpected(broken("the proof is not as long as the hash"));
    }
    std::string client_key = exclusive_or(final_message.proof, client_signature);
    const bool is_right = equal_in_constant_time(digest(hash_, client_key), credential_.stored_key);
    wipe(client_key);
    std::string server_signature = keyed_digest(hash_, credential_.server_key, signed_text);
    wipe(credential_.server_key);
    wipe(credential_.stored_key);
    if (!is_right) {
        return std::unexpected(hidden("Invalid client credentials"));
    }
    return "v=" + to_base64(server_signature);
}

ScramClient::ScramClient(Hash hash, std::string user, std::string password, std::string nonce, bool by_token)
    : hash_(hash), user_(sasl_name_of(user)), password_(std::move(password)), nonce_(std::move(nonce)), by_token_(by_token) {}

std::string ScramClient::first_message() const { return "n,,n=" + user_ + ",r=" + nonce_ + (by_token_ ? ",tokenauth=true" : ""); }

std::expected<std::string, std::string> ScramClient::answer(std::string_view server_first) {
    const std::vector<std::string_view> attributes = attributes_of(server_first);
    if (attributes.size() < 3 || !attributes[0].starts_with("r=") || !attributes[1].starts_with("s=") ||
        !attributes[2].starts_with("i=")) {
        return std::unexpected("the broker's first SCRAM message is malformed");
    }
    const std::string_view nonce = attributes[0].substr(2);
    if (!nonce.starts_with(nonce_) || nonce.size() == nonce_.size()) {
        return std::unexpected("the broker's SCRAM nonce does not begin with ours");
    }
    const std::optional<std::string> salt = whole_base64(attributes[1].substr(2));
    const std::optional<std::int32_t> iterations = positive_number(attributes[2].substr(2));
    if (!salt || !iterations || *iterations > kScramClientIterationsMax) {
        return std::unexpected("the broker's first SCRAM message has no usable salt and iterations");
    }
    std::string salted = salted_password(hash_, password_, *salt, *iterations);
    std::string client_key = keyed_digest(hash_, salted, "Client Key");
    // biws is "n,,": no channel binding.
    const std::string without_proof = "c=biws,r=" + std::string(nonce);
    const std::string signed_text = first_message().substr(3) + "," + std::string(server_first) + "," + without_proof;
    const std::string signature = keyed_digest(hash_, digest(hash_, client_key), signed_text);
    server_signature_ = keyed_digest(hash_, keyed_digest(hash_, salted, "Server Key"), signed_text);
    const std::string proof = exclusive_or(client_key, signature);
    wipe(salted);
    wipe(client_key);
    return without_proof + ",p=" + to_base64(proof);
}

std::expected<void, std::string> ScramClient::check(std::string_view server_final) const {
    const std::string_view attribute = server_final.substr(0, server_final.find(','));
    if (attribute.starts_with("e=")) {
        return std::unexpected("the broker says: " + std::string(attribute.substr(2)));
    }
    const auto signature = attribute.starts_with("v=") ? whole_base64(attribute.substr(2)) : std::nullopt;
    if (!signature || server_signature_.empty() || !equal_in_constant_time(*signature, server_signature_)) {
        return std::unexpected("the broker does not know the password: its SCRAM signature is wrong");
    }
    return {};
}

}  // namespace partita::authentication
