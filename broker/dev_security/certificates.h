#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

/// Certificates for development: an authority that lives as long as its object, and what it signs. Keys are EC P-256, signatures
/// ECDSA with SHA-256, all text is PEM. The work is libcrypto's. What fails here is a broken library: the error names the step.
namespace partita::dev_security {

/// A private key (PKCS#8, not encrypted) and the certificate of its public half.
struct Identity {
    std::string key;
    std::string certificate;
};

/// From when on and until when, in seconds since 1970.
struct Validity {
    std::int64_t begin_s = 0;
    std::int64_t end_s = 0;
};

/// Signs certificates. Its private key is never written down: who finds the files later can make no more certificates that are
/// trusted for the authority's sake.
class Authority {
  public:
    /// The authority signs its own certificate (RFC 5280: a CA that certifies no other).
    [[nodiscard]] static std::expected<Authority, std::string> make(const std::string& name, Validity validity);
    ~Authority();
    Authority(Authority&&) noexcept;
    Authority& operator=(Authority&&) noexcept;

    [[nodiscard]] const std::string& certificate() const;

    /// For a server that clients reach by these names: host names, and addresses as numbers of IPv4 or IPv6. `hosts` is not
    /// empty.
    [[nodiscard]] std::expected<Identity, std::string> issue_server(const std::vector<std::string>& hosts,
                                                                    Validity validity) const;
    /// For a client, whose distinguished name is CN=`name`.
    [[nodiscard]] std::expected<Identity, std::string> issue_client(const std::string& name, Validity validity) const;

  private:
    struct Parts;
    explicit Authority(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::dev_security
