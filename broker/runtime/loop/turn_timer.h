#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "broker/runtime/loop/reactor.h"

namespace partita::runtime {

/// Calls something once when its time has come by the reactor's clock: at the end of the first turn after that. Whatever waits on
/// a reactor waits with one of these, so that whoever moves the clock moves everything.
///
/// It is made before the reactor runs, and lives until the reactor has stopped for good. Only the reactor's thread calls it.
class TurnTimer final : public TurnParticipant {
  public:
    explicit TurnTimer(Reactor& reactor) { reactor.add_participant(*this); }
    TurnTimer(const TurnTimer&) = delete;
    TurnTimer& operator=(const TurnTimer&) = delete;

    /// Calls `call` at `due`, in place of what it was to call before. `call` may start it anew.
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
