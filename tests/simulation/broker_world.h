#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "broker/assembly/broker.h"
#include "protocol/random_bytes.h"
#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_ledger.h"
#include "tests/simulation/broker_world_network.h"
#include "tests/simulation/broker_world_schedule.h"
#include "tests/simulation/broker_world_transactions.h"
#include "tests/support/memory_file_system.h"

namespace partita::test {

/// The assembled broker on one thread, with its clients: a history that follows from a seed. Time stands still while anybody has
/// something to do, and jumps to the next deadline when nobody has. At any moment the broker may die: between two steps of its
/// workers and reactor, or within one before any change of a file, of a name or of the metadata store. What it does after that
/// reaches nobody and nothing. It comes back with what the files kept, after a kill or a power failure. And now and then a write
/// finds no room on the disk.
///
/// The files are in memory, but for the metadata store's, which LMDB maps: these lie in `scratch`, which is empty.
class BrokerWorld {
  public:
    /// `is_told`: what happens is printed to standard error.
    BrokerWorld(std::uint64_t seed, std::filesystem::path scratch, bool is_told = false);
    ~BrokerWorld();

    /// Plays so many turns of fate, with crashes among them, comes to rest, and looks whether all that was told is true.
    void play(int turns);

    [[nodiscard]] const std::vector<std::string>& wrong() const { return ledger_.wrong(); }
    /// The same for the same seed.
    [[nodiscard]] std::uint64_t digest() const { return clients_world_.digest; }

    struct Counts {
        std::uint64_t steps = 0;
        std::uint64_t replies = 0;
        int kills = 0;
        int power_failures = 0;
        /// Of these, within a step.
        int within_steps = 0;
        /// Writes that found no room.
        int full_disks = 0;
    };
    [[nodiscard]] Counts counts() const;

  private:
    struct Life;

    void make_data_directory();
    void start();
    void crash_soon();
    /// One of the next writes finds no room.
    void fill_disk();
    /// Called where the broker could die.
    void may_die();
    void die();
    void restart();
    /// Steps that could come now, and takes one of them. False when there is none.
    bool step();
    bool read_replies();
    void act();
    /// To the next deadline, by so much at most.
    void let_time_pass(std::int64_t most_ms);
    /// Until every request is answered and nobody has anything to do.
    void come_to_rest();
    void audit();

    std::mt19937_64 random_;
    const std::filesystem::path scratch_;
    std::unique_ptr<SeededRandomBytes> random_bytes_;
    VirtualClock clock_;
    std::unique_ptr<MemoryFileSystem> files_;
    Ledger ledger_{clock_};
    ClientsWorld clients_world_;
    std::vector<std::unique_ptr<SimulatedClient>> clients_;
    /// One of them.
    SimulatedAdmin* admin_ = nullptr;
    std::unique_ptr<SimulatedTransactions> transactions_;
    std::vector<std::string> overrides_;
    std::unique_ptr<Life> life_;
    Counts counts_;

    /// Changes until the broker dies; none when it does not.
    std::optional<std::uint64_t> dies_in_;
    bool is_power_failure_ = false;
    std::unique_ptr<MemoryFileSystem> left_;
};

}  // namespace partita::test
