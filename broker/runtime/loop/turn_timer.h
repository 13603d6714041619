#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "broker/runtime/loop/reactor.h"

namespace partita::runtime {

/// Calls a function once after a deadline on the reactor's clock: at the end of the first turn past it. All waiting on a reactor
/// uses these timers, so that moving the clock moves everything.
///
/// Create it before the reactor runs, and keep it until the reactor has stopped for good. Only the reactor's thread calls it.
class TurnTimer final : public TurnParticipant {
  public:
    explicit TurnTimer(Reactor& reactor) { reactor.add_participant(*this); }
    TurnTimer(const TurnTimer&) = delete;
    TurnTimer& operator=(const TurnTimer&) = delete;

    /// Calls `call` at `due`, and forgets an earlier call that has not run. `call` may start the timer again.
    void start(Instant due, std::function<void()> call) {
        due_ = due;
        call_ = std::move(call);
    }
    void cancel() {
        due_.reset();
        call_ = nullptr;
    }

    void end_turn(Now now) override {
        if (!due_ || *due_ > now.monotonic) {
            return;
        }
        const std::function<void()> call = std::exchange(call_, nullptr);
        due_.reset();
        call();
    }
    [[nodiscard]] std::optional<Instant> next_deadline() override { return due_; }

  private:
    std::optional<Instant> due_;
    std::function<void()> call_;
};

}  // namespace partita::runtime
