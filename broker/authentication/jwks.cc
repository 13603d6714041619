#include "broker/authentication/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>

#include "broker/authentication/crypto.h"
#include "broker/authentication/json_text.h"

namespace partita::authentication {
namespace {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;
using KeyPointer = std::shared_ptr<EVP_PKEY>;

const unsigned char* octets_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

enum class Family : std::uint8_t { rsa, rsa_pss, ec, ed };

struct Algorithm {
    std::string_view name;
    Family family;
    const EVP_MD* (*digest)();
    /// For elliptic curves: the name in libcrypto, and the size of each number in a signature.
    std::string_view curve{};
    std::size_t number_bytes = 0;
};

constexpr std::array<Algorithm, 10> kAlgorithms = {{
    {"RS256", Family::rsa, EVP_sha256},
    {"RS384", Family::rsa, EVP_sha384},
    {"RS512", Family::rsa, EVP_sha512},
    {"PS256", Family::rsa_pss, EVP_sha256},
    {"PS384", Family::rsa_pss, EVP_sha384},
    {"PS512", Family::rsa_pss, EVP_sha512},
    {"ES256", Family::ec, EVP_sha256, "prime256v1", 32},
    {"ES384", Family::ec, EVP_sha384, "secp384r1", 48},
    {"ES512", Family::ec, EVP_sha512, "secp521r1", 66},
    {"EdDSA", Family::ed, nullptr},
}};

const Algorithm* find_algorithm(std::string_view name) {
    for (const Algorithm& algorithm : kAlgorithms) {
        if (algorithm.name == name) {
            return &algorithm;
        }
    }
    return nullptr;
}

std::string_view text_of(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() || !found->is_string() ? std::string_view() : found->get_ref<const std::string&>();
}

Number number_of(const nlohmann::json& object, const char* name) {
    const std::optional<std::string> bytes = from_base64_url(text_of(object, name));
    if (!bytes || bytes->empty() || bytes->size() > 2048) {
        return nullptr;
    }
    return Number(BN_bin2bn(octets_of(*bytes), static_cast<int>(bytes->size()), nullptr));
}

KeyPointer key_from(const char* type, OSSL_PARAM_BLD* builder) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
        return nullptr;
    }
    return KeyPointer(key, EVP_PKEY_free);
}

KeyPointer rsa_key(const nlohmann::json& json) {
    const Number modulus = number_of(json, "n");
    const Number exponent = number_of(json, "e");
    const ParameterBuilder builder(OSSL_PARAM_BLD_new());
    if (!modulus || !exponent || !builder || BN_num_bits(modulus.get()) < kRsaBitsMin ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
        return nullptr;
    }
    return key_from("RSA", builder.get());
}

KeyPointer ec_key(const nlohmann::json& json) {
    const std::string_view curve_name = text_of(json, "crv");
    const Algorithm* const algorithm = curve_name == "P-256"   ? find_algorithm("ES256")
                                       : curve_name == "P-384" ? find_algorithm("ES384")
                                       : curve_name == "P-521" ? find_algorithm("ES512")
                                                               : nullptr;
    const std::optional<std::string> x = from_base64_url(text_of(json, "x"));
    const std::optional<std::string> y = from_base64_url(text_of(json, "y"));
    if (algorithm == nullptr || !x || !y || x->size() != algorithm->number_bytes || y->size() != algorithm->number_bytes) {
        return nullptr;
    }
    const std::string point = "\x04" + *x + *y;  // uncompressed
    const ParameterBuilder builder(OSSL_PARAM_BLD_new());
    if (!builder ||
        OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, algorithm->curve.data(),
                                        algorithm->curve.size()) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
        return nullptr;
    }
    return key_from("EC", builder.get());
}

KeyPointer ed_key(const nlohmann::json& json) {
    const std::optional<std::string> x = from_base64_url(text_of(json, "x"));
    if (text_of(json, "crv") != "Ed25519" || !x) {
        return nullptr;
    }
    EVP_PKEY* const key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets_of(*x), x->size());
    return key == nullptr ? nullptr : KeyPointer(key, EVP_PKEY_free);
}

KeyPointer key_of(const nlohmann::json& json) {
    const std::string_view type = text_of(json, "kty");
    if (type == "RSA") {
        return rsa_key(json);
    }
    if (type == "EC") {
        return ec_key(json);
    }
    if (type == "OKP") {
        return ed_key(json);
    }
    return nullptr;
}

bool fits(const Algorithm& algorithm, const KeySet::Key& key) {
    if (!key.algorithm.empty() && key.algorithm != algorithm.name) {
        return false;
    }
    switch (algorithm.family) {
        case Family::rsa:
        case Family::rsa_pss:
            return EVP_PKEY_is_a(key.key.get(), "RSA") == 1;
        case Family::ec: {
            std::array<char, 32> name{};
            return EVP_PKEY_is_a(key.key.get(), "EC") == 1 &&
                   EVP_PKEY_get_utf8_string_param(key.key.get(), OSSL_PKEY_PARAM_GROUP_NAME, name.data(), name.size(), nullptr) ==
                       1 &&
                   algorithm.curve == name.data();
        }
        case Family::ed:
            return EVP_PKEY_is_a(key.key.get(), "ED25519") == 1;
    }
    return false;
}

/// Converts a signature: a token has the two numbers side by side, libcrypto expects DER. Empty if they are invalid.
std::string der_of(const Algorithm& algorithm, std::string_view signature) {
    if (signature.size() != 2 * algorithm.number_bytes) {
        return {};
    }
    const int bytes = static_cast<int>(algorithm.number_bytes);
    Number r(BN_bin2bn(octets_of(signature), bytes, nullptr));
    Number s(BN_bin2bn(octets_of(signature) + bytes, bytes, nullptr));
    const EcSignature numbers(ECDSA_SIG_new());
    if (!r || !s || !numbers || ECDSA_SIG_set0(numbers.get(), r.get(), s.get()) != 1) {
        return {};
    }
    // The signature owns them now.
    static_cast<void>(r.release());
    static_cast<void>(s.release());  // this one, too
    const int size = i2d_ECDSA_SIG(numbers.get(), nullptr);
    if (size <= 0) {
        return {};
    }
    std::string der(static_cast<std::size_t>(size), '\0');
    auto* out = reinterpret_cast<unsigned char*>(der.data());
    return i2d_ECDSA_SIG(numbers.get(), &out) == size ? der : std::string();
}

bool is_signed(const Algorithm& algorithm, EVP_PKEY* key, std::string_view message, std::string_view signature) {
    const DigestContext context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* options = nullptr;  // Owned by `context`.
    const EVP_MD* const digest = algorithm.digest == nullptr ? nullptr : algorithm.digest();
    if (!context || EVP_DigestVerifyInit(context.get(), &options, digest, nullptr, key) != 1) {
        return false;
    }
    if (algorithm.family == Family::rsa_pss && (EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) != 1 ||
                                                EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) != 1)) {
        return false;
    }
    const std::string der = algorithm.family == Family::ec ? der_of(algorithm, signature) : std::string(signature);
    return !der.empty() && EVP_DigestVerify(context.get(), octets_of(der), der.size(), octets_of(message), message.size()) == 1;
}

}  // namespace

std::expected<KeySet, std::string> KeySet::parse(std::string_view text) {
    if (text.size() > kKeySetBytesMax) {
        return std::unexpected("the key set is longer than " + std::to_string(kKeySetBytesMax) + " bytes");
    }
    const std::optional<nlohmann::json> json = parse_json_object(text);
    const auto keys = json ? json->find("keys") : nlohmann::json::const_iterator();
    if (!json || keys == json->end() || !keys->is_array()) {
        return std::unexpected("it is not a JSON Web Key Set: an object with an array `keys`");
    }
    if (keys->size() > kKeysMax) {
        return std::unexpected("the key set has more than " + std::to_string(kKeysMax) + " keys");
    }
    KeySet set;
    for (const nlohmann::json& item : *keys) {
        if (!item.is_object() || text_of(item, "use") == "enc") {
            continue;
        }
        if (KeyPointer key = key_of(item)) {
            set.keys_.push_back(
                {.id = std::string(text_of(item, "kid")), .algorithm = std::string(text_of(item, "alg")), .key = std::move(key)});
        }
    }
    return set;
}

bool KeySet::has(std::string_view key_id) const { return std::ranges::find(keys_, key_id, &Key::id) != keys_.end(); }

bool KeySet::verifies(std::string_view algorithm_name, std::optional<std::string_view> key_id, std::string_view message,
                      std::string_view signature) const {
    const Algorithm* const algorithm = find_algorithm(algorithm_name);
    if (algorithm == nullptr) {
        return false;
    }
    for (const Key& key : keys_) {
        if (key_id && *key_id != key.id) {
            continue;
        }
        if (fits(*algorithm, key) && is_signed(*algorithm, key.key.get(), message, signature)) {
            return true;
        }
    }
    return false;
}

}  // namespace partita::authentication
