#include "broker/net/tls_handshakes.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "broker/access/session.h"
#include "broker/net/net_reactor.h"
#include "broker/net/tls_transport.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/loop/counters.h"

namespace partita::net {
namespace {

/// Enough bytes to tell whether the client speaks TLS.
constexpr std::size_t kFirstBytes = 8;

/// The alert for a client that does not speak TLS, as from Kafka; some clients understand it. Fatal, unexpected message.
constexpr std::array<unsigned char, 7> kAlert{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a};

}  // namespace

struct TlsHandshakes::Handshake final : PendingLogins::Waiter {
    Handshake(TlsHandshakes& owner, Newcomer newcomer) : owner(owner), newcomer(std::move(newcomer)) {}

    void turn_away(std::string_view reason) override { owner.end(*in_list, reason); }

    TlsHandshakes& owner;
    Newcomer newcomer;
    tls::ConnectionPointer connection;
    PendingLogins::Place place;
    /// True if the first bytes were seen and may be a handshake. OpenSSL receives nothing before.
    bool is_tls = false;
    bool is_over = false;
    Waiting::iterator in_list;

    struct FirstBytes {
        /// No byte came yet, and more may come.
        bool are_awaited = false;
        /// The reason why they are no handshake; null if they may be one.
        std::optional<std::string> objection;
    };

    FirstBytes look_at_first_bytes() {
        std::array<char, kFirstBytes> bytes;
        const ssize_t count = ::recv(newcomer.socket.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return {.are_awaited = true};
        }
        // Let OpenSSL find out that the client is gone.
        is_tls = true;
        if (count <= 0) {
            return {};
        }
        return {.objection = tls::why_no_handshake({bytes.data(), static_cast<std::size_t>(count)})};
    }
};

TlsHandshakes::~TlsHandshakes() {
    // Handlers that wait for the sockets may outlive this object. They see that the handshakes are over.
    for (const std::shared_ptr<Handshake>& each : waiting_) {
        each->is_over = true;
    }
}

void TlsHandshakes::begin(Newcomer newcomer, Instant now) {
    boost::system::error_code ignored;
    newcomer.socket.non_blocking(true, ignored);
    auto handshake = std::make_shared<Handshake>(*this, std::move(newcomer));
    handshake->place = owner_.pending_logins().enter(*handshake, now);
    handshake->in_list = waiting_.insert(waiting_.end(), handshake);
    handshake->connection = handshake->newcomer.tls->connect(handshake->newcomer.socket.native_handle());
    if (handshake->connection == nullptr) {
        end(handshake, "no memory for TLS");
        return;
    }
    go_on(handshake);
}

void TlsHandshakes::go_on(const std::shared_ptr<Handshake>& handshake) {
    if (!handshake->is_tls) {
        const Handshake::FirstBytes first = handshake->look_at_first_bytes();
        if (first.are_awaited) {
            // Do not call OpenSSL yet: it would consume bytes that arrive right now. A later look at the first bytes would then
            // miss the beginning.
            wait(handshake, Socket::wait_read);
            return;
        }
        if (first.objection) {
            // The connection ends even if the alert does not arrive.
            (void)::send(handshake->newcomer.socket.native_handle(), kAlert.data(), kAlert.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            end(handshake, *first.objection);
            return;
        }
    }
    const tls::HandshakeStep step = tls::shake_hands(*handshake->connection);
    switch (step.status) {
        case tls::HandshakeStep::Status::complete:
            complete(handshake);
            break;
        case tls::HandshakeStep::Status::wants_to_receive:
            wait(handshake, Socket::wait_read);
            break;
        case tls::HandshakeStep::Status::wants_to_send:
            wait(handshake, Socket::wait_write);
            break;
        case tls::HandshakeStep::Status::gone:
            end(handshake, "");
            break;
        case tls::HandshakeStep::Status::failed:
            end(handshake, "TLS handshake failed: " + step.reason);
            break;
    }
}

void TlsHandshakes::wait(const std::shared_ptr<Handshake>& handshake, Socket::wait_type what) {
    handshake->newcomer.socket.async_wait(what, [this, handshake](const boost::system::error_code& error) {
        if (handshake->is_over) {
            return;
        }
        owner_.reactor().refresh_now();
        error ? end(handshake, "") : go_on(handshake);
    });
}

void TlsHandshakes::complete(const std::shared_ptr<Handshake>& handshake) {
    Newcomer& newcomer = handshake->newcomer;
    // If the protocol identifies the client, by SASL for example, the certificate need not match any rule, as in Kafka.
    if (newcomer.state != nullptr && !newcomer.state->knows_client()) {
        if (const auto checked = tls::ServerContext::check_certificate(*handshake->connection); !checked) {
            end(handshake, checked.error());
            return;
        }
    } else {
        auto client = newcomer.tls->client_of(*handshake->connection);
        if (!client) {
            end(handshake, client.error());
            return;
        }
        const Surroundings& surroundings = owner_.surroundings();
        surroundings.counters.successful_authentications.fetch_add(1, std::memory_order_relaxed);
        if (*client) {
            newcomer.client.session.principal = surroundings.requests.counted(access::Principal("User", std::move(**client)));
        }
    }
    handshake->is_over = true;
    waiting_.erase(handshake->in_list);
    owner_.pending_logins().leave(handshake->place);
    owner_.adopt({.socket = std::move(newcomer.socket),
                  .transport = TlsTransport(std::move(handshake->connection)),
                  .client = std::move(newcomer.client),
                  .front = newcomer.front,
                  .state = std::move(newcomer.state),
                  .came = handshake->place.came,
                  .buffer = nullptr});
}

void TlsHandshakes::end(const std::shared_ptr<Handshake>& handshake, std::string_view reason) {
    // The argument may refer to the list's own pointer, so keep a copy.
    const std::shared_ptr<Handshake> ended = handshake;
    ended->is_over = true;
    waiting_.erase(ended->in_list);
    owner_.pending_logins().leave(ended->place);
    boost::system::error_code ignored;
    ended->newcomer.socket.close(ignored);
    owner_.end_newcomer(ended->newcomer.client, reason);
}

void TlsHandshakes::end_all() {
    while (!waiting_.empty()) {
        end(waiting_.front(), "");
    }
}

void TlsHandshakes::end_node(BrokerId node) {
    for (auto next = waiting_.begin(); next != waiting_.end();) {
        const std::shared_ptr<Handshake> handshake = *next++;
        if (handshake->newcomer.client.listener->node == node) {
            end(handshake, "");
        }
    }
}

}  // namespace partita::net
