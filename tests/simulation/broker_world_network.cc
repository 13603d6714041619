#include "tests/simulation/broker_world_network.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/logs/turns.h"
#include "broker/runtime/clients/connections.h"
#include "protocol/assert.h"
#include "schedule/clock.h"

namespace partita::test {

SimulatedConnection::SimulatedConnection(SimulatedNetwork& network, runtime::ClientConnection client)
    : network_(network),
      client_(std::move(client)),
      id_(network.reactor().add_receiver(*this)),
      is_elsewhere_(network.random()() % 2 == 0) {}

void SimulatedConnection::send(std::span<const std::byte> bytes) {
    sent_.insert(sent_.end(), bytes.begin(), bytes.end());
    network_.reactor().post([self = weak_from_this()] {
        if (const auto connection = self.lock()) {
            connection->on_readable();
        }
    });
}

void SimulatedConnection::hang_up() {
    network_.reactor().post([self = weak_from_this()] {
        if (const auto connection = self.lock()) {
            connection->close();
        }
    });
}

void SimulatedConnection::close() {
    if (conversation_.is_over()) {
        return;
    }
    const auto self = shared_from_this();
    conversation_.end(network_.pool());
    if (client_.parked_fetch != fetch::kNoWaiter) {
        network_.turn().cancel_fetch(std::exchange(client_.parked_fetch, fetch::kNoWaiter));
    }
    network_.reactor().remove_receiver(id_);
    network_.front().closed(client_);
    network_.forget(self);
}

void SimulatedConnection::on_readable() {
    const auto self = shared_from_this();
    while (!sent_.empty() && conversation_.may_serve()) {
        const MutableBytes room = conversation_.room(network_.pool());
        // Bytes come in pieces of any size.
        const std::size_t most = network_.random()() % 4 == 0 ? 1 + network_.random()() % 40 : sent_.size();
        const std::size_t count = std::min({room.size(), sent_.size(), most});
        std::copy_n(sent_.begin(), count, room.begin());
        sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(count));
        conversation_.received(count);
        serve_requests();
    }
}

void SimulatedConnection::serve_requests() {
    while (conversation_.may_serve()) {
        const net::Speaker speaker{.client = client_, .conversation = conversation_, .receiver = id_};
        net::Served served = network_.front().serve_next(network_.turn(), speaker);
        if (served.outcome == net::Served::Outcome::nothing) {
            break;
        }
        if (served.outcome == net::Served::Outcome::refused) {
            return close();
        }
        settle(std::move(served));
    }
    if (!conversation_.is_over()) {
        conversation_.release_if_empty(network_.pool());
    }
}

void SimulatedConnection::settle(net::Served&& served) {
    switch (served.outcome) {
        case net::Served::Outcome::ended:
            conversation_.serve_no_more();
            served.reply.close = true;
            [[fallthrough]];
        case net::Served::Outcome::replied:
            fill_slot(served.slot, std::move(served.reply));
            break;
        case net::Served::Outcome::deferred:
            break;
        case net::Served::Outcome::parked:
            conversation_.park(served.slot);
            break;
        case net::Served::Outcome::nothing:
        case net::Served::Outcome::postponed:
        case net::Served::Outcome::silenced:
        case net::Served::Outcome::refused:
            PARTITA_ASSERT(false, "only a request that was taken is settled");
    }
    if (served.rest_ms > 0) {
        rest(served.rest_ms);
    }
}

void SimulatedConnection::rest(std::int64_t duration_ms) {
    network_.add_resting(shared_from_this(), conversation_.rest(network_.reactor().now().monotonic + duration_ms));
}

void SimulatedConnection::fill_slot(std::uint64_t slot, runtime::Reply&& reply) {
    const std::int32_t rest_ms = reply.rest_ms;
    const bool was_parked = conversation_.is_parked();
    if (!conversation_.fill(slot, std::move(reply))) {
        return;
    }
    if (rest_ms > 0) {
        rest(rest_ms);
    }
    if (was_parked && !conversation_.is_parked()) {
        client_.parked_fetch = fetch::kNoWaiter;
    }
    // The connection's end is checked again at the end of the turn.
    if (is_elsewhere_) {
        (void)send_out();
    }
    if (!send_requested_) {
        send_requested_ = true;
        network_.reactor().request_send(id_);
    }
}

void SimulatedConnection::send_ready() {
    const auto self = shared_from_this();
    send_requested_ = false;
    if (!send_out()) {
        return close();
    }
    resume();
}

bool SimulatedConnection::send_out() {
    std::array<Bytes, net::ReplyQueue::kGatheredMax> parts;
    while (!conversation_.is_over()) {
        const net::ReplyQueue::Next next = conversation_.next_to_send(parts);
        std::vector<std::byte> bytes;
        if (next.kind == net::ReplyQueue::Kind::nothing) {
            break;
        }
        if (next.kind == net::ReplyQueue::Kind::close) {
            return false;
        }
        if (next.kind == net::ReplyQueue::Kind::bytes) {
            for (const Bytes part : next.parts) {
                bytes.insert(bytes.end(), part.begin(), part.end());
            }
        } else {
            bytes.resize(next.file_bytes);
            const auto read = next.slice->file->read_at(next.file_position, bytes);
            // As over a socket, a file that is shorter than promised ends the connection.
            if (!read || *read == 0) {
                return false;
            }
            bytes.resize(*read);
        }
        conversation_.sent(bytes.size());
        if (!network_.is_cut()) {
            received_.insert(received_.end(), bytes.begin(), bytes.end());
        }
    }
    return true;
}

void SimulatedConnection::resume() {
    const auto self = shared_from_this();
    conversation_.advance(network_.reactor().now().monotonic);
    if (!conversation_.may_serve()) {
        return;
    }
    serve_requests();
    on_readable();
}

SimulatedNetwork::SimulatedNetwork(const runtime::Services& services, std::mt19937_64& random)
    : services_(services),
      front_(services, kafka::local_handlers(), {.listener_name = "PLAINTEXT"}, nullptr),
      turn_(services.turns.first()),
      random_(random) {
    reactor().add_participant(*this);
}

SimulatedNetwork::~SimulatedNetwork() {
    while (!connections_.empty()) {
        connections_.front()->close();
    }
}

std::shared_ptr<SimulatedConnection> SimulatedNetwork::connect() {
    static const auto listener = std::make_shared<const runtime::ListenerView>(
        runtime::ListenerView{.name = "PLAINTEXT", .advertised = {.host = "127.0.0.1", .port = 9092}});
    runtime::ClientConnection client;
    client.listener = listener;
    client.id = services_.connections.next_id();
    client.born = services_.clock.now().wall;
    // The client seems to be on another machine, so that the broker asks for no process behind it.
    client.host = "/192.0.2.1";
    client.port = next_port_++;
    connections_.push_back(std::make_shared<SimulatedConnection>(*this, std::move(client)));
    return connections_.back();
}

void SimulatedNetwork::end_turn(Now now) {
    pool_.end_turn();
    while (!resting_.empty() && resting_.begin()->first <= now.monotonic) {
        const auto connection = resting_.begin()->second.lock();
        resting_.erase(resting_.begin());
        if (connection && !connection->is_over()) {
            connection->resume();
        }
    }
}

std::optional<Instant> SimulatedNetwork::next_deadline() {
    return resting_.empty() ? std::nullopt : std::optional(resting_.begin()->first);
}

}  // namespace partita::test
