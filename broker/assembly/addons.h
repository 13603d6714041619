#pragma once

#include <memory>
#include <vector>

#include "broker/assembly/addon.h"

namespace partita::assembly {

/// All addons of one broker, which the broker uses as one part.
class Addons {
  public:
    explicit Addons(const config::BrokerConfig& config);

    [[nodiscard]] const access::Rules* rules(const access::Rules* rules);
    void attach(const AddonPlace& place, handlers::Extensions& extensions);
    void add_steps(logs::AppendSteps& appends, logs::ReadSteps& reads);
    void load(Now now);
    void announce() const;
    void start();
    void stop();

  private:
    std::vector<std::unique_ptr<Addon>> addons_;
};

}  // namespace partita::assembly
