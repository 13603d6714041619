// `partita.profile` and its related configs.

#include "broker/config/addition.h"

#include "broker/addons/profile/config/profile_config.h"
#include "broker/addons/profile/core/profile.h"
#include "broker/config/definition_helpers.h"

namespace partita::profile {
namespace {

// The short names of the definition tables.
using namespace config;
using config::internal;

constexpr std::string_view kProfiles[] = {"", kEventHubs};

constexpr ConfigDefinition kDefinitions[] = {
    internal("partita.profile", ConfigType::string, "", one_of(kProfiles), kReadOnly,
             "Service that clients see instead of Kafka: eventhubs for the Kafka endpoint of a managed event service; empty for "
             "Kafka. See docs/eventhubs.md."),
    internal("partita.profile.access.keys", ConfigType::password, kNone, kAny, kReadOnly,
             "Keys of connection strings: NAME[:RIGHTS]=KEY[,NAME[:RIGHTS]=KEY...], with RIGHTS of "
             "send, listen "
             "and manage, joined by '+'; without them a key has all rights. Clients of a profile log in with PLAIN as "
             "$ConnectionString. Without a key, partita serve creates one and prints it."),
    internal("partita.profile.newer.api.versions.enable", ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether a profile answers an ApiVersions request of a newer version than it offers, as Kafka does. The service "
             "closes the connection instead, so Java clients from Kafka 3.9 on cannot talk to it."),
    internal("partita.profile.tier", ConfigType::string, "standard", one_of(kTierNames), kReadOnly,
             "The tier of the profile: basic, standard, premium or dedicated."),
};

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{
    .broker = kDefinitions, .add_presets = add_presets, .check = check_profile, .topic_limits = topic_limits_of};

}  // namespace partita::profile
