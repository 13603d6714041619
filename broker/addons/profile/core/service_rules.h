#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/access/authorizer.h"
#include "broker/addons/profile/core/profile.h"

namespace partita::profile {

/// The access rules under a profile. The service decides first. No client may use a topic if the tier has no Kafka endpoint. A
/// client with a connection string may do what its key has the right to, everywhere or with its topic. Other rules decide the
/// rest. Thread-safe.
class ServiceRules final : public access::Rules {
  public:
    /// `others` decide about clients without a connection string; null: they may do everything. Both must outlive this object.
    ServiceRules(const Profile& profile, const access::Rules* others) : profile_(profile), others_(others) {}

    [[nodiscard]] bool allows(const access::Requester& requester, access::Permission permission,
                              std::optional<std::string_view> name) const override;
    [[nodiscard]] std::string reason(const access::Requester& requester, access::Permission permission,
                                     std::optional<std::string_view> name) const override;

  private:
    [[nodiscard]] std::optional<std::string> objection_to(const access::Requester& requester, access::Permission permission,
                                                          std::optional<std::string_view> name) const;

    const Profile& profile_;
    const access::Rules* const others_;
};

}  // namespace partita::profile
