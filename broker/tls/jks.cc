#include "broker/tls/jks.h"

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "broker/tls/encrypted.h"
#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"

namespace partita::tls {
namespace {

constexpr std::uint32_t kMagic = 0xfeedfeed;
constexpr std::uint32_t kJceksMagic = 0xcececece;
constexpr std::uint32_t kKeyTag = 1;
constexpr std::uint32_t kCertificateTag = 2;
constexpr std::size_t kDigestBytes = 20;  // SHA-1
using Digest = std::array<std::byte, kDigestBytes>;
/// Sun's own algorithm for protecting keys.
constexpr std::string_view kProtector = "1.3.6.1.4.1.42.2.17.1.1";
/// Part of the digest of every store.
constexpr std::string_view kWhitener = "Mighty Aphrodite";

/// SHA-1 over the concatenated pieces.
Digest sha1(std::initializer_list<Bytes> pieces) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    Digest digest;
    bool is_done = state != nullptr && EVP_DigestInit_ex(state.get(), EVP_sha1(), nullptr) == 1;
    for (const Bytes piece : pieces) {
        is_done = is_done && EVP_DigestUpdate(state.get(), piece.data(), piece.size()) == 1;
    }
    is_done = is_done && EVP_DigestFinal_ex(state.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1;
    PARTITA_ASSERT(is_done, "SHA-1 needs no more than memory");
    return digest;
}

/// Removes and returns the first UTF-8 code point of `text`. An invalid byte stands for itself.
char32_t take_code_point(std::string_view& text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    const auto is_behind = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; };
    if (more == 0 || text.size() <= more || !std::ranges::all_of(text.substr(1, more), is_behind)) {
        text.remove_prefix(1);
        return first;
    }
    char32_t point = first & (0x3fu >> more);
    for (const char c : text.substr(1, more)) {
        point = point << 6u | (static_cast<unsigned char>(c) & 0x3fu);
    }
    text.remove_prefix(more + 1);
    return point;
}

/// The password as Java hashes it: each char of its string as two bytes.
std::string java_chars(std::string_view password) {
    std::string chars;
    const auto append = [&](char32_t unit) {
        chars += static_cast<char>(unit >> 8u & 0xffu);
        chars += static_cast<char>(unit & 0xffu);
    };
    while (!password.empty()) {
        const char32_t point = take_code_point(password);
        if (point < 0x10000) {
            append(point);
        } else {
            append(0xd800 + ((point - 0x10000) >> 10u));
            append(0xdc00 + ((point - 0x10000) & 0x3ffu));
        }
    }
    return chars;
}

/// Reads from the front of bytes. After an underrun every read returns empty or zero, and `is_short` is true.
class JksReader {
  public:
    explicit JksReader(Bytes bytes) : rest_(bytes) {}

    Bytes take(std::size_t count) {
        if (count > rest_.size()) {
            is_short_ = true;
            rest_ = {};
            return {};
        }
        const Bytes taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    template <class Number>
    Number number() {
        const Bytes taken = take(sizeof(Number));
        return taken.empty() ? Number{0} : load_big_endian<Number>(taken.data());
    }
    /// A length followed by that many bytes.
    Bytes counted() { return take(number<std::uint32_t>()); }
    std::string_view text() { return as_text(take(number<std::uint16_t>())); }

    [[nodiscard]] bool is_short() const { return is_short_; }
    [[nodiscard]] std::size_t rest() const { return rest_.size(); }

  private:
    Bytes rest_;
    bool is_short_ = false;
};

std::unexpected<std::string> cut_off() {
    return std::unexpected<std::string>("it ends in the middle: it is truncated or not a key store");
}

std::expected<Certificate, std::string> take_certificate(JksReader& reader, std::uint32_t version) {
    if (version == 2) {
        const std::string_view type = reader.text();
        if (reader.is_short()) {
            return cut_off();
        }
        if (type != "X.509") {
            return std::unexpected("a certificate in it is of type \"" + printable(type) + "\", not X.509");
        }
    }
    const Bytes der = reader.counted();
    if (reader.is_short()) {
        return cut_off();
    }
    const auto* from = reinterpret_cast<const unsigned char*>(der.data());
    Certificate certificate(d2i_X509(nullptr, &from, static_cast<long>(der.size())));
    if (certificate == nullptr) {
        return std::unexpected("a certificate in it cannot be read: " + take_openssl_reason());
    }
    return certificate;
}

/// Decrypts the output of Java's key protector: a salt, the key XORed with a stream of digests, and a digest to check.
std::expected<PrivateKey, std::string> reveal_key(Bytes hidden, const std::string& password) {
    if (hidden.size() <= 2 * kDigestBytes) {
        return std::unexpected("is too short");
    }
    const Bytes salt = hidden.first(kDigestBytes);
    const Bytes check = hidden.last(kDigestBytes);
    const Bytes covered = hidden.subspan(kDigestBytes, hidden.size() - 2 * kDigestBytes);
    std::string key(covered.size(), '\0');
    const Wiped wiped(key);
    Digest pad;
    std::ranges::copy(salt, pad.begin());
    for (std::size_t at = 0; at < covered.size(); ++at) {
        if (at % kDigestBytes == 0) {
            pad = sha1({as_bytes(password), pad});
        }
        key[at] = static_cast<char>(covered[at] ^ pad[at % kDigestBytes]);
    }
    const Digest right = sha1({as_bytes(password), as_bytes(key)});
    if (CRYPTO_memcmp(right.data(), check.data(), kDigestBytes) != 0) {
        return std::unexpected("cannot be decrypted: the password is wrong");
    }
    const auto* from = reinterpret_cast<const unsigned char*>(key.data());
    const KeyInfoPointer info(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &from, static_cast<long>(key.size())));
    PrivateKey made(info == nullptr ? nullptr : EVP_PKCS82PKEY(info.get()));
    if (made == nullptr) {
        return std::unexpected("cannot be read: " + take_openssl_reason());
    }
    return made;
}

std::expected<PrivateKey, std::string> parse_protected_key(Bytes der, const std::string& password) {
    const auto* from = reinterpret_cast<const unsigned char*>(der.data());
    const EncryptedPointer encrypted(d2i_X509_SIG(nullptr, &from, static_cast<long>(der.size())));
    if (encrypted == nullptr) {
        return std::unexpected("cannot be read: " + take_openssl_reason());
    }
    const X509_ALGOR* algorithm = nullptr;
    const ASN1_OCTET_STRING* hidden = nullptr;
    X509_SIG_get0(encrypted.get(), &algorithm, &hidden);
    std::array<char, 64> name{};
    OBJ_obj2txt(name.data(), name.size(), algorithm->algorithm, 1);
    if (kProtector != name.data()) {
        return std::unexpected("uses an encryption algorithm that JKS does not have: " + std::string(name.data()));
    }
    return reveal_key(
        std::as_bytes(std::span(ASN1_STRING_get0_data(hidden), static_cast<std::size_t>(ASN1_STRING_length(hidden)))), password);
}

class JksParser {
  public:
    JksParser(Bytes bytes, const StorePasswords& passwords, StoreUse use)
        : all_(bytes), reader_(bytes), passwords_(passwords), use_(use) {}

    std::expected<StoreContents, std::string> parse() {
        const auto magic = reader_.number<std::uint32_t>();
        version_ = reader_.number<std::uint32_t>();
        const auto count = reader_.number<std::uint32_t>();
        if (reader_.is_short()) {
            return cut_off();
        }
        if (magic != kMagic) {
            return std::unexpected("it is not a JKS store");
        }
        if (version_ != 1 && version_ != 2) {
            return std::unexpected("it is a JKS store of version " + std::to_string(version_));
        }
        if (count > kStoreEntriesMax) {
            return std::unexpected("it declares " + std::to_string(count) + " entries; " + std::to_string(kStoreEntriesMax) +
                                   " are allowed");
        }
        // Before the parser trusts any content.
        PARTITA_TRY(check_digest());
        for (std::uint32_t each = 0; each < count; ++each) {
            PARTITA_TRY(take_entry());
        }
        if (reader_.rest() < kDigestBytes) {
            return cut_off();
        }
        return std::move(contents_);
    }

  private:
    /// The store ends with the digest.
    [[nodiscard]] std::expected<void, std::string> check_digest() const {
        if (!passwords_.store) {
            return {};
        }
        if (reader_.rest() < kDigestBytes) {
            return cut_off();
        }
        std::string password = java_chars(*passwords_.store);
        const Wiped wiped(password);
        const Digest right = sha1({as_bytes(password), as_bytes(kWhitener), all_.first(all_.size() - kDigestBytes)});
        if (CRYPTO_memcmp(right.data(), all_.last(kDigestBytes).data(), kDigestBytes) != 0) {
            return std::unexpected("its digest is wrong: the password is wrong, or the file was changed");
        }
        return {};
    }

    std::expected<void, std::string> take_entry() {
        const auto tag = reader_.number<std::uint32_t>();
        const std::string alias = printable(reader_.text());
        reader_.take(sizeof(std::uint64_t));  // The creation date.
        if (reader_.is_short()) {
            return cut_off();
        }
        if (tag == kKeyTag) {
            return take_key(alias);
        }
        if (tag != kCertificateTag) {
            return std::unexpected("entry \"" + alias + "\" is of kind " + std::to_string(tag) + ", which JKS does not have");
        }
        PARTITA_TRY_ASSIGN(auto certificate, take_certificate(reader_, version_));
        contents_.trusted.push_back(std::move(certificate));
        return {};
    }

    std::expected<void, std::string> take_key(const std::string& alias) {
        KeyEntry entry{.alias = alias, .key = nullptr, .chain = {}};
        const Bytes hidden = reader_.counted();
        const auto count = reader_.number<std::uint32_t>();
        if (reader_.is_short()) {
            return cut_off();
        }
        for (std::uint32_t each = 0; each < count; ++each) {
            PARTITA_TRY_ASSIGN(auto certificate, take_certificate(reader_, version_));
            if (entry.chain.size() == kStoreEntriesMax) {
                return std::unexpected("key \"" + alias + "\" has more than " + std::to_string(kStoreEntriesMax) +
                                       " certificates");
            }
            entry.chain.push_back(std::move(certificate));
        }
        if (entry.chain.empty()) {
            return std::unexpected("key \"" + alias + "\" has no certificate");
        }
        if (use_ == StoreUse::trust) {
            contents_.trusted.push_back(std::move(entry.chain.front()));
            return {};
        }
        std::string password = java_chars(passwords_.of_keys().value_or(""));
        const Wiped wiped(password);
        auto key = parse_protected_key(hidden, password);
        if (!key) {
            return std::unexpected("key \"" + alias + "\" " + key.error());
        }
        entry.key = std::move(*key);
        contents_.keys.push_back(std::move(entry));
        return {};
    }

    const Bytes all_;
    JksReader reader_;
    const StorePasswords& passwords_;
    const StoreUse use_;
    std::uint32_t version_ = 0;
    StoreContents contents_;
};

bool begins_with(Bytes bytes, std::uint32_t magic) {
    return bytes.size() >= sizeof magic && load_big_endian<std::uint32_t>(bytes.data()) == magic;
}

}  // namespace

bool is_jks(Bytes bytes) { return begins_with(bytes, kMagic); }
bool is_jceks(Bytes bytes) { return begins_with(bytes, kJceksMagic); }

std::expected<StoreContents, std::string> parse_jks(Bytes bytes, const StorePasswords& passwords, StoreUse use) {
    if (bytes.size() > kStoreBytesMax) {
        return std::unexpected("it is longer than " + std::to_string(kStoreBytesMax) + " bytes");
    }
    return JksParser(bytes, passwords, use).parse();
}

}  // namespace partita::tls
