#pragma once

#include "broker/addons/profile/core/profile.h"
#include "broker/logs/append_steps.h"

namespace partita::profile {

/// A step of a broker with a profile: refuses batches with a codec that the managed service does not accept.
class CodecRule final : public logs::AppendStep {
  public:
    explicit CodecRule(const Profile& profile) : profile_(profile) {}

    [[nodiscard]] logs::Outcome admit_batch(const logs::AppendRequest& request, const logs::Append& append,
                                            logs::Turn& turn) override;

  private:
    const Profile& profile_;
};

}  // namespace partita::profile
