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

/// Who has proven to be somebody, and what clients of each principal did since the start. Who was not asked who he is is not
/// among them, so a broker without logins and certificates counts nothing here. One caller at a time; counting itself is for any
/// thread.
class PrincipalUsages {
  public:
    /// Names come from outside where tokens or certificates say them. What more principals do is counted together.
    static constexpr std::size_t kPrincipalsMax = 1'000;

    struct Report {
        /// "User:alice"; empty for all of those that came when there were `kPrincipalsMax`.
        std::string principal;
        std::uint64_t requests = 0;
        std::uint64_t produced_bytes = 0;
        std::uint64_t fetched_bytes = 0;
        std::uint64_t denials = 0;
        std::uint64_t throttled_ms = 0;
    };

    /// The same principal, with what is counted of all that have its name.
    [[nodiscard]] access::PrincipalPointer counted(const access::Principal& proven);
    /// By name, the others last.
    [[nodiscard]] std::vector<Report> reports() const;

  private:
    /// Entries stay: counters that went back to 0 would be taken for a restart.
    std::map<std::string, std::shared_ptr<access::Usage>, std::less<>> known_;
    std::shared_ptr<access::Usage> others_;
};

}  // namespace partita::runtime
