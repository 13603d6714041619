#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_mortal.h"
#include "tests/support/broker_process.h"

namespace partita::test {

/// A simulated broker (MortalBroker) with one client, which asks and waits for the answer, for tests of one story. The test fails
/// when a life of the broker does not begin, or when an answer breaks the order of its connection.
class CalledBroker {
  public:
    /// Begins the broker's first life. `overrides`: see `MortalBroker::overrides`.
    CalledBroker(std::uint64_t seed, std::vector<std::string> overrides) : random_(seed) {
        broker_.overrides = std::move(overrides);
        began(broker_.start());
    }

    /// Asks, and lets the broker take its steps until it has answered or died.
    template <class Response, class Request>
    void ask(std::int16_t version, const Request& request, std::function<void(const Response&)> on_reply) {
        world_.network = broker_.network();
        caller_.call<Response>(version, request, std::move(on_reply));
        broker_.wake();
        while (caller_.waits() && !broker_.is_dead()) {
            if (!broker_.step() && !caller_.read_replies()) {
                broker_.let_time_pass(1'000);
            }
        }
        EXPECT_TRUE(ledger_.wrong().empty()) << ledger_.wrong().front();
    }
    /// Lets the broker work by itself for that long.
    void rest(std::int64_t duration_ms) {
        const Instant end = clock_.now().monotonic + duration_ms;
        while (clock_.now().monotonic < end) {
            if (!broker_.step() && !caller_.read_replies()) {
                broker_.let_time_pass(end - clock_.now().monotonic);
            }
        }
    }
    /// Begins the next life of a broker that has died.
    void restart() {
        world_.network = nullptr;
        caller_.lose_connection();
        began(broker_.restart(1'000));
    }

    [[nodiscard]] MortalBroker& broker() { return broker_; }
    [[nodiscard]] Now now() { return clock_.now(); }

  private:
    class Caller final : public SimulatedClient {
      public:
        using SimulatedClient::SimulatedClient;
        void act() override {}
        template <class Response, class Request>
        void call(std::int16_t version, const Request& request, std::function<void(const Response&)> on_reply) {
            SimulatedClient::ask<Response>(version, request, std::move(on_reply));
        }
    };

    static void began(const std::expected<void, std::string>& life) { ASSERT_TRUE(life) << life.error(); }

    const TemporaryDirectory scratch_;
    std::mt19937_64 random_;
    VirtualClock clock_;
    MortalBroker broker_{random_, clock_, scratch_.path(), 1};
    Ledger ledger_{clock_};
    ClientsWorld world_{.ledger = ledger_, .random = random_, .clock = clock_};
    Caller caller_{world_, "caller"};
};

}  // namespace partita::test
