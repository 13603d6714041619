#include "broker/tls/openssl.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace partita::tls {

void FreeOpenSsl::operator()(X509* certificate) const { X509_free(certificate); }
void FreeOpenSsl::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void FreeOpenSsl::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void FreeOpenSsl::operator()(SSL* connection) const { SSL_free(connection); }
void FreeOpenSsl::operator()(BIO* bytes) const { BIO_free_all(bytes); }

std::string take_openssl_reason() {
    // The first error is the cause; later ones come from callers that passed it on.
    const unsigned long error = ERR_get_error();
    ERR_clear_error();
    const char* const reason = ERR_reason_error_string(error);
    return reason == nullptr ? "no reason given" : reason;
}

}  // namespace partita::tls
