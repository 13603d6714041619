#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/bench/replay/wire.h"

namespace partita::bench {

/// Returns when the group's coordinator answers: a broker that has to make its internal topic first needs a moment.
void wait_for_coordinator(Connection& connection, std::string_view group_id);

struct ProducerIdentity {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
};

/// Gets the identity of an idempotent producer. Waits for a broker that has to fetch a block of ids from its controller first.
[[nodiscard]] ProducerIdentity new_producer(Connection& connection);

/// The transactions of one producer, by the second protocol (KIP-890) when the broker has it switched on and otherwise by the
/// first, as clients choose. No other request may be under way on the connection during a call.
class Transactions {
  public:
    /// Waits for a broker that has to make its coordinators first.
    Transactions(Connection& connection, std::string id);

    /// The producer of the next transaction. With the second protocol it changes after each `commit`, and sequences begin at 0
    /// again.
    [[nodiscard]] const ProducerIdentity& producer() const { return producer_; }
    [[nodiscard]] const std::string& id() const { return id_; }
    /// The version that makes a Produce request take part in the transaction.
    [[nodiscard]] std::int16_t produce_version() const;
    [[nodiscard]] bool is_second_protocol() const { return second_protocol_; }
    /// First protocol: adds the partitions, and waits until the markers of the previous transaction are written. With the second
    /// protocol the records do this.
    void begin(Connection& connection, std::string_view topic, int partitions);
    void commit(Connection& connection);
    /// The two halves of a commit, for a caller that serves other connections in between.
    void send_commit(Connection& connection, std::int32_t correlation_id) const;
    void read_commit(Connection& connection, std::int32_t correlation_id);

  private:
    [[nodiscard]] std::int16_t end_version() const;

    std::string id_;
    ProducerIdentity producer_;
    bool second_protocol_ = false;
};

}  // namespace partita::bench
