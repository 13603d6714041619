#pragma once

#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// Shared internals of the store parsers.
namespace partita::tls {

struct FreeEncrypted {
    void operator()(X509_SIG* encrypted) const;
    void operator()(PKCS8_PRIV_KEY_INFO* info) const;
};

/// An encrypted private key, and an unencrypted one.
using EncryptedPointer = std::unique_ptr<X509_SIG, FreeEncrypted>;
using KeyInfoPointer = std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreeEncrypted>;

/// Overwrites a secret on destruction.
class Wiped {
  public:
    explicit Wiped(std::string& secret) : secret_(secret) {}
    ~Wiped();
    Wiped(const Wiped&) = delete;
    Wiped& operator=(const Wiped&) = delete;

  private:
    std::string& secret_;
};

/// How often `algorithm` hashes the password. 1 if unknown: OpenSSL then refuses the algorithm or has a limit of its own
/// (scrypt).
[[nodiscard]] std::int64_t iterations_of(const X509_ALGOR& algorithm);

/// The error for fewer than one or more than `kIterationsMax` iterations.
[[nodiscard]] std::optional<std::string> too_many_iterations(std::int64_t iterations);
[[nodiscard]] std::optional<std::string> too_many_iterations(const X509_SIG& encrypted);

}  // namespace partita::tls
