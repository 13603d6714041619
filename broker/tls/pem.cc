#include "broker/tls/pem.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "broker/tls/encrypted.h"

namespace partita::tls {
namespace {

constexpr std::size_t kLineBytes = 64;

struct Block {
    /// "CERTIFICATE"
    std::string_view label;
    /// The text between the BEGIN and END lines.
    std::string_view body;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// The next block in `rest`, which then begins behind it. Null if there is no further block.
std::optional<Block> next_block(std::string_view& rest) {
    constexpr std::string_view kBegin = "-----BEGIN ";
    constexpr std::string_view kEnd = "-----END ";
    constexpr std::string_view kDashes = "-----";
    const std::size_t begin = rest.find(kBegin);
    if (begin == rest.npos) {
        return std::nullopt;
    }
    rest.remove_prefix(begin + kBegin.size());
    const std::size_t label_end = rest.find(kDashes);
    if (label_end == rest.npos) {
        return std::nullopt;
    }
    Block block{.label = trimmed(rest.substr(0, label_end)), .body = {}};
    rest.remove_prefix(label_end + kDashes.size());
    const std::size_t end = rest.find(kEnd);
    if (end == rest.npos) {
        return std::nullopt;
    }
    block.body = rest.substr(0, end);
    rest.remove_prefix(end + kEnd.size());
    const std::size_t last = rest.find(kDashes);
    rest.remove_prefix(last == rest.npos ? rest.size() : last + kDashes.size());
    return block;
}

/// The block as OpenSSL expects it: lines of 64 characters. A block with headers keeps its lines.
std::string as_openssl_reads(const Block& block) {
    const std::string label(block.label);
    std::string text = "-----BEGIN " + label + "-----\n";
    if (block.body.find(':') != block.body.npos) {
        text += trimmed(block.body);
    } else {
        std::size_t column = 0;
        for (const char c : block.body) {
            if (is_space(c)) {
                continue;
            }
            if (column == kLineBytes) {
                text += '\n';
                column = 0;
            }
            text += c;
            ++column;
        }
    }
    return text + "\n-----END " + label + "-----\n";
}

BioPointer reader_of(std::string_view text) { return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

/// OpenSSL's callback for a password.
int give_password(char* room, int room_bytes, int /*is_writing*/, void* context) {
    const auto& password = *static_cast<const std::optional<std::string_view>*>(context);
    if (!password || password->size() > static_cast<std::size_t>(room_bytes)) {
        return -1;
    }
    std::ranges::copy(*password, room);
    return static_cast<int>(password->size());
}

std::expected<PrivateKey, std::string> decrypt_key(const std::string& pem, std::optional<std::string_view> password) {
    if (!password) {
        return std::unexpected("the private key is encrypted, but no password is given for it");
    }
    const BioPointer reader = reader_of(pem);
    const EncryptedPointer encrypted(PEM_read_bio_PKCS8(reader.get(), nullptr, nullptr, nullptr));
    if (encrypted == nullptr) {
        return std::unexpected("the encrypted private key cannot be read: " + take_openssl_reason());
    }
    if (auto fault = too_many_iterations(*encrypted)) {
        return std::unexpected(std::move(*fault));
    }
    const KeyInfoPointer info(PKCS8_decrypt(encrypted.get(), password->data(), static_cast<int>(password->size())));
    if (info == nullptr) {
        return std::unexpected("the private key cannot be decrypted with its password: " + take_openssl_reason());
    }
    PrivateKey key(EVP_PKCS82PKEY(info.get()));
    if (key == nullptr) {
        return std::unexpected("the decrypted private key is invalid: " + take_openssl_reason());
    }
    return key;
}

}  // namespace

std::expected<PrivateKey, std::string> parse_pem_key(std::string_view text, std::optional<std::string_view> password) {
    if (text.size() > kStoreBytesMax) {
        return std::unexpected("it is longer than " + std::to_string(kStoreBytesMax) + " bytes");
    }
    std::optional<Block> found;
    while (const std::optional<Block> block = next_block(text)) {
        if (!block->label.ends_with("PRIVATE KEY")) {
            continue;
        }
        if (found) {
            return std::unexpected("it has more than one private key");
        }
        found = block;
    }
    if (!found) {
        return std::unexpected("it has no private key (-----BEGIN PRIVATE KEY-----)");
    }
    std::string pem = as_openssl_reads(*found);
    const Wiped wiped(pem);
    if (found->label == "ENCRYPTED PRIVATE KEY") {
        return decrypt_key(pem, password);
    }
    const BioPointer reader = reader_of(pem);
    PrivateKey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, give_password, &password));
    if (key == nullptr) {
        return std::unexpected("the private key cannot be read: " + take_openssl_reason());
    }
    return key;
}

std::expected<std::vector<Certificate>, std::string> parse_pem_certificates(std::string_view text) {
    if (text.size() > kStoreBytesMax) {
        return std::unexpected("it is longer than " + std::to_string(kStoreBytesMax) + " bytes");
    }
    std::vector<Certificate> certificates;
    while (const std::optional<Block> block = next_block(text)) {
        if (!block->label.ends_with("CERTIFICATE")) {
            continue;
        }
        if (certificates.size() == kStoreEntriesMax) {
            return std::unexpected("it has more than " + std::to_string(kStoreEntriesMax) + " certificates");
        }
        const std::string pem = as_openssl_reads(*block);
        const BioPointer reader = reader_of(pem);
        Certificate certificate(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
        if (certificate == nullptr) {
            return std::unexpected("certificate " + std::to_string(certificates.size() + 1) +
                                   " cannot be read: " + take_openssl_reason());
        }
        certificates.push_back(std::move(certificate));
    }
    if (certificates.empty()) {
        return std::unexpected("it has no certificate (-----BEGIN CERTIFICATE-----)");
    }
    return certificates;
}

}  // namespace partita::tls
