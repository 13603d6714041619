#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include "protocol/types.h"
#include "schedule/clock.h"

namespace partita {

/// What a step answers when it is to be called again at once, and when only `wake` is to call it again.
inline constexpr Instant kAtOnce{std::numeric_limits<std::int64_t>::min()};
inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};
/// What a step answers when it was the last one: nobody calls it again, and what it ran on is given back at once.
inline constexpr Instant kOver{std::numeric_limits<std::int64_t>::min() + 1};

/// Work beside the reactors that is done in steps, each by a call of the function that `Executor::start` was given.
class Worker {
  public:
    /// Waits for the present step; there is none after it. Not from a step of its own.
    virtual ~Worker() = default;
    /// Another step begins after this call, however long the last one wanted to rest. Several calls before that step count as
    /// one: it finds what was left for it until then. Does nothing after a last step (`kOver`). From any thread, also from the
    /// step; waits for nothing but a moment's lock.
    virtual void wake() = 0;
};

/// Where the work beside the reactors runs: each worker on a thread of its own (ThreadExecutor), or, in a simulation, all of them
/// on one, in an order that a seed chooses.
///
/// What a part may rely on: steps of one worker never overlap, and what one did is seen by the next. Steps of different workers
/// and turns of reactors may overlap, in any order. What a part owes: a step ends by itself, and does one piece of work; it may
/// wait for a disk or a lock, but never for another worker's step or a reactor's turn, which may run on the same thread after it.
class Executor {
  public:
    /// Answers when it is to be called again, by the monotonic clock, unless somebody wakes it before; or one of the constants
    /// above.
    using Step = std::function<Instant()>;

    virtual ~Executor() = default;
    /// The first step runs soon, on another thread or after the present step, never within this call. `name` is for people: 15
    /// characters at most.
    [[nodiscard]] virtual std::unique_ptr<Worker> start(std::string_view name, Step step) = 0;
};

/// A thread for each worker, which sleeps between its steps and ends with the last one.
class ThreadExecutor final : public Executor {
  public:
    [[nodiscard]] std::unique_ptr<Worker> start(std::string_view name, Step step) override;
};

/// Time, and who does the work: handed to every part that asks for the one or starts the other. Both outlive the broker.
struct Schedule {
    Clock& clock;
    Executor& executor;
};

/// The system's clocks, and threads. One instance of both serves the process.
[[nodiscard]] Schedule real_schedule();

}  // namespace partita
