// `partita serve --profile NAME --tier TIER`, and the key that it creates if the user gave none.

#include "broker/cli/addition.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "broker/addons/profile/config/profile_config.h"
#include "broker/addons/profile/core/profile.h"
#include "broker/authentication/crypto.h"
#include "protocol/random_bytes.h"

namespace partita::profile {
namespace {

/// The name that the service gives to the first key of a namespace.
constexpr const char* kMadeKeyName = "RootManageSharedAccessKey";

/// True if clients must log in by connection strings, and the settings name no keys.
bool wants_access_key(const config::BrokerConfig& config) {
    const bool has_keys = !config::config_value_text(config.value(kProfileAccessKeysConfig)).value_or("").empty();
    return profile_of(config) != nullptr && !has_keys &&
           std::ranges::any_of(config.listeners.listeners,
                               [](const config::Listener& listener) { return config::uses_sasl(listener.endpoint.protocol); });
}

/// 256 bits.
std::string fresh_access_key() {
    const auto bytes = random_value<std::array<char, 32>>();
    return authentication::to_base64(std::string_view(bytes.data(), bytes.size()));
}

class ServeOptions final : public cli::ServeOptionsOfAddon {
  public:
    explicit ServeOptions(const cli::CommandLine& line) : profile_(line.value("profile")), tier_(line.value("tier")) {}

    [[nodiscard]] std::vector<std::string> overrides() const override {
        std::vector<std::string> overrides;
        if (!profile_.empty()) {
            overrides.push_back(kProfileConfig + ("=" + profile_));
        }
        if (!tier_.empty()) {
            overrides.push_back(kProfileTierConfig + ("=" + tier_));
        }
        return overrides;
    }

    /// Clients of a profile log in, whether the command line or the settings choose it.
    [[nodiscard]] std::string_view protocol_of_port(const config::ConfigInputs& inputs) const override {
        constexpr std::string_view kProtocol = "SASL_PLAINTEXT";
        if (!profile_.empty()) {
            return kProtocol;
        }
        const auto loaded = config::load_broker_config(inputs);
        return loaded && profile_of(loaded->config) != nullptr ? kProtocol : std::string_view();
    }

    [[nodiscard]] std::optional<Completion> complete(const config::BrokerConfig& config) const override {
        if (!wants_access_key(config)) {
            return std::nullopt;
        }
        std::string key = fresh_access_key();
        std::vector<std::string> overrides{std::string(kProfileAccessKeysConfig) + "=" + kMadeKeyName + "=" + key};
        return Completion{.overrides = std::move(overrides), .greeting = [key = std::move(key)](const std::string& host) {
                              return "Clients log in by SASL PLAIN as $ConnectionString with this password, as long as this "
                                     "broker runs:\nEndpoint=sb://" +
                                     host + "/;SharedAccessKeyName=" + kMadeKeyName + ";SharedAccessKey=" + key + "\n";
                          }};
    }

  private:
    const std::string profile_;
    const std::string tier_;
};

constexpr std::string_view kTiers = "basic standard premium dedicated";
constexpr bool are_all_tiers(std::string_view list) {
    for (const std::string_view tier : kTierNames) {
        if (!list.starts_with(tier)) {
            return false;
        }
        list.remove_prefix(std::min(list.size(), tier.size() + 1));
    }
    return list.empty();
}
static_assert(are_all_tiers(kTiers));

constexpr tools::Option kServeOptions[] = {
    {.name = "profile",
     .argument = "service",
     .help = "behave like this managed service instead of Kafka (docs/eventhubs.md)",
     .choices = kEventHubs},
    {.name = "tier", .argument = "tier", .help = "behave like this tier of the service (default: standard)", .choices = kTiers},
};

}  // namespace

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{
    .serve_options = kServeOptions,
    .make_serve_options = [](const cli::CommandLine& line) -> std::shared_ptr<cli::ServeOptionsOfAddon> {
        return std::make_shared<ServeOptions>(line);
    }};

}  // namespace partita::profile
