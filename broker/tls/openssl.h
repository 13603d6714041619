#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

/// Who frees OpenSSL's objects, and what OpenSSL says of a failure. OpenSSL's own headers stay out of this one.
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

/// Why the last call of OpenSSL on this thread failed, in its words. Forgets all failures of this thread: what is left behind
/// would be taken for a failure of the next connection. "no reason given" when there is none.
[[nodiscard]] std::string take_openssl_reason();

}  // namespace partita::tls
