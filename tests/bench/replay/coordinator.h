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

/// The transactions of one producer, by the second protocol (KIP-890) where the broker has it switched on and by the first where
/// not, as clients choose. Nothing else may be under way on the connection when it is asked.
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
    /// By the first protocol: adds the partitions, and waits until the markers of the transaction before are written. By the
    /// second one the records do that.
    void begin(Connection& connection, std::string_view topic, int partitions);
    void commit(Connection& connection);
    /// The two halves of a commit, for who has other connections to look after in between.
    void send_commit(Connection& connection, std::int32_t correlation_id) const;
    void read_commit(Connection& connection, std::int32_t correlation_id);

  private:
    [[nodiscard]] std::int16_t end_version() const;

    std::string id_;
    ProducerIdentity producer_;
    bool second_protocol_ = false;
};

}  // namespace partita::bench
