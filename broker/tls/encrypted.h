#pragma once

#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// What the parsers of stores share, for themselves.
namespace partita::tls {

struct FreeEncrypted {
    void operator()(X509_SIG* encrypted) const;
    void operator()(PKCS8_PRIV_KEY_INFO* info) const;
};

/// An encrypted private key, and one that is not.
using EncryptedPointer = std::unique_ptr<X509_SIG, FreeEncrypted>;
using KeyInfoPointer = std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreeEncrypted>;

/// Overwrites a secret when it is not needed any more.
class Wiped {
  public:
    explicit Wiped(std::string& secret) : secret_(secret) {}
    ~Wiped();
    Wiped(const Wiped&) = delete;
    Wiped& operator=(const Wiped&) = delete;

  private:
    std::string& secret_;
};

/// How often the password is hashed by what is encrypted with `algorithm`; 1 when that is not known, for OpenSSL then refuses it
/// or has a limit of its own (scrypt).
[[nodiscard]] std::int64_t iterations_of(const X509_ALGOR& algorithm);

/// What is wrong when `iterations` are less than one or more than `kIterationsMax`.
[[nodiscard]] std::optional<std::string> too_many_iterations(std::int64_t iterations);
[[nodiscard]] std::optional<std::string> too_many_iterations(const X509_SIG& encrypted);

}  // namespace partita::tls
