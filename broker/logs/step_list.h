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

/// Which requests pass a step, while its switch is on.
enum class StepFor : std::uint8_t {
    every_request,
    /// Those with a batch of a transaction.
    transactions,
    /// Those of clients whose principal is counted.
    counted_clients,
    /// The first one of its kind over each connection.
    first_of_connection,
};

/// What a request is, for the steps that are for some requests only.
struct StepTraits {
    bool is_transactional = false;
    bool is_counted = false;
    bool is_first = false;
};

/// The steps that the requests of a broker pass, in their order; `Point` is an enum of the points at which a step is called. Put
/// together once, before the first request. A request finds out with one load which steps it passes (`passed_by`); where that is
/// none it meets nothing but a branch at each point.
template <class Step, class Point, std::size_t kPoints>
class StepList {
  public:
    static constexpr std::size_t kStepsMax = 32;

    StepList() = default;
    StepList(const StepList&) = delete;
    StepList& operator=(const StepList&) = delete;

    /// Adds a step, which outlives the last request, behind the others. It is called at `points` only. Without a switch it is
    /// always on.
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

    /// The steps that a request passes now.
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
    /// Calls `visit` with each of the steps `passed` that is called at `point`, in order, until `visit` returns false.
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
