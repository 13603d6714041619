#include "broker/tls/encrypted.h"

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <limits>

#include "broker/tls/store.h"

namespace partita::tls {
namespace {

/// A number that does not fit exceeds every limit.
std::int64_t number_of(const ASN1_INTEGER* number) {
    std::int64_t value = 0;
    return ASN1_INTEGER_get_int64(&value, number) == 1 ? value : std::numeric_limits<std::int64_t>::max();
}

template <class Parameters>
std::unique_ptr<Parameters, void (*)(Parameters*)> parameters_of(const X509_ALGOR& algorithm, const ASN1_ITEM* item,
                                                                 void (*free)(Parameters*)) {
    void* const unpacked = ASN1_TYPE_unpack_sequence(item, algorithm.parameter);
    ERR_clear_error();
    return {static_cast<Parameters*>(unpacked), free};
}

std::int64_t iterations_of_pbes2(const X509_ALGOR& algorithm) {
    const auto scheme = parameters_of<PBE2PARAM>(algorithm, ASN1_ITEM_rptr(PBE2PARAM), PBE2PARAM_free);
    if (scheme == nullptr || OBJ_obj2nid(scheme->keyfunc->algorithm) != NID_id_pbkdf2) {
        return 1;
    }
    const auto hashed = parameters_of<PBKDF2PARAM>(*scheme->keyfunc, ASN1_ITEM_rptr(PBKDF2PARAM), PBKDF2PARAM_free);
    return hashed == nullptr ? 1 : number_of(hashed->iter);
}

}  // namespace

void FreeEncrypted::operator()(X509_SIG* encrypted) const { X509_SIG_free(encrypted); }
void FreeEncrypted::operator()(PKCS8_PRIV_KEY_INFO* info) const { PKCS8_PRIV_KEY_INFO_free(info); }

Wiped::~Wiped() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

std::int64_t iterations_of(const X509_ALGOR& algorithm) {
    if (OBJ_obj2nid(algorithm.algorithm) == NID_pbes2) {
        return iterations_of_pbes2(algorithm);
    }
    const auto parameters = parameters_of<PBEPARAM>(algorithm, ASN1_ITEM_rptr(PBEPARAM), PBEPARAM_free);
    return parameters == nullptr || parameters->iter == nullptr ? 1 : number_of(parameters->iter);
}

std::optional<std::string> too_many_iterations(std::int64_t iterations) {
    if (iterations >= 1 && iterations <= kIterationsMax) {
        return std::nullopt;
    }
    return "it needs the password hashed " + std::to_string(iterations) + " times; " + std::to_string(kIterationsMax) +
           " are allowed";
}

std::optional<std::string> too_many_iterations(const X509_SIG& encrypted) {
    const X509_ALGOR* algorithm = nullptr;
    X509_SIG_get0(&encrypted, &algorithm, nullptr);
    return too_many_iterations(iterations_of(*algorithm));
}

}  // namespace partita::tls
