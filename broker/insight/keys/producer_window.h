#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

namespace partita::insight {

/// One producer, identified by an id that no other can share. For an idempotent producer this is its producer id. Otherwise it is
/// its connection, because no client library lets two producers write over one connection.
struct ProducerInstance {
    ProducerId producer_id = kNoProducerId;
    ConnectionId connection;

    [[nodiscard]] static ProducerInstance of(ProducerId producer_id, ConnectionId connection) {
        return producer_id.value >= 0 ? ProducerInstance{producer_id, kNoConnection}
                                      : ProducerInstance{kNoProducerId, connection};
    }
    friend auto operator<=>(const ProducerInstance&, const ProducerInstance&) = default;
};

/// Other facts about a producer.
struct Writer {
    ClientIdentity client;
    /// The connection over which it wrote last; kNoConnection once that has closed.
    ConnectionId connection;
    /// The process behind its last connection whose process was known.
    std::optional<ProcessIdentity> process;
};

/// The producers that may still place keys by the count before an expansion. Pure; one caller at a time.
///
/// A producer is proven when it writes to a new partition. It is settled `kSettleMs` later, when it has had time to send what it
/// had placed before. The proof outlasts the connection. A producer whose connection closed without a proof may come back over
/// another connection, unrecognized, and still use the old count. So it stays unproven forever, unless its process has ended.
class ProducerWindow {
  public:
    /// Most producers that are told apart. With more, nothing is ever proven.
    static constexpr std::size_t kProducersMax = 1000;
    /// How long after its proof a producer may still send batches that it placed by the old count: Kafka's default
    /// delivery.timeout.ms.
    static constexpr std::int64_t kSettleMs = 120'000;

    /// The producer wrote to the topic before the expansion.
    void know(const ProducerInstance& producer, Writer writer);
    /// The producer writes. `proves`: it writes to a new partition.
    void on_produce(const ProducerInstance& producer, const Writer& writer, bool proves, TimestampMs now);
    void on_closed(ConnectionId connection, const std::optional<ProcessIdentity>& process);
    /// The process behind an open connection has become known.
    void on_process(ConnectionId connection, const ProcessIdentity& process);
    /// The process has ended: its producers whose connections closed without a proof will not come back.
    void on_ended(const ProcessIdentity& process);

    /// True if there was at least one producer, and every known one is proven and settled.
    [[nodiscard]] bool is_proven(TimestampMs now) const;

    struct Unproven {
        ProducerInstance producer;
        Writer writer;
    };
    /// Up to `most` of the producers that are not proven, ordered by instance.
    [[nodiscard]] std::vector<Unproven> unproven(std::size_t most) const;
    [[nodiscard]] std::size_t unproven_count() const;
    /// Processes of producers whose connections closed before a proof: each once, at most `most`.
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
    /// Forgets producers that are settled and closed if the table is full. False if that freed no place.
    [[nodiscard]] bool make_room(TimestampMs now);

    std::map<ProducerInstance, State> producers_;
    /// Some proven, settled and closed producers were forgotten to make room.
    bool has_forgotten_proven_ = false;
    bool has_overflowed_ = false;
};

}  // namespace partita::insight
