#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

/// Deleters for OpenSSL's objects, and OpenSSL's text for a failure. This header does not include OpenSSL's own.
namespace partita::tls {

struct FreeOpenSsl {
    void operator()(X509* certificate) const;
    void operator()(EVP_PKEY* key) const;
    void operator()(SSL_CTX* context) const;
    void operator()(SSL* connection) const;
    void operator()(BIO* bytes) const;
};

using Certificate = std::unique_ptr<X509, FreeOpenSsl>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreeOpenSsl>;
using ContextPointer = std::unique_ptr<SSL_CTX, FreeOpenSsl>;
using ConnectionPointer = std::unique_ptr<SSL, FreeOpenSsl>;
using BioPointer = std::unique_ptr<BIO, FreeOpenSsl>;

/// Why the last call of OpenSSL on this thread failed, in its words. Clears all errors of this thread, because a remaining one
/// would look like a failure of the next connection. "no reason given" if there is none.
[[nodiscard]] std::string take_openssl_reason();

}  // namespace partita::tls
