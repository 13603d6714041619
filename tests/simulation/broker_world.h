#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_ledger.h"
#include "tests/simulation/broker_world_mortal.h"
#include "tests/simulation/broker_world_scene.h"
#include "tests/simulation/broker_world_schedule.h"
#include "tests/simulation/broker_world_transactions.h"

namespace partita::test {

/// A broker that dies and comes back (MortalBroker), with its clients: a history that follows from a seed. Time stands still
/// while any part has something to do, and otherwise jumps to the next deadline. Now and then a write finds no room on the disk.
class BrokerWorld {
  public:
    /// `is_told`: prints all events to standard error.
    BrokerWorld(std::uint64_t seed, std::filesystem::path scratch, bool is_told = false);
    ~BrokerWorld();

    /// Plays `turns` turns. In each of them clients send requests, and the broker may be killed or run out of disk space. Then
    /// the world comes to rest, and checks that every answer of the broker was true.
    void play(int turns);

    [[nodiscard]] const std::vector<std::string>& wrong() const { return ledger_.wrong(); }
    /// The same for the same seed.
    [[nodiscard]] std::uint64_t digest() const { return clients_world_.digest; }

    struct Counts {
        std::uint64_t steps = 0;
        std::uint64_t replies = 0;
        int kills = 0;
        int power_failures = 0;
        /// Deaths among these that struck within a step.
        int within_steps = 0;
        /// Writes that found no room.
        int full_disks = 0;
        /// Events that scenes were meant to cause, with their counts.
        std::map<std::string, std::uint64_t> happened;
    };
    [[nodiscard]] Counts counts() const;

  private:
    /// Notes that the broker was started. An error of the start counts as a wrong answer.
    void begin_life(const std::expected<void, std::string>& begun);
    [[nodiscard]] MortalBroker::Death random_death();
    void crash_soon();
    /// One of the next writes finds no room.
    void fill_disk();
    /// Endangers a growth that the coming step carries out: the broker may die in the midst of it, or find no room.
    void endanger_growth();
    void restart();
    void choose_scenes();
    bool read_replies();
    void act();
    /// Lets clients look back at what they were told.
    void look_back();
    /// Goes on until every request is answered and no part has anything to do.
    void come_to_rest();
    /// Goes on until all are answered, or until the time is over.
    [[nodiscard]] bool are_all_answered_within(std::int64_t patience_ms);
    void audit();

    std::mt19937_64 random_;
    VirtualClock clock_;
    MortalBroker broker_;
    Ledger ledger_{clock_};
    ClientsWorld clients_world_;
    std::vector<std::unique_ptr<Scene>> scenes_;
    std::vector<std::unique_ptr<SimulatedClient>> clients_;
    /// One of the clients.
    SimulatedAdmin* admin_ = nullptr;
    std::unique_ptr<SimulatedTransactions> transactions_;
    /// Fate strikes only while this is true.
    bool is_playing_ = false;
    Counts counts_;
};

}  // namespace partita::test
