#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "broker/assembly/broker.h"
#include "protocol/random_bytes.h"
#include "tests/simulation/broker_world_network.h"
#include "tests/simulation/broker_world_schedule.h"
#include "tests/support/memory_file_system.h"

namespace partita::test {

/// The assembled broker on one thread, which dies and comes back. Its caller takes its steps one by one and moves its clock. The
/// broker may die between two steps, or within one before any change of a file, of a name or of the metadata store. After that it
/// has no effect any more. `restart` begins its next life with what the files kept, after a kill or a power failure.
///
/// The files are in memory, except those of the metadata store, which LMDB maps: they lie in `scratch`, which is empty at first.
/// All choices follow from `random`. `random` and the clock outlive this object.
class MortalBroker {
  public:
    MortalBroker(std::mt19937_64& random, VirtualClock& clock, std::filesystem::path scratch, std::uint64_t seed);
    ~MortalBroker();
    MortalBroker(const MortalBroker&) = delete;
    MortalBroker& operator=(const MortalBroker&) = delete;

    /// Configs in addition to those of every simulated broker. Set them before `start`.
    std::vector<std::string> overrides;

    // Living -------------------------------------------------------------------------------------

    /// Begins the first life. An error says why it does not begin.
    [[nodiscard]] std::expected<void, std::string> start();
    [[nodiscard]] const runtime::Services& services();
    /// Null before the first life.
    [[nodiscard]] SimulatedNetwork* network();
    [[nodiscard]] MemoryFileSystem& files() { return *files_; }
    /// Takes one of the possible steps: a worker's, or a turn of the reactor. False when there is none.
    bool step();
    /// Wakes the reactor, which looks for work.
    void wake();
    /// Moves the clock to the broker's next deadline, by `most_ms` at most.
    void let_time_pass(std::int64_t most_ms);
    /// Steps of workers and the reactor, in all lives.
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// Called with the name of the worker before each of its steps.
    std::function<void(const std::string& worker)> on_step;

    // Dying --------------------------------------------------------------------------------------

    enum class Death : std::uint8_t { kill, power_failure };
    /// The broker makes `changes` more changes and dies before the next one. Does nothing when it is doomed or dead already.
    void doom(Death death, std::uint64_t changes);
    /// Lets a doomed broker live on.
    void spare() { doom_.reset(); }
    [[nodiscard]] bool is_doomed() const { return doom_.has_value(); }
    /// True when the broker is doomed to die before its very next change.
    [[nodiscard]] bool is_about_to_die() const { return doom_ && doom_->changes == 0; }
    void die(Death death);
    [[nodiscard]] bool is_dead() const;
    /// The last death.
    [[nodiscard]] Death death() const { return death_; }
    /// Deaths within a step.
    [[nodiscard]] int deaths_within_steps() const { return deaths_within_steps_; }
    /// Begins the next life of a dead broker, `rest_ms` later. Connections of the former life are gone.
    [[nodiscard]] std::expected<void, std::string> restart(std::int64_t rest_ms);

  private:
    struct Life;
    struct Doom {
        Death death = Death::kill;
        std::uint64_t changes = 0;
    };

    [[nodiscard]] std::expected<void, std::string> make_data_directory();
    void may_die();

    std::mt19937_64& random_;
    VirtualClock& clock_;
    const std::filesystem::path scratch_;
    std::unique_ptr<SeededRandomBytes> random_bytes_;
    std::unique_ptr<MemoryFileSystem> files_;
    std::unique_ptr<Life> life_;
    std::uint64_t steps_ = 0;

    std::optional<Doom> doom_;
    Death death_ = Death::kill;
    int deaths_within_steps_ = 0;
    std::unique_ptr<MemoryFileSystem> left_;
};

}  // namespace partita::test
