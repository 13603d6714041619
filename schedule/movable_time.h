#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita {

/// A part of the broker, beside the workers, that rests until times of a movable clock: a reactor.
class Sleeper {
  public:
    virtual ~Sleeper() = default;
    /// For people, and for all sleepers that do the same.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Does on its own thread what is due, then calls `looked` on that thread. A sleeper that has ended may drop the call. Any
    /// thread may call this, with a lock held.
    virtual void look(std::function<void()> looked) = 0;
};

/// A clock that people move, for a broker with a test bench. It runs with the clock of the machine until they set it forward or
/// let it stand still.
///
/// A move does not jump. The clock stands still at each time at which something is due, until that is done, and goes on to the
/// next: so things happen in their order, and each of them sees its own time. Work that takes its time from the machine
/// (sockets, waiting fetches, workers of `start_beside_clock`) is not due at any time of this clock. A clock that ran before a
/// move is ahead by the length of the move afterwards: the time that the move takes is not lost.
///
/// It is also the executor of that broker, because it must know until when each worker rests. All calls are thread-safe; `now`
/// takes no lock.
class MovableTime final : public Clock, public Executor {
  public:
    /// A move stops at so many times at which something is due. If that is not enough, it makes as many stops again at equal
    /// distances, and does at the second one what falls due between two of them.
    static constexpr std::int64_t kStopsMax = 10'000;
    /// At each stop, work may bring about further work this many times, for example a reactor's for a worker. Work that
    /// is due after that waits for the next stop.
    static constexpr int kRoundsMax = 20;
    /// A move lasts no longer than this, by the clock of the machine. Then it goes to its end at once.
    static constexpr std::int64_t kWorkMsMax = 60'000;
    /// A sleeper moves the clock by itself at most this often before the move looks around again.
    static constexpr std::int64_t kLeashStepsMax = 256;

    /// `clock` and `executor` are the machine's, and outlive this.
    explicit MovableTime(const Schedule& machine) : machine_(machine) {}

    // The clock.
    [[nodiscard]] Now now() override;
    [[nodiscard]] std::int64_t stopwatch_ns() override { return machine_.clock.stopwatch_ns(); }
    [[nodiscard]] std::int64_t thread_processor_ns() override { return machine_.clock.thread_processor_ns(); }
    [[nodiscard]] std::int64_t process_processor_ns() override { return machine_.clock.process_processor_ns(); }
    [[nodiscard]] MovableTime* movable() override { return this; }
    [[nodiscard]] const Schedule& machine() const { return machine_; }
    /// The monotonic clock of the machine.
    [[nodiscard]] Instant machine_now() { return machine_.clock.now().monotonic; }
    /// When the machine's monotonic clock reaches the time `due` of this clock: not exact once the clock was moved, so
    /// look again then. `kNever` while the clock stands still before `due`.
    [[nodiscard]] Instant machine_time_of(Instant due);

    // The executor.
    [[nodiscard]] std::unique_ptr<Worker> start(std::string_view name, Step step) override;
    [[nodiscard]] std::unique_ptr<Worker> start_beside_clock(std::string_view name, Step step) override;

    // Sleepers.
    /// A sleeper must leave before it ends; `leave` waits for a running `Sleeper::look`.
    void join(Sleeper& sleeper) EXCLUDES(mutex_);
    void leave(Sleeper& sleeper) EXCLUDES(mutex_);
    /// Says until when the sleeper rests; `kNever` if nothing will be due. True if a move goes on to that time at once, because
    /// nothing else is due until then: the sleeper looks again, and calls `looked` after the last of such looks.
    [[nodiscard]] bool rests(Sleeper& sleeper, Instant until) EXCLUDES(mutex_);

    // Moves.
    struct Wish {
        /// How far to go forward; not negative.
        std::int64_t advance_ms = 0;
        /// Instead, the time to go to. Before the present, only the wall clock goes back, and nothing falls due.
        std::optional<TimestampMs> wall = {};
        /// Whether the clock stands still afterwards; without a value as before.
        std::optional<bool> stands = {};
    };
    struct Moved {
        Now from;
        Now to;
        std::int64_t stops = 0;
        /// How often each worker and sleeper had something to do, by its name.
        std::map<std::string, std::int64_t, std::less<>> ran = {};
        /// Those that still worked when the move would wait no longer.
        std::vector<std::string> unfinished = {};
    };
    /// Moves the clock, and returns when all that fell due is done. Empty if another move is under way. A worker's step may call
    /// this: the move does not wait for that step. The move goes to its end at once when `must_end` says so.
    [[nodiscard]] std::optional<Moved> move(const Wish& wish, const std::function<bool()>& must_end) EXCLUDES(mutex_);
    /// How far the wall clock is ahead of the machine's; negative if people set it back.
    [[nodiscard]] std::int64_t ahead_ms() {
        return stands() ? now().wall.value - machine_.clock.now().wall.value : wall_ms_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool stands() const { return stands_.load(std::memory_order_acquire); }

  private:
    struct Station;
    class StationWorker;
    struct Seat {
        Sleeper* sleeper;
        Instant until = kNever;
    };
    /// While a move waits for one sleeper alone, that sleeper moves the clock from one of its times to the next, up to `limit`.
    /// Two threads would need a hundred times as long to tell each other of each time.
    struct Leash {
        const Sleeper* sleeper = nullptr;
        std::string name;
        Instant limit{};
        std::int64_t steps = 0;
    };
    /// The clock's two times while it stands; otherwise how far both are ahead of the machine's.
    struct Setting {
        bool stands = false;
        std::int64_t monotonic_ms = 0;
        std::int64_t wall_ms = 0;
    };
    class Move;

    [[nodiscard]] std::unique_ptr<Worker> start_station(std::string_view name, Step step, bool is_beside_clock);
    [[nodiscard]] Instant step(Station& station) EXCLUDES(mutex_);
    [[nodiscard]] bool is_due(const Station& station) REQUIRES(mutex_);
    [[nodiscard]] Instant machine_rest(const Station& station) REQUIRES(mutex_);
    /// For workers by this clock; one that asked for the move has none.
    [[nodiscard]] bool has_work(const Station& station) REQUIRES(mutex_);
    /// Until when all workers by this clock and all sleepers rest, but for the one that asked for the move, and `but`.
    [[nodiscard]] Instant earliest_rest(const Sleeper* but) REQUIRES(mutex_);
    [[nodiscard]] static Now shown(const Setting& setting, Now machine);
    /// Changes the setting. `next` gets the time that the clock shows at that moment, and the machine's. Only the thread that
    /// moves the clock calls this, or the sleeper that it waits for.
    void change(const std::function<Setting(Now now, Now machine)>& next);
    void stand_still();
    void stand_at(Now now);
    void run_on();

    const Schedule machine_;
    // A reader that finds an odd number, or another one after its reading, reads again.
    std::atomic<std::uint64_t> version_ = 0;
    std::atomic<bool> stands_ = false;
    std::atomic<std::int64_t> monotonic_ms_ = 0;
    std::atomic<std::int64_t> wall_ms_ = 0;

    Mutex mutex_{LockRank::movable_time};
    Condition changed_;
    bool is_moving_ GUARDED_BY(mutex_) = false;
    /// The worker whose step moves the clock; null if none does.
    const Station* asker_ GUARDED_BY(mutex_) = nullptr;
    Leash leash_ GUARDED_BY(mutex_);
    std::list<std::shared_ptr<Station>> stations_ GUARDED_BY(mutex_);
    std::vector<Seat> seats_ GUARDED_BY(mutex_);
};

/// The clock and executor of the machine behind `schedule`: for work that watches files, processes or the network, and goes on
/// while people let the clock stand still.
[[nodiscard]] inline Schedule machine_schedule(const Schedule& schedule) {
    MovableTime* const movable = schedule.clock.movable();
    return movable == nullptr ? schedule : movable->machine();
}

}  // namespace partita
