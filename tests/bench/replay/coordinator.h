#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/bench/replay/wire.h"

namespace partita::bench {

/// Returns when the group's coordinator can be asked: a broker that has to make its internal topic first needs a moment.
void wait_for_coordinator(Connection& connection, std::string_view group_id);

struct ProducerIdentity {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
};

/// An idempotent producer's. Waits for a broker that has to fetch a block of ids from its controller first.
[[nodiscard]] ProducerIdentity new_producer(Connection& connection);

/// The transactions of one producer, as clients of the first protocol have them, which every broker serves. Nothing else may be
/// under way on the connection when it is asked.
class Transactions {
  public:
    /// Waits for a broker that has to make its coordinators first.
    Transactions(Connection& connection, std::string id);

    [[nodiscard]] const ProducerIdentity& producer() const { return producer_; }
    [[nodiscard]] const std::string& id() const { return id_; }
    /// Waits until the markers of the one before are written.
    void begin(Connection& connection, std::string_view topic, int partitions);
    void commit(Connection& connection);

  private:
    std::string id_;
    ProducerIdentity producer_;
};

}  // namespace partita::bench
