#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "broker/logs/step_switch.h"
#include "protocol/assert.h"

namespace partita::logs {

/// The requests that pass a step, while its switch is on.
enum class StepFor : std::uint8_t {
    every_request,
    /// Requests with a transactional batch.
    transactions,
    /// Requests of clients whose principal is counted.
    counted_clients,
    /// The first request of its kind on each connection.
    first_of_connection,
};

/// The traits of a request that decide which optional steps it passes.
struct StepTraits {
    bool is_transactional = false;
    bool is_counted = false;
    bool is_first = false;
};

/// The steps that a broker's appends or reads pass, in order; `Point` is an enum of the points at which a step is called. The
/// broker builds the list once, before the first request. A request finds its steps with one load (`passed_by`). A request
/// without steps meets only one branch at each point.
template <class Step, class Point, std::size_t kPoints>
class StepList {
  public:
    static constexpr std::size_t kStepsMax = 32;

    StepList() = default;
    StepList(const StepList&) = delete;
    StepList& operator=(const StepList&) = delete;

    /// Appends a step, which must outlive the last request. It is called at `points` only. A step without a switch is always on.
    void add(Step& step, std::initializer_list<Point> points, StepFor requests = StepFor::every_request,
             StepSwitch* is_on = nullptr) {
        PARTITA_ASSERT(steps_.size() < kStepsMax, "a step has a bit");
        const std::uint32_t bit = std::uint32_t{1} << steps_.size();
        steps_.push_back(&step);
        for (const Point point : points) {
            at_[static_cast<std::size_t>(point)] |= bit;
        }
        of_[static_cast<std::size_t>(requests)] |= bit;
        if (is_on != nullptr) {
            is_on->join(on_, bit);
        } else {
            on_.fetch_or(bit, std::memory_order_relaxed);
        }
    }

    /// The steps that a request with these traits passes now.
    [[nodiscard]] std::uint32_t passed_by(const StepTraits& traits) const {
        std::uint32_t found = on_.load(std::memory_order_relaxed);
        if (!traits.is_transactional) {
            found &= ~of_[static_cast<std::size_t>(StepFor::transactions)];
        }
        if (!traits.is_counted) {
            found &= ~of_[static_cast<std::size_t>(StepFor::counted_clients)];
        }
        if (!traits.is_first) {
            found &= ~of_[static_cast<std::size_t>(StepFor::first_of_connection)];
        }
        return found;
    }
    /// Calls `visit` with each step of `passed` that has the point `point`, in order, until `visit` returns false.
    template <class Visit>
    void each(std::uint32_t passed, Point point, Visit&& visit) const {
        for (std::uint32_t left = passed & at_[static_cast<std::size_t>(point)]; left != 0; left &= left - 1) {
            if (!visit(*steps_[static_cast<std::size_t>(std::countr_zero(left))])) {
                return;
            }
        }
    }

  private:
    static constexpr std::size_t kTraits = 4;

    std::atomic<std::uint32_t> on_ = 0;
    std::array<std::uint32_t, kTraits> of_{};
    std::array<std::uint32_t, kPoints> at_{};
    std::vector<Step*> steps_;
};

}  // namespace partita::logs
