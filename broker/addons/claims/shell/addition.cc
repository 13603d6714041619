#include <optional>

#include "broker/addons/claims/shell/claim_shards.h"
#include "broker/assembly/addon.h"
#include "broker/runtime/coordinators/coordinator_host.h"

namespace partita::claims {
namespace {

class ClaimsAddon final : public assembly::Addon {
  public:
    void attach(const assembly::AddonPlace& place, handlers::Extensions& extensions) override {
        shards_.emplace(ClaimShards::Surroundings{place.turns, place.metadata_store, place.upkeep, place.failures});
        place.coordinators.add(catalog::CoordinatorKind::claims, *shards_);
        extensions.ownership.push_back(&*shards_);
        extensions.parts.add(*shards_);
    }

  private:
    std::optional<ClaimShards> shards_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig&) -> std::unique_ptr<assembly::Addon> { return std::make_unique<ClaimsAddon>(); }};

}  // namespace partita::claims
