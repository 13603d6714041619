#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "protocol/types.h"
#include "schedule/clock.h"

namespace partita {

/// Results of a step: call it again at once, or only after `wake`.
inline constexpr Instant kAtOnce{std::numeric_limits<std::int64_t>::min()};
inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};
/// Result of the last step: the executor never calls it again, and frees its thread at once.
inline constexpr Instant kOver{std::numeric_limits<std::int64_t>::min() + 1};

/// Work beside the reactors, done in steps. Each step is one call of the function given to `Executor::start`.
class Worker {
  public:
    /// Waits for the current step; no step follows it. A step must not destroy its own worker.
    virtual ~Worker() = default;
    /// Makes another step begin after this call, however long the last one wanted to rest. Several calls before that step count
    /// as one: the step finds all work left for it until then. Does nothing after a last step (`kOver`). Any thread may call it,
    /// and so may the step; it waits at most briefly for a lock.
    virtual void wake() = 0;
};

/// Runs the work beside the reactors. ThreadExecutor gives each worker its own thread. A simulation runs all workers on one
/// thread, in an order that a seed chooses.
///
/// Guarantees: steps of one worker never overlap, and each step sees the effects of the one before. Steps of different workers
/// and turns of reactors may overlap, in any order.
///
/// Duties: a step does one piece of work and ends by itself. It may wait for a disk or a lock, but never for another worker's
/// step or a reactor's turn: these may run on the same thread after it.
class Executor {
  public:
    /// Returns the time of its next call, by the monotonic clock, or one of the constants above. `wake` may call it sooner.
    using Step = std::function<Instant()>;

    virtual ~Executor() = default;
    /// Starts a worker. The first step runs soon, on another thread or after the current step, never within this call. `name` is
    /// for people: 15 characters at most.
    [[nodiscard]] virtual std::unique_ptr<Worker> start(std::string_view name, Step step) = 0;
    /// The same, for work that keeps to a share of a processor, or runs once. Its rests are still told by the clock, but they
    /// take as long when people move the clock. Work that must go on while the clock stands still takes `machine_schedule`.
    [[nodiscard]] virtual std::unique_ptr<Worker> start_beside_clock(std::string_view name, Step step) {
        return start(name, std::move(step));
    }
};

/// A thread for each worker, which sleeps between its steps and ends with the last one.
class ThreadExecutor final : public Executor {
  public:
    [[nodiscard]] std::unique_ptr<Worker> start(std::string_view name, Step step) override;
};

/// A clock and an executor, for each part that needs either of them. Both outlive the broker.
struct Schedule {
    Clock& clock;
    Executor& executor;
};

/// The system's clocks, and an executor with threads. One instance of both serves the process.
[[nodiscard]] Schedule real_schedule();

}  // namespace partita
