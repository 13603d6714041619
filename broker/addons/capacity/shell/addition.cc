#include <optional>

#include "broker/addons/capacity/shell/capacity_steps.h"
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
    void add_steps(logs::AppendSteps& appends, logs::ReadSteps& reads) override {
        using logs::AppendPoint;
        using logs::ReadPoint;
        appends.add(appends_.emplace(*capacity_), {AppendPoint::admit, AppendPoint::settle, AppendPoint::tell},
                    logs::StepFor::every_request, &capacity_->limits_appends());
        reads.add(reads_.emplace(*capacity_), {ReadPoint::admit, ReadPoint::settle}, logs::StepFor::every_request,
                  &capacity_->limits_reads());
    }
    void load(Now now) override { capacity_->begin(now); }

  private:
    std::optional<SharedCapacity> capacity_;
    std::optional<AppendCapacity> appends_;
    std::optional<ReadCapacity> reads_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig&) -> std::unique_ptr<assembly::Addon> { return std::make_unique<CapacityAddon>(); }};

}  // namespace partita::capacity
