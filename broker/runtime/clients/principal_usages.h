#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/access/session.h"

namespace partita::runtime {

/// The authenticated principals, with what the clients of each did since the start. Clients that did not authenticate are not
/// included, so a broker without logins and certificates counts nothing here. One caller at a time; any thread may increase the
/// counters.
class PrincipalUsages {
  public:
    /// The limit on principals with counters of their own; further ones share one entry. Names come from outside if tokens or
    /// certificates carry them.
    static constexpr std::size_t kPrincipalsMax = 1'000;

    struct Report {
        /// "User:alice"; empty for the shared entry of the principals past `kPrincipalsMax`.
        std::string principal;
        std::uint64_t requests = 0;
        std::uint64_t produced_bytes = 0;
        std::uint64_t fetched_bytes = 0;
        std::uint64_t denials = 0;
        std::uint64_t throttled_ms = 0;
    };

    /// The same principal, with the counters that all principals of its name share.
    [[nodiscard]] access::PrincipalPointer counted(const access::Principal& proven);
    /// By name; the shared entry comes last.
    [[nodiscard]] std::vector<Report> reports() const;

  private:
    /// Entries stay: a reader would take counters that went back to 0 for a restart.
    std::map<std::string, std::shared_ptr<access::Usage>, std::less<>> known_;
    std::shared_ptr<access::Usage> others_;
};

}  // namespace partita::runtime
