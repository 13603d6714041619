#include "broker/dev_security/certificates.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <utility>

#include "protocol/try.h"

namespace partita::dev_security {

template <auto free_it>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        free_it(object);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Memory = std::unique_ptr<BIO, Freed<&BIO_free_all>>;

namespace {

constexpr long kVersion3 = 2;
// RFC 5280, 4.1.2.2: positive, and at most 20 bytes.
constexpr int kSerialBits = 127;

struct Extension {
    int nid;
    std::string value;
};

struct Request {
    std::string name;
    Validity validity;
    std::vector<Extension> extensions;
};

std::unexpected<std::string> failed(const std::string& step) {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return std::unexpected("the cryptography library cannot " + step + (reason == nullptr ? "" : std::string(": ") + reason));
}

template <class Write>
std::expected<std::string, std::string> pem(const char* step, Write&& write) {
    const Memory memory(BIO_new(BIO_s_secmem()));
    if (!memory || write(memory.get()) != 1) {
        return failed(step);
    }
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
}

std::expected<std::string, std::string> pem_of(X509& certificate) {
    return pem("write a certificate", [&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

bool set_serial(X509& certificate) {
    const std::unique_ptr<BIGNUM, Freed<&BN_free>> number(BN_new());
    return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_validity(X509& certificate, Validity validity) {
    return ASN1_TIME_set(X509_getm_notBefore(&certificate), validity.begin_s) != nullptr &&
           ASN1_TIME_set(X509_getm_notAfter(&certificate), validity.end_s) != nullptr;
}

bool set_name(X509& certificate, const std::string& name) {
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()), -1,
                                      0) == 1;
}

bool add_extension(X509& certificate, X509& issuer, const Extension& wanted) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>> extension(
        X509V3_EXT_conf_nid(nullptr, &context, wanted.nid, wanted.value.c_str()));
    return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

/// Issuer null: the certificate signs itself.
std::expected<Certificate, std::string> make_certificate(const Request& request, EVP_PKEY& key, X509* issuer, EVP_PKEY& signer) {
    Certificate certificate(X509_new());
    if (!certificate || X509_set_version(certificate.get(), kVersion3) != 1 || !set_serial(*certificate) ||
        !set_validity(*certificate, request.validity) || !set_name(*certificate, request.name) ||
        X509_set_pubkey(certificate.get(), &key) != 1) {
        return failed("make a certificate for " + request.name);
    }
    X509& above = issuer == nullptr ? *certificate : *issuer;
    if (X509_set_issuer_name(certificate.get(), X509_get_subject_name(&above)) != 1) {
        return failed("name the issuer of a certificate");
    }
    for (const Extension& extension : request.extensions) {
        if (!add_extension(*certificate, above, extension)) {
            return failed("write \"" + extension.value + "\" into the certificate for " + request.name);
        }
    }
    if (X509_sign(certificate.get(), &signer, EVP_sha256()) == 0) {
        return failed("sign a certificate");
    }
    return certificate;
}

bool is_address(const std::string& host) {
    const std::unique_ptr<ASN1_OCTET_STRING, Freed<&ASN1_OCTET_STRING_free>> address(a2i_IPADDRESS(host.c_str()));
    ERR_clear_error();
    return address != nullptr;
}

std::string alternative_names(const std::vector<std::string>& hosts) {
    std::string names;
    for (const std::string& host : hosts) {
        names += (names.empty() ? "" : ",") + std::string(is_address(host) ? "IP:" : "DNS:") + host;
    }
    return names;
}

}  // namespace

struct Authority::Parts {
    Key key;
    Certificate certificate;
    std::string text;

    [[nodiscard]] std::expected<Identity, std::string> issue(Request request, const std::string& purpose) const {
        request.extensions.push_back({NID_basic_constraints, "critical,CA:FALSE"});
        request.extensions.push_back({NID_key_usage, "critical,digitalSignature"});
        request.extensions.push_back({NID_ext_key_usage, purpose});
        request.extensions.push_back({NID_subject_key_identifier, "hash"});
        request.extensions.push_back({NID_authority_key_identifier, "keyid"});
        const Key fresh(EVP_EC_gen("P-256"));
        if (!fresh) {
            return failed("make a key");
        }
        PARTITA_TRY_ASSIGN(const auto signed_one, make_certificate(request, *fresh, certificate.get(), *key));
        auto key_text = pem("write a key", [&](BIO* bio) {
            return PEM_write_bio_PKCS8PrivateKey(bio, fresh.get(), nullptr, nullptr, 0, nullptr, nullptr);
        });
        PARTITA_TRY(key_text);
        PARTITA_TRY_ASSIGN(auto certificate_text, pem_of(*signed_one));
        return Identity{std::move(*key_text), std::move(certificate_text)};
    }
};

Authority::Authority(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Authority::~Authority() = default;
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;

std::expected<Authority, std::string> Authority::make(const std::string& name, Validity validity) {
    auto parts = std::make_unique<Parts>();
    parts->key.reset(EVP_EC_gen("P-256"));
    if (!parts->key) {
        return failed("make a key");
    }
    const Request request{.name = name,
                          .validity = validity,
                          .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                         {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                         {NID_subject_key_identifier, "hash"}}};
    PARTITA_TRY_ASSIGN(auto certificate, make_certificate(request, *parts->key, nullptr, *parts->key));
    parts->certificate = std::move(certificate);
    PARTITA_TRY_ASSIGN(auto text, pem_of(*parts->certificate));
    parts->text = std::move(text);
    return Authority(std::move(parts));
}

const std::string& Authority::certificate() const { return parts_->text; }

std::expected<Identity, std::string> Authority::issue_server(const std::vector<std::string>& hosts, Validity validity) const {
    return parts_->issue(
        {.name = hosts.front(), .validity = validity, .extensions = {{NID_subject_alt_name, alternative_names(hosts)}}},
        "serverAuth");
}

std::expected<Identity, std::string> Authority::issue_client(const std::string& name, Validity validity) const {
    return parts_->issue({.name = name, .validity = validity, .extensions = {}}, "clientAuth");
}

}  // namespace partita::dev_security
