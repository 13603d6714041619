#include "broker/authentication/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "protocol/assert.h"

namespace partita::authentication {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> digits_of(std::string_view alphabet) {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return digits;
}

constexpr auto kDigits = digits_of(kAlphabet);
constexpr auto kUrlDigits = digits_of(kUrlAlphabet);

const EVP_MD* algorithm(Hash hash) { return hash == Hash::sha_512 ? EVP_sha512() : EVP_sha256(); }

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::optional<std::string> decode(std::string_view text, const std::array<std::uint8_t, 256>& digits) {
    const std::size_t padding_at = text.find('=');
    const std::string_view padding = padding_at == text.npos ? std::string_view() : text.substr(padding_at);
    const std::string_view body = text.substr(0, padding_at);
    // A single digit cannot hold a byte; padding must fill a group of four.
    if (body.size() % 4 == 1 || (!padding.empty() && padding != std::string_view("==").substr(body.size() % 4 == 3)) ||
        (!padding.empty() && body.size() % 4 < 2)) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(body.size() / 4 * 3 + 2);
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const char letter : body) {
        const std::uint8_t digit = digits[static_cast<unsigned char>(letter)];
        if (digit == kNoDigit) {
            return std::nullopt;
        }
        pending = (pending << 6 | digit) & 0xffff;
        pending_bits += 6;
        if (pending_bits >= 8) {
            pending_bits -= 8;
            bytes.push_back(static_cast<char>(pending >> pending_bits & 0xff));
        }
    }
    return bytes;
}

}  // namespace

std::size_t hash_bytes(Hash hash) { return hash == Hash::sha_512 ? 64 : 32; }

std::string digest(Hash hash, std::string_view message) {
    std::string result(hash_bytes(hash), '\0');
    const int done = EVP_Digest(message.data(), message.size(), bytes_of(result), nullptr, algorithm(hash), nullptr);
    PARTITA_ASSERT(done == 1, "libcrypto has SHA-2");
    return result;
}

std::string keyed_digest(Hash hash, std::string_view key, std::string_view message) {
    std::string result(hash_bytes(hash), '\0');
    // An empty key is valid, but libcrypto does not accept a null pointer.
    const char* const key_data = key.empty() ? "" : key.data();
    const unsigned char* done = HMAC(algorithm(hash), key_data, static_cast<int>(key.size()), bytes_of(message), message.size(),
                                     bytes_of(result), nullptr);
    PARTITA_ASSERT(done != nullptr, "libcrypto has HMAC with SHA-2");
    return result;
}

std::string salted_password(Hash hash, std::string_view password, std::string_view salt, std::int32_t iterations) {
    PARTITA_ASSERT(iterations >= 1, "a password is salted at least once");
    std::string result(hash_bytes(hash), '\0');
    const int done =
        PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt), static_cast<int>(salt.size()),
                          iterations, algorithm(hash), static_cast<int>(result.size()), bytes_of(result));
    PARTITA_ASSERT(done == 1, "libcrypto has PBKDF2");
    return result;
}

bool equal_in_constant_time(std::string_view one, std::string_view other) {
    // Texts of different lengths are compared anyway, to take the same time.
    const bool same_length = one.size() == other.size();
    const std::string_view compared = same_length ? other : one;
    return CRYPTO_memcmp(one.data(), compared.data(), one.size()) == 0 && same_length;
}

void wipe(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

std::string to_base64(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int length = EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

std::optional<std::string> from_base64(std::string_view text) { return decode(text, kDigits); }

std::optional<std::string> from_base64_url(std::string_view text) { return decode(text, kUrlDigits); }

}  // namespace partita::authentication
