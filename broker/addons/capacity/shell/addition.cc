#include <optional>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/assembly/addon.h"
#include "broker/logs/published_topics.h"

namespace partita::capacity {
namespace {

class CapacityAddon final : public assembly::Addon {
  public:
    void attach(const assembly::AddonPlace& place, handlers::Extensions& extensions) override {
        capacity_.emplace(place.config, place.findings, place.own_changes);
        place.topics.add_listener(*capacity_);
        extensions.commit_gate = &*capacity_;
        extensions.parts.add(*capacity_);
    }
    void load(Now now) override { capacity_->begin(now); }

  private:
    std::optional<SharedCapacity> capacity_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig&) -> std::unique_ptr<assembly::Addon> { return std::make_unique<CapacityAddon>(); }};

}  // namespace partita::capacity
