#include "schedule/movable_time.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "protocol/assert.h"

namespace partita {
namespace {

/// A move looks this often whether it must end, while it waits for work.
constexpr std::chrono::milliseconds kLookAround{10};

/// The station whose step the thread runs.
thread_local const void* own_station = nullptr;

bool is_a_time(Instant instant) { return instant != kAtOnce && instant != kNever && instant != kOver; }

}  // namespace

/// A worker, as the clock knows it. `mutex_` guards all but the constants.
struct MovableTime::Station {
    const std::string name;
    const Step step;
    const bool is_beside_clock;
    /// Null before it has been started, and after its end.
    Worker* worker = nullptr;
    /// The result of the last step.
    Instant rest = kAtOnce;
    /// The same by the machine's clock, for a worker beside the clock.
    Instant machine_rest = kAtOnce;
    /// Set by `wake` since its last step began.
    bool is_called = false;
    bool is_stepping = false;
    bool is_gone = false;
    std::int64_t steps = 0;
};

class MovableTime::StationWorker final : public Worker {
  public:
    StationWorker(MovableTime& time, std::shared_ptr<Station> station, std::unique_ptr<Worker> worker)
        : time_(time), station_(std::move(station)), worker_(std::move(worker)) {
        const MutexLock lock(time_.mutex_);
        station_->worker = worker_.get();
        // It may rest already, and nobody could tell it of a move.
        worker_->wake();
    }
    ~StationWorker() override {
        {
            const MutexLock lock(time_.mutex_);
            station_->worker = nullptr;
            station_->is_gone = true;
            std::erase(time_.stations_, station_);
            time_.changed_.notify_all();
        }
        worker_.reset();
    }
    void wake() override {
        const MutexLock lock(time_.mutex_);
        station_->is_called = true;
        worker_->wake();
    }

  private:
    MovableTime& time_;
    const std::shared_ptr<Station> station_;
    std::unique_ptr<Worker> worker_;
};

Now MovableTime::shown(const Setting& setting, Now machine) {
    if (setting.stands) {
        return {{setting.monotonic_ms}, {setting.wall_ms}};
    }
    return {machine.monotonic + setting.monotonic_ms, {machine.wall.value + setting.wall_ms}};
}

Now MovableTime::now() {
    while (true) {
        const std::uint64_t version = version_.load(std::memory_order_acquire);
        // Read between the two versions: so a time from before a change is never shown after it.
        const Now machine = machine_.clock.now();
        const Setting setting{.stands = stands_.load(std::memory_order_acquire),
                              .monotonic_ms = monotonic_ms_.load(std::memory_order_acquire),
                              .wall_ms = wall_ms_.load(std::memory_order_acquire)};
        if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) {
            return shown(setting, machine);
        }
        std::this_thread::yield();
    }
}

void MovableTime::change(const std::function<Setting(Now now, Now machine)>& next) {
    const Setting setting{.stands = stands_.load(), .monotonic_ms = monotonic_ms_.load(), .wall_ms = wall_ms_.load()};
    version_.fetch_add(1);
    const Now machine = machine_.clock.now();
    const Setting changed = next(shown(setting, machine), machine);
    stands_.store(changed.stands);
    monotonic_ms_.store(changed.monotonic_ms);
    wall_ms_.store(changed.wall_ms);
    version_.fetch_add(1);
}

void MovableTime::stand_still() {
    change([](Now now, Now) { return Setting{.stands = true, .monotonic_ms = now.monotonic.value, .wall_ms = now.wall.value}; });
}

void MovableTime::stand_at(Now now) {
    change([now](Now, Now) { return Setting{.stands = true, .monotonic_ms = now.monotonic.value, .wall_ms = now.wall.value}; });
}

void MovableTime::run_on() {
    change([](Now now, Now machine) {
        return Setting{
            .stands = false, .monotonic_ms = now.monotonic - machine.monotonic, .wall_ms = now.wall.value - machine.wall.value};
    });
}

Instant MovableTime::machine_time_of(Instant due) {
    if (!is_a_time(due)) {
        return due;
    }
    const Instant machine = machine_now();
    const std::int64_t left_ms = due - now().monotonic;
    if (left_ms <= 0) {
        return machine;
    }
    return stands() ? kNever : machine + left_ms;
}

std::unique_ptr<Worker> MovableTime::start(std::string_view name, Step step) {
    return start_station(name, std::move(step), false);
}

std::unique_ptr<Worker> MovableTime::start_beside_clock(std::string_view name, Step step) {
    return start_station(name, std::move(step), true);
}

std::unique_ptr<Worker> MovableTime::start_station(std::string_view name, Step step, bool is_beside_clock) {
    auto station = std::make_shared<Station>(
        Station{.name = std::string(name), .step = std::move(step), .is_beside_clock = is_beside_clock});
    {
        const MutexLock lock(mutex_);
        stations_.push_back(station);
    }
    auto worker = machine_.executor.start(name, [this, station] { return this->step(*station); });
    return std::make_unique<StationWorker>(*this, std::move(station), std::move(worker));
}

bool MovableTime::is_due(const Station& station) {
    return station.is_called ||
           (station.is_beside_clock ? station.machine_rest <= machine_now() : station.rest <= now().monotonic);
}

Instant MovableTime::machine_rest(const Station& station) {
    return station.is_beside_clock ? station.machine_rest : machine_time_of(station.rest);
}

Instant MovableTime::step(Station& station) {
    {
        const MutexLock lock(mutex_);
        // Otherwise it was only woken to rest until another time.
        if (!is_due(station)) {
            return machine_rest(station);
        }
        station.is_called = false;
        station.is_stepping = true;
    }
    own_station = &station;
    const Instant next = station.step();
    own_station = nullptr;
    const MutexLock lock(mutex_);
    station.is_stepping = false;
    station.rest = next;
    station.machine_rest = is_a_time(next) ? machine_now() + (next - now().monotonic) : next;
    station.is_gone |= next == kOver;
    ++station.steps;
    changed_.notify_all();
    return machine_rest(station);
}

void MovableTime::join(Sleeper& sleeper) {
    const MutexLock lock(mutex_);
    seats_.push_back({&sleeper});
}

void MovableTime::leave(Sleeper& sleeper) {
    const MutexLock lock(mutex_);
    std::erase_if(seats_, [&](const Seat& seat) { return seat.sleeper == &sleeper; });
    changed_.notify_all();
}

bool MovableTime::has_work(const Station& station) {
    return !station.is_gone && !station.is_beside_clock && &station != asker_ &&
           (station.is_stepping || station.is_called || station.rest <= now().monotonic);
}

Instant MovableTime::earliest_rest(const Sleeper* but) {
    Instant earliest = kNever;
    for (const auto& station : stations_) {
        if (!station->is_gone && !station->is_beside_clock && station.get() != asker_) {
            earliest = std::min(earliest, station->rest);
        }
    }
    for (const Seat& seat : seats_) {
        earliest = seat.sleeper == but ? earliest : std::min(earliest, seat.until);
    }
    return earliest;
}

bool MovableTime::rests(Sleeper& sleeper, Instant until) {
    const MutexLock lock(mutex_);
    const auto seat = std::ranges::find(seats_, &sleeper, &Seat::sleeper);
    PARTITA_ASSERT(seat != seats_.end(), "a sleeper has joined before it rests");
    seat->until = until;
    const Now here = now();
    if (leash_.sleeper != &sleeper || leash_.steps == kLeashStepsMax || until <= here.monotonic || until > leash_.limit ||
        until >= earliest_rest(&sleeper) ||
        std::ranges::any_of(stations_, [&](const auto& station) REQUIRES(mutex_) { return has_work(*station); })) {
        return false;
    }
    stand_at({until, {here.wall.value + (until - here.monotonic)}});
    ++leash_.steps;
    return true;
}

/// One move, on the thread that asked for it.
class MovableTime::Move {
  public:
    Move(MovableTime& time, const std::function<bool()>& must_end)
        : time_(time), must_end_(must_end), give_up_(time.machine_now() + kWorkMsMax) {
        const MutexLock lock(time_.mutex_);
        for (const auto& station : time_.stations_) {
            if (station.get() == own_station) {
                time_.asker_ = station.get();
            } else if (station->worker != nullptr) {
                stations_.push_back(station);
            }
        }
    }
    Move(const Move&) = delete;
    Move& operator=(const Move&) = delete;

    void run_to(Instant target) {
        target_ = target;
        // A turn under way may still say that something is due sooner.
        let_sleepers_look(true);
        settle();
        for (Now at = time_.now(); at.monotonic < target; at = time_.now()) {
            is_over_ = is_over_ || must_end_() || time_.machine_now() >= give_up_;
            const Instant next = is_over_ ? target : std::max(earliest(), at.monotonic + stride_ms_);
            const std::int64_t step_ms = std::min(target, next) - at.monotonic;
            time_.stand_at({at.monotonic + step_ms, {at.wall.value + step_ms}});
            count_stops(1);
            settle();
        }
        wake_those_beside();
    }

    Moved moved;

  private:
    void count_stops(std::int64_t stops) {
        moved.stops += stops;
        if (stride_ms_ == 1 && moved.stops >= kStopsMax) {
            stride_ms_ = std::max<std::int64_t>(1, (target_ - time_.now().monotonic) / kStopsMax);
        }
    }

    [[nodiscard]] Instant earliest() {
        const MutexLock lock(time_.mutex_);
        return time_.earliest_rest(nullptr);
    }
    [[nodiscard]] bool is_due_by_rest(const Station& station) const REQUIRES(time_.mutex_) {
        return !station.is_beside_clock && station.rest <= time_.now().monotonic;
    }

    /// Waits until `is_done`. False if the move must not wait any longer.
    template <class Predicate>
    bool wait(UniqueLock& lock, const Predicate& is_done) {
        while (!is_over_ && !time_.changed_.wait_for(lock, kLookAround, is_done)) {
            is_over_ = must_end_() || time_.machine_now() >= give_up_;
        }
        return !is_over_;
    }

    /// Lets all who have something to do at this time do it.
    void settle() {
        for (int round = 0; round < kRoundsMax && !is_over_; ++round) {
            const bool have_worked = let_workers_work();
            if (!let_sleepers_look(have_worked) && !have_worked) {
                return;
            }
        }
    }

    bool let_workers_work() {
        UniqueLock lock(time_.mutex_);
        std::vector<Task> tasks;
        for (const auto& station : stations_) {
            if (time_.has_work(*station)) {
                tasks.push_back(
                    {station.get(), station->steps, station->steps + (station->is_stepping && station->is_called ? 2 : 1)});
                station->worker->wake();
            }
        }
        if (tasks.empty()) {
            return false;
        }
        wait_for(tasks, lock);
        return true;
    }

    /// `all`: also those who have nothing to do by their own account. False if nobody had.
    bool let_sleepers_look(bool all) {
        UniqueLock lock(time_.mutex_);
        const Instant now = time_.now().monotonic;
        const auto looking = std::make_shared<std::size_t>(0);
        bool any = false;
        const auto first_due = std::ranges::find_if(time_.seats_, [&](const Seat& seat) { return seat.until <= now; });
        if (!all && stride_ms_ == 1 && first_due != time_.seats_.end()) {
            time_.leash_ = {.sleeper = first_due->sleeper, .name = std::string(first_due->sleeper->name()), .limit = target_};
        }
        for (const Seat& seat : time_.seats_) {
            const bool is_due = seat.until <= now;
            any |= is_due;
            if (!is_due && !all) {
                continue;
            }
            ++*looking;
            seat.sleeper->look([&time = time_, looking] {
                const MutexLock looked(time.mutex_);
                --*looking;
                time.changed_.notify_all();
            });
            if (is_due) {
                note(seat.sleeper->name(), 1, false);
            }
        }
        wait(lock, [&] { return *looking == 0; });
        const Leash leash = std::exchange(time_.leash_, {});
        if (leash.steps > 0) {
            note(leash.name, leash.steps, false);
            count_stops(leash.steps);
        }
        return any;
    }

    /// The work beside the clock has one look at the new time.
    void wake_those_beside() {
        UniqueLock lock(time_.mutex_);
        std::vector<Task> tasks;
        for (const auto& station : stations_) {
            // A step that never ended before is that of a job, which may work long.
            if (station->is_beside_clock && !station->is_gone && (!station->is_stepping || station->steps > 0)) {
                tasks.push_back({station.get(), station->steps, station->steps + (station->is_stepping ? 2 : 1)});
                station->is_called = true;
                station->worker->wake();
            }
        }
        wait_for(tasks, lock);
    }

    /// A worker, with the number of its steps before, and that of the step after which it has seen all work of before.
    struct Task {
        const Station* station;
        std::int64_t steps_before;
        std::int64_t step;
    };
    void wait_for(const std::vector<Task>& tasks, UniqueLock& lock) REQUIRES(time_.mutex_) {
        // Clients may wake a worker for ever, so a worker that was called again counts as done.
        const auto is_done = [&](const Task& task) REQUIRES(time_.mutex_) {
            return task.station->is_gone || (task.station->steps >= task.step && !is_due_by_rest(*task.station));
        };
        wait(lock, [&]() REQUIRES(time_.mutex_) { return std::ranges::all_of(tasks, is_done); });
        for (const Task& task : tasks) {
            note(task.station->name, task.station->steps - task.steps_before, !is_done(task));
        }
    }

    void note(std::string_view name, std::int64_t times, bool is_unfinished) {
        if (times > 0) {
            moved.ran[std::string(name)] += times;
        }
        if (is_unfinished && std::ranges::find(moved.unfinished, name) == moved.unfinished.end()) {
            moved.unfinished.emplace_back(name);
        }
    }

    MovableTime& time_;
    const std::function<bool()>& must_end_;
    const Instant give_up_;
    bool is_over_ = false;
    Instant target_{};
    /// From one stop to the next, at least.
    std::int64_t stride_ms_ = 1;
    std::vector<std::shared_ptr<Station>> stations_;
};

std::optional<MovableTime::Moved> MovableTime::move(const Wish& wish, const std::function<bool()>& must_end) {
    PARTITA_ASSERT(wish.advance_ms >= 0, "a move goes forward");
    {
        const MutexLock lock(mutex_);
        if (std::exchange(is_moving_, true)) {
            return std::nullopt;
        }
    }
    const bool stood = stands();
    const std::int64_t ahead_ms = monotonic_ms_.load();
    const std::int64_t wall_ahead_ms = wall_ms_.load();
    stand_still();
    Move move(*this, must_end);
    move.moved.from = now();
    std::int64_t advance_ms = wish.advance_ms;
    if (wish.wall) {
        advance_ms = wish.wall->value - move.moved.from.wall.value;
        if (advance_ms < 0) {
            stand_at({move.moved.from.monotonic, *wish.wall});
        }
    }
    if (advance_ms > 0) {
        move.run_to(move.moved.from.monotonic + advance_ms);
    }
    move.moved.to = now();
    if (!wish.stands.value_or(stood)) {
        if (stood) {
            run_on();
        } else {
            const Setting setting{.stands = false,
                                  .monotonic_ms = ahead_ms + (move.moved.to.monotonic - move.moved.from.monotonic),
                                  .wall_ms = wall_ahead_ms + (move.moved.to.wall.value - move.moved.from.wall.value)};
            change([&](Now, Now) { return setting; });
        }
    }
    // All measure their rests anew.
    const MutexLock lock(mutex_);
    for (const auto& station : stations_) {
        if (station->worker != nullptr) {
            station->worker->wake();
        }
    }
    for (const Seat& seat : seats_) {
        seat.sleeper->look([] {});
    }
    asker_ = nullptr;
    is_moving_ = false;
    return std::move(move.moved);
}

}  // namespace partita
