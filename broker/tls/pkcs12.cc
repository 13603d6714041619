#include "broker/tls/pkcs12.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/rc2.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "broker/tls/encrypted.h"

namespace partita::tls {
namespace {

/// Java's keytool marks a trusted certificate with this attribute.
constexpr std::string_view kTrustedKeyUsage = "2.16.840.1.113894.746875.1.1";
/// RC2 with 40 bits.
constexpr int kRc2KeyBytes = 5;
constexpr int kRc2BlockBytes = 8;

using Fault = std::optional<std::string>;
using Store = std::unique_ptr<PKCS12, decltype(&PKCS12_free)>;
/// The contents of one of the store's containers.
using Bags = std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), void (*)(STACK_OF(PKCS12_SAFEBAG)*)>;
using Containers = std::unique_ptr<STACK_OF(PKCS7), void (*)(STACK_OF(PKCS7)*)>;

void free_bags(STACK_OF(PKCS12_SAFEBAG) * bags) { sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free); }
void free_containers(STACK_OF(PKCS7) * containers) { sk_PKCS7_pop_free(containers, PKCS7_free); }

/// A password in the form of OpenSSL's functions, a pointer and a length; null means no password, which differs from an empty
/// one.
struct Password {
    explicit Password(std::optional<std::string_view> password)
        : text(password ? password->data() : nullptr), bytes(password ? static_cast<int>(password->size()) : 0) {}
    const char* text;
    int bytes;
};

/// A certificate and its attributes in the store.
struct FoundCertificate {
    Certificate certificate;
    bool is_marked_trusted = false;
    bool is_of_key = false;
};

struct FoundKey {
    std::string alias;
    PrivateKey key;
};

std::string alias_of(PKCS12_SAFEBAG* bag) {
    char* const name = PKCS12_get_friendlyname(bag);
    if (name == nullptr) {
        return {};
    }
    std::string alias = printable(name);
    OPENSSL_free(name);
    return alias;
}

bool has_attribute(const PKCS12_SAFEBAG* bag, std::string_view wanted) {
    const STACK_OF(X509_ATTRIBUTE)* const attributes = PKCS12_SAFEBAG_get0_attrs(bag);
    for (int each = 0; each < sk_X509_ATTRIBUTE_num(attributes); ++each) {
        std::array<char, 64> name{};
        OBJ_obj2txt(name.data(), name.size(), X509_ATTRIBUTE_get0_object(sk_X509_ATTRIBUTE_value(attributes, each)), 1);
        if (wanted == name.data()) {
            return true;
        }
    }
    return false;
}

Bags bags_of(STACK_OF(PKCS12_SAFEBAG) * bags) { return {bags, free_bags}; }

/// Decrypts pbeWithSHA1And40BitRC2-CBC. Null if the password or the bytes are wrong.
Bags decrypt_rc2(const X509_ALGOR& algorithm, const ASN1_OCTET_STRING& encrypted, const Password& password) {
    auto* const unpacked = static_cast<PBEPARAM*>(ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm.parameter));
    const std::unique_ptr<PBEPARAM, decltype(&PBEPARAM_free)> parameters(unpacked, PBEPARAM_free);
    const int bytes = ASN1_STRING_length(&encrypted);
    if (parameters == nullptr || bytes <= 0 || bytes % kRc2BlockBytes != 0) {
        return bags_of(nullptr);
    }
    const auto iterations = static_cast<int>(ASN1_INTEGER_get(parameters->iter));
    std::array<unsigned char, kRc2KeyBytes> key_bytes{};
    std::array<unsigned char, kRc2BlockBytes> start{};
    const auto derive = [&](int id, std::span<unsigned char> out) {
        auto* const salt = const_cast<unsigned char*>(ASN1_STRING_get0_data(parameters->salt));
        return PKCS12_key_gen_utf8(password.text, password.bytes, salt, ASN1_STRING_length(parameters->salt), id, iterations,
                                   static_cast<int>(out.size()), out.data(), EVP_sha1()) == 1;
    };
    if (!derive(PKCS12_KEY_ID, key_bytes) || !derive(PKCS12_IV_ID, start)) {
        return bags_of(nullptr);
    }
    RC2_KEY key;
// The new interface has RC2 only in a module that OpenSSL loads at run time; a static program cannot load it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    RC2_set_key(&key, kRc2KeyBytes, key_bytes.data(), kRc2KeyBytes * 8);
    std::string plain(static_cast<std::size_t>(bytes), '\0');
    const Wiped wiped(plain);
    auto* const out = reinterpret_cast<unsigned char*>(plain.data());
    RC2_cbc_encrypt(ASN1_STRING_get0_data(&encrypted), out, bytes, &key, start.data(), RC2_DECRYPT);
#pragma GCC diagnostic pop
    const auto padding = static_cast<unsigned char>(plain.back());
    if (padding < 1 || padding > kRc2BlockBytes) {
        return bags_of(nullptr);
    }
    const unsigned char* from = out;
    return bags_of(reinterpret_cast<STACK_OF(PKCS12_SAFEBAG)*>(
        ASN1_item_d2i(nullptr, &from, bytes - padding, ASN1_ITEM_rptr(PKCS12_SAFEBAGS))));
}

class Pkcs12Parser {
  public:
    Pkcs12Parser(const StorePasswords& passwords, StoreUse use) : passwords_(passwords), use_(use) {}

    std::expected<StoreContents, std::string> parse(Bytes bytes) {
        const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
        const Store store(d2i_PKCS12(nullptr, &from, static_cast<long>(bytes.size())), PKCS12_free);
        if (store == nullptr) {
            return std::unexpected("it is truncated or not a PKCS12 store: " + take_openssl_reason());
        }
        if (auto fault = check_mac(*store)) {
            return std::unexpected(std::move(*fault));
        }
        const Containers containers(PKCS12_unpack_authsafes(store.get()), free_containers);
        if (containers == nullptr) {
            return std::unexpected("its content cannot be read: " + take_openssl_reason());
        }
        for (int each = 0; each < sk_PKCS7_num(containers.get()); ++each) {
            if (auto fault = read_container(sk_PKCS7_value(containers.get(), each))) {
                return std::unexpected(std::move(*fault));
            }
        }
        return use_ == StoreUse::trust ? trusted() : keys();
    }

  private:
    Fault check_mac(PKCS12& store) const {
        if (!passwords_.store || PKCS12_mac_present(&store) != 1) {
            return std::nullopt;
        }
        const ASN1_INTEGER* given = nullptr;
        PKCS12_get0_mac(nullptr, nullptr, nullptr, &given, &store);
        std::int64_t iterations = 1;
        if (given != nullptr && ASN1_INTEGER_get_int64(&iterations, given) != 1) {
            iterations = std::numeric_limits<std::int64_t>::max();
        }
        ERR_clear_error();
        if (auto fault = too_many_iterations(iterations)) {
            return fault;
        }
        const Password password(passwords_.store);
        if (PKCS12_verify_mac(&store, password.text, password.bytes) == 1) {
            return std::nullopt;
        }
        ERR_clear_error();
        return "its MAC is wrong: the password is wrong, or the file was changed";
    }

    Fault read_container(PKCS7* container) {
        if (PKCS7_type_is_data(container)) {
            const Bags bags = bags_of(PKCS12_unpack_p7data(container));
            return bags == nullptr ? "its content cannot be read: " + take_openssl_reason() : read_bags(bags.get());
        }
        if (!PKCS7_type_is_encrypted(container) || container->d.encrypted == nullptr) {
            return "a part of it is encrypted for another key, not with a password";
        }
        if (!passwords_.store) {
            return "it is encrypted, but no password is given";
        }
        const PKCS7_ENC_CONTENT& content = *container->d.encrypted->enc_data;
        if (auto fault = too_many_iterations(iterations_of(*content.algorithm))) {
            return fault;
        }
        const Password password(passwords_.store);
        const bool is_rc2 = OBJ_obj2nid(content.algorithm->algorithm) == NID_pbe_WithSHA1And40BitRC2_CBC;
        const Bags bags = is_rc2 && content.enc_data != nullptr
                              ? decrypt_rc2(*content.algorithm, *content.enc_data, password)
                              : bags_of(PKCS12_unpack_p7encdata(container, password.text, password.bytes));
        if (bags == nullptr) {
            return "it cannot be decrypted with its password: " + take_openssl_reason();
        }
        return read_bags(bags.get());
    }

    Fault read_bags(const STACK_OF(PKCS12_SAFEBAG) * bags) {
        for (int each = 0; each < sk_PKCS12_SAFEBAG_num(bags); ++each) {
            if (certificates_.size() + keys_.size() == kStoreEntriesMax) {
                return "it has more than " + std::to_string(kStoreEntriesMax) + " entries";
            }
            PKCS12_SAFEBAG* const bag = sk_PKCS12_SAFEBAG_value(bags, each);
            switch (PKCS12_SAFEBAG_get_nid(bag)) {
                case NID_certBag:
                    if (auto fault = read_certificate(bag)) {
                        return fault;
                    }
                    break;
                case NID_keyBag:
                case NID_pkcs8ShroudedKeyBag:
                    if (auto fault = read_key(bag)) {
                        return fault;
                    }
                    break;
                default:
                    break;  // Revocation lists and other secrets.
            }
        }
        return std::nullopt;
    }

    Fault read_certificate(PKCS12_SAFEBAG* bag) {
        Certificate certificate(PKCS12_SAFEBAG_get1_cert(bag));
        if (certificate == nullptr) {
            return "a certificate in it cannot be read: " + take_openssl_reason();
        }
        certificates_.push_back({.certificate = std::move(certificate),
                                 .is_marked_trusted = has_attribute(bag, kTrustedKeyUsage),
                                 .is_of_key = PKCS12_SAFEBAG_get0_attr(bag, NID_localKeyID) != nullptr});
        return std::nullopt;
    }

    Fault read_key(PKCS12_SAFEBAG* bag) {
        FoundKey found{.alias = alias_of(bag), .key = nullptr};
        if (use_ == StoreUse::keys) {
            KeyInfoPointer decrypted;
            const PKCS8_PRIV_KEY_INFO* info = PKCS12_SAFEBAG_get0_p8inf(bag);
            if (PKCS12_SAFEBAG_get_nid(bag) == NID_pkcs8ShroudedKeyBag) {
                if (auto fault = too_many_iterations(*PKCS12_SAFEBAG_get0_pkcs8(bag))) {
                    return fault;
                }
                const Password password(passwords_.of_keys());
                decrypted.reset(PKCS12_decrypt_skey(bag, password.text, password.bytes));
                info = decrypted.get();
            }
            if (info == nullptr) {
                return "key \"" + found.alias + "\" cannot be decrypted with its password: " + take_openssl_reason();
            }
            found.key.reset(EVP_PKCS82PKEY(info));
            if (found.key == nullptr) {
                return "key \"" + found.alias + "\" cannot be read: " + take_openssl_reason();
            }
        }
        keys_.push_back(std::move(found));
        return std::nullopt;
    }

    std::expected<StoreContents, std::string> trusted() {
        const bool has_marks = std::ranges::any_of(certificates_, &FoundCertificate::is_marked_trusted);
        // OpenSSL writes no marks: a store of nothing but certificates is a trust store.
        const bool is_unmarked = !has_marks && keys_.empty();
        StoreContents contents;
        for (FoundCertificate& each : certificates_) {
            if (each.is_marked_trusted || each.is_of_key || is_unmarked) {
                contents.trusted.push_back(std::move(each.certificate));
            }
        }
        return contents;
    }

    std::expected<StoreContents, std::string> keys() {
        StoreContents contents;
        for (FoundKey& found : keys_) {
            KeyEntry entry{.alias = std::move(found.alias), .key = std::move(found.key), .chain = {}};
            const X509* next = nullptr;
            for (const FoundCertificate& each : certificates_) {
                if (X509_check_private_key(each.certificate.get(), entry.key.get()) == 1) {
                    next = each.certificate.get();
                    break;
                }
            }
            ERR_clear_error();
            if (next == nullptr) {
                return std::unexpected("key \"" + entry.alias + "\" has no certificate");
            }
            while (next != nullptr) {
                entry.chain.push_back(same(next));
                next = issuer_of(next, entry.chain);
            }
            contents.keys.push_back(std::move(entry));
        }
        return contents;
    }

    static Certificate same(const X509* certificate) {
        auto* const shared = const_cast<X509*>(certificate);  // Reference-counted.
        X509_up_ref(shared);
        return Certificate(shared);
    }

    /// Null if the certificate issued itself, or if its issuer is missing or already in the chain.
    [[nodiscard]] const X509* issuer_of(const X509* certificate, const std::vector<Certificate>& chain) const {
        for (const FoundCertificate& each : certificates_) {
            X509* const issuer = each.certificate.get();
            if (X509_check_issued(issuer, const_cast<X509*>(certificate)) != X509_V_OK) {
                continue;
            }
            const auto is_same = [&](const Certificate& one) { return X509_cmp(one.get(), issuer) == 0; };
            return std::ranges::any_of(chain, is_same) ? nullptr : issuer;
        }
        return nullptr;
    }

    const StorePasswords& passwords_;
    const StoreUse use_;
    std::vector<FoundCertificate> certificates_;
    std::vector<FoundKey> keys_;
};

}  // namespace

std::expected<StoreContents, std::string> parse_pkcs12(Bytes bytes, const StorePasswords& passwords, StoreUse use) {
    if (bytes.size() > kStoreBytesMax) {
        return std::unexpected("it is longer than " + std::to_string(kStoreBytesMax) + " bytes");
    }
    return Pkcs12Parser(passwords, use).parse(bytes);
}

}  // namespace partita::tls
