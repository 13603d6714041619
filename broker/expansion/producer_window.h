#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/identity.h"
#include "protocol/types.h"

namespace partita::expansion {

/// One producer, by what no other can share: its id when it is idempotent, and otherwise its connection, since no client library lets two
/// producers write over one.
struct ProducerInstance {
    ProducerId producer_id = kNoProducerId;
    ConnectionId connection;

    [[nodiscard]] static ProducerInstance of(ProducerId producer_id, ConnectionId connection) {
        return producer_id.value >= 0 ? ProducerInstance{producer_id, kNoConnection} : ProducerInstance{kNoProducerId, connection};
    }
    friend auto operator<=>(const ProducerInstance&, const ProducerInstance&) = default;
};

/// What is known of one producer besides.
struct Writer {
    ClientIdentity client;
    /// Over which it wrote last; kNoConnection since that closed.
    ConnectionId connection;
    /// Behind the last connection of which it was known.
    std::optional<ProcessIdentity> process;
};

/// Which producers may still place keys by the count before an expansion. Pure; one caller at a time.
///
/// A producer is proven by writing to a new partition, and settled once it had time to get rid of what it placed before. What a closed
/// connection's producer proved stays proven. One that closed without may come back with what it knew, over another connection that cannot be
/// told to be the same: it counts as unproven for ever, unless its process has ended.
class ProducerWindow {
  public:
    /// Producers that are told apart. With more there is no proof.
    static constexpr std::size_t kProducersMax = 1000;
    /// How long after its proof a producer may still send batches that it placed by the old count: Kafka's default delivery.timeout.ms.
    static constexpr std::int64_t kSettleMs = 120'000;

    /// It wrote to the topic before the expansion.
    void know(const ProducerInstance& producer, Writer writer);
    /// It writes; `proves` when to a new partition.
    void on_produce(const ProducerInstance& producer, const Writer& writer, bool proves, TimestampMs now);
    void on_closed(ConnectionId connection, const std::optional<ProcessIdentity>& process);
    /// The process behind an open connection is known.
    void on_process(ConnectionId connection, const ProcessIdentity& process);
    /// Whoever left with the process does not come back.
    void on_ended(const ProcessIdentity& process);

    /// Each producer that is known is proven and settled, and there was one.
    [[nodiscard]] bool is_proven(TimestampMs now) const;

    struct Unproven {
        ProducerInstance producer;
        Writer writer;
    };
    /// Up to `most` of those that are not proven, in order of their instances.
    [[nodiscard]] std::vector<Unproven> unproven(std::size_t most) const;
    [[nodiscard]] std::size_t unproven_count() const;
    /// Processes of producers whose connections closed before a proof, each once, at most `most`.
    [[nodiscard]] std::vector<ProcessIdentity> left_processes(std::size_t most) const;
    [[nodiscard]] bool has_overflowed() const { return has_overflowed_; }
    void clear() { *this = {}; }

  private:
    struct State {
        Writer writer;
        TimestampMs proven = kNoTimestamp;
    };
    [[nodiscard]] static bool is_settled(const State& state, TimestampMs now) {
        return state.proven != kNoTimestamp && now.value - state.proven.value >= kSettleMs;
    }
    /// False when there is none.
    [[nodiscard]] bool make_room(TimestampMs now);

    std::map<ProducerInstance, State> producers_;
    /// Proven, settled and closed ones made room.
    bool has_forgotten_proven_ = false;
    bool has_overflowed_ = false;
};

}  // namespace partita::expansion
