#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

/// Certificates for development: an authority that lives as long as its object, and the certificates that it signs. Keys are EC
/// P-256, signatures ECDSA with SHA-256, all text is PEM. Based on libcrypto. Failures here mean a broken library; the error
/// names the step.
namespace partita::dev_security {

/// A private key (PKCS#8, not encrypted) and the certificate of its public half.
struct Identity {
    std::string key;
    std::string certificate;
};

/// The period of validity, in seconds since 1970.
struct Validity {
    std::int64_t begin_s = 0;
    std::int64_t end_s = 0;
};

/// Signs certificates. Its private key is never stored: a later finder of the files cannot create more certificates that clients
/// trust because of the authority.
class Authority {
  public:
    /// Creates an authority that signs its own certificate (RFC 5280: a CA that certifies no other CA).
    [[nodiscard]] static std::expected<Authority, std::string> make(const std::string& name, Validity validity);
    ~Authority();
    Authority(Authority&&) noexcept;
    Authority& operator=(Authority&&) noexcept;

    [[nodiscard]] const std::string& certificate() const;

    /// For a server with these names: host names, and IPv4 or IPv6 addresses as numbers. `hosts` is not empty.
    [[nodiscard]] std::expected<Identity, std::string> issue_server(const std::vector<std::string>& hosts,
                                                                    Validity validity) const;
    /// For a client with the distinguished name CN=`name`.
    [[nodiscard]] std::expected<Identity, std::string> issue_client(const std::string& name, Validity validity) const;

  private:
    struct Parts;
    explicit Authority(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::dev_security
