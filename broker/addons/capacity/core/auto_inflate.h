#pragma once

#include <cstdint>
#include <optional>

#include "broker/addons/capacity/core/capacity_meter.h"

namespace partita::capacity {

/// Decides when a cluster should get more units. The number only grows, and never beyond a maximum.
///
/// The rule is our own. It applies if in each second of `after_ms` some client waited or was refused. The new number of units
/// then covers the demand of that time, and is at least one more.
class AutoInflate {
  public:
    static constexpr std::int64_t kSecondMs = 1'000;

    struct Rule {
        /// 0 never inflates.
        std::int32_t units_max = 0;
        /// In whole seconds, rounded up; at least one.
        std::int64_t after_ms = 0;

        friend bool operator==(Rule, Rule) = default;
    };
    /// Starts the count anew if the rule differs.
    void set_rule(Rule rule);

    struct Use {
        /// The load that a client asked for, granted or not.
        Load asked;
        /// The load that one unit carries in a second in that direction.
        Load unit;
        bool is_ingress = true;
        CapacityMeter::Admission outcome;
    };
    /// Notes a use. Returns the new number of units when it is time for more; then the count starts anew.
    [[nodiscard]] std::optional<std::int32_t> note(const Use& use, std::int32_t units, Instant now);

  private:
    void begin(Instant now);
    void end_seconds(Instant now);
    [[nodiscard]] std::int32_t units_for_demand() const;

    Rule rule_;
    bool is_counting_ = false;
    // The second in progress. A client that has had to wait since the count began waits until `waits_until_` at most.
    Instant second_began_;
    bool refused_in_second_ = false;
    Instant waits_until_;
    // The number of seconds in a row in which a client waited, and the load asked for since the first of them began.
    std::int64_t seconds_with_waits_ = 0;
    struct Direction {
        Load asked;
        Load unit;
    };
    Direction ingress_;
    Direction egress_;
};

}  // namespace partita::capacity
