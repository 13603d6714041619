#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "broker/handlers/services.h"
#include "broker/kafka/kafka_front.h"
#include "broker/logs/turn.h"
#include "broker/net/buffers.h"
#include "broker/net/conversation.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"

namespace partita::test {

class SimulatedNetwork;

/// A connection without a socket: the broker's own Conversation, and two buffers of bytes. The simulation calls the client's side
/// between two steps, which reaches the broker as an event of its reactor. Some connections deliver the broker's replies at once,
/// in the middle of a step, as when another reactor's thread has the connection.
class SimulatedConnection final : public runtime::ReplyReceiver, public std::enable_shared_from_this<SimulatedConnection> {
  public:
    SimulatedConnection(SimulatedNetwork& network, runtime::ClientConnection client);

    // The client's side.
    void send(std::span<const std::byte> bytes);
    void hang_up();
    /// Bytes that arrived and were not taken yet.
    [[nodiscard]] std::vector<std::byte>& received() { return received_; }
    [[nodiscard]] bool is_over() const { return conversation_.is_over(); }

    // The broker's side.
    void fill_slot(std::uint64_t slot, runtime::Reply&& reply) override;
    void send_ready() override;
    void read_again() override { on_readable(); }
    void resume();
    void close();

  private:
    void on_readable();
    void serve_requests();
    void settle(net::Served&& served);
    void rest(std::int64_t duration_ms);
    /// Sends everything that may leave. False: the connection is to be closed.
    [[nodiscard]] bool send_out();

    SimulatedNetwork& network_;
    runtime::ClientConnection client_;
    net::Conversation conversation_;
    std::uint64_t id_ = 0;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    bool send_requested_ = false;
    const bool is_elsewhere_;
};

/// The connections of a broker with one reactor. It takes part in turns after the Turn, as the sockets' side does.
class SimulatedNetwork final : public runtime::TurnParticipant {
  public:
    SimulatedNetwork(const runtime::Services& services, std::mt19937_64& random);
    ~SimulatedNetwork() override;

    [[nodiscard]] std::shared_ptr<SimulatedConnection> connect();
    /// The broker has died but does not know it yet: nothing that it sends reaches a client.
    void cut() { is_cut_ = true; }

    void end_turn(Now now) override;
    [[nodiscard]] std::optional<Instant> next_deadline() override;

    // For connections.
    [[nodiscard]] const runtime::Services& services() { return services_; }
    [[nodiscard]] net::Front& front() { return front_; }
    [[nodiscard]] runtime::Reactor& reactor() { return turn_.reactor(); }
    [[nodiscard]] logs::Turn& turn() { return turn_; }
    [[nodiscard]] net::BufferPool& pool() { return pool_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }
    [[nodiscard]] bool is_cut() const { return is_cut_; }
    void add_resting(const std::shared_ptr<SimulatedConnection>& connection, Instant until) {
        resting_.emplace(until, connection);
    }
    void forget(const std::shared_ptr<SimulatedConnection>& connection) { connections_.remove(connection); }

  private:
    const runtime::Services& services_;
    kafka::KafkaFront front_;
    logs::Turn& turn_;
    std::mt19937_64& random_;
    net::RequestMemory memory_{0};
    net::BufferPool pool_{memory_};
    std::list<std::shared_ptr<SimulatedConnection>> connections_;
    std::multimap<Instant, std::weak_ptr<SimulatedConnection>> resting_;
    std::uint16_t next_port_ = 1;
    bool is_cut_ = false;
};

}  // namespace partita::test
