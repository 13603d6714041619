#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/handlers/services.h"
#include "tests/simulation/broker_world_clients.h"

namespace partita::test {

/// Stands in for the transactions of clients. It writes records of transactions into the log of one partition and ends them, as a
/// coordinator does. Each call is an event of the reactor.
class SimulatedTransactions {
  public:
    SimulatedTransactions(ClientsWorld& world, std::string topic) : world_(world), topic_(std::move(topic)) {}

    void act(const runtime::Services& services);
    /// The next `act` ends an open transaction. A power failure may have taken some of it. A start may also have aborted it,
    /// because no coordinator knows it.
    void broker_died() {
        if (!open_) {
            return;
        }
        must_end_ = true;
        for (const std::string& value : open_->values) {
            world_.ledger.note_ended(value);
        }
    }

  private:
    struct Open {
        std::int32_t partition = 0;
        std::int64_t producer_id = 0;
        std::int32_t next_sequence = 0;
        std::vector<std::string> values;
    };

    void append(const runtime::Services& services, std::int32_t partition, std::vector<std::byte> batch);

    ClientsWorld& world_;
    const std::string topic_;
    std::optional<Open> open_;
    std::int64_t last_producer_id_ = 1'000'000;
    bool must_end_ = false;
};

}  // namespace partita::test
