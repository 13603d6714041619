#include <optional>

#include "broker/addons/capture/shell/capture.h"
#include "broker/assembly/addon.h"
#include "broker/logs/published_topics.h"

namespace partita::capture {
namespace {

class CaptureAddon final : public assembly::Addon {
  public:
    void attach(const assembly::AddonPlace& place, handlers::Extensions& extensions) override {
        capture_.emplace(place.config, place.topics, place.file_system, counters_, place.schedule);
        place.topics.add_listener(*capture_);
        extensions.parts.add(counters_);
    }
    void start() override { capture_->start(); }
    void stop() override { capture_->stop(); }

  private:
    CaptureCounters counters_;
    std::optional<Capture> capture_;
};

}  // namespace

extern const assembly::Addition kBrokerAddition;
constinit const assembly::Addition kBrokerAddition{
    .make = [](const config::BrokerConfig&) -> std::unique_ptr<assembly::Addon> { return std::make_unique<CaptureAddon>(); }};

}  // namespace partita::capture
