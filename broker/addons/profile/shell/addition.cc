#include <optional>

#include "broker/addons/profile/config/profile_config.h"
#include "broker/addons/profile/core/profile.h"
#include "broker/addons/profile/core/service_rules.h"
#include "broker/addons/profile/shell/codec_rule.h"
#include "broker/assembly/addon.h"
#include "broker/config/log_setup.h"

namespace partita::profile {
namespace {

/// The addon in a broker whose settings choose a profile, or none. The profile is chosen at the start and stays. Its limits on
/// topics follow the settings in force (`topic_limits_of`).
class ProfileAddon final : public assembly::Addon {
  public:
    explicit ProfileAddon(std::shared_ptr<const Profile> profile) : profile_(std::move(profile)) {}

    [[nodiscard]] const access::Rules* rules(const access::Rules* others) override {
        if (!profile_) {
            return others;
        }
        return &rules_.emplace(*profile_, others);
    }
    void attach(const assembly::AddonPlace& /*place*/, handlers::Extensions& extensions) override {
        extensions.offer = profile_.get();
    }
    void add_steps(logs::AppendSteps& appends, logs::ReadSteps& /*reads*/) override {
        if (profile_) {
            appends.add(codecs_.emplace(*profile_), {logs::AppendPoint::admit_batch});
        }
    }
    void announce() const override {
        if (!profile_) {
            return;
        }
        log::info("broker", "clients see a managed service instead of Kafka", {{"profile", profile_->offer()}});
        if (!profile_->has_kafka_endpoint()) {
            log::warning("broker", "the tier has no Kafka endpoint; clients cannot use any topic",
                         {{"tier", tier_name(profile_->tier())}});
        }
    }

  private:
    const std::shared_ptr<const Profile> profile_;
    std::optional<ServiceRules> rules_;
    std::optional<CodecRule> codecs_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig& config) -> std::unique_ptr<assembly::Addon> {
        return std::make_unique<ProfileAddon>(profile_of(config));
    }};

}  // namespace partita::profile
