#pragma once

#include <cstdint>
#include <optional>

#include "broker/addons/capacity/core/capacity_meter.h"

namespace partita::capacity {

/// Says when a cluster should get more units. Up only, and never beyond a maximum.
///
/// The rule, of our own: when somebody waited or was refused in each second of `after_ms`, the units become as many as what was
/// asked for in that time needs, and at least one more.
class AutoInflate {
  public:
    static constexpr std::int64_t kSecondMs = 1'000;

    struct Rule {
        /// 0 to never inflate.
        std::int32_t units_max = 0;
        /// Counted in whole seconds, rounded up; at least one.
        std::int64_t after_ms = 0;

        friend bool operator==(Rule, Rule) = default;
    };
    /// Begins to count anew when it is another rule.
    void set_rule(Rule rule);

    struct Use {
        /// What somebody asked for, had it or not.
        Load asked;
        /// What one unit carries in a second in that direction.
        Load unit;
        bool is_ingress = true;
        CapacityMeter::Admission outcome;
    };
    /// Notes a use. Answers the new number of units when it is time for more; then the count begins anew.
    [[nodiscard]] std::optional<std::int32_t> note(const Use& use, std::int32_t units, Instant now);

  private:
    void begin(Instant now);
    void end_seconds(Instant now);
    [[nodiscard]] std::int32_t units_for_demand() const;

    Rule rule_;
    bool is_counting_ = false;
    // The second under way. Whoever was told to wait since the count began waits until then at most.
    Instant second_began_;
    bool refused_in_second_ = false;
    Instant waits_until_;
    // How many seconds have ended, one after the other, each with somebody who waited; and what was asked for since the first of
    // them began.
    std::int64_t seconds_with_waits_ = 0;
    struct Direction {
        Load asked;
        Load unit;
    };
    Direction ingress_;
    Direction egress_;
};

}  // namespace partita::capacity
