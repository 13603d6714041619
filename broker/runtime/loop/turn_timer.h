#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "broker/runtime/loop/reactor.h"

namespace partita::runtime {

/// Calls a function once after a deadline on the machine's clock (`Reactor::machine_now`): at the end of the first turn past it.
/// For sockets, and for what the process itself waits for. The broker's own deadlines are those of turn participants.
///
/// Create it before the reactor runs, and keep it until the reactor has stopped for good. Only the reactor's thread calls it.
class TurnTimer final : public TurnParticipant {
  public:
    explicit TurnTimer(Reactor& reactor) : reactor_(reactor) { reactor.add_participant(*this); }
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

    void end_turn(Now /*now*/) override {
        if (!due_ || *due_ > reactor_.machine_now()) {
            return;
        }
        const std::function<void()> call = std::exchange(call_, nullptr);
        due_.reset();
        call();
    }
    [[nodiscard]] std::optional<Instant> next_machine_deadline() override { return due_; }

  private:
    Reactor& reactor_;
    std::optional<Instant> due_;
    std::function<void()> call_;
};

}  // namespace partita::runtime
