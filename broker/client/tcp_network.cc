#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "broker/client/tcp_network.h"
#include "broker/client/waiting.h"
#include "protocol/file_descriptor.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

using Kind = TransportFailure::Kind;

std::string text_of(int error) { return std::generic_category().message(error); }

std::unexpected<TransportFailure> tcp_failed(Kind kind, std::string message) {
    return std::unexpected(TransportFailure{kind, std::move(message)});
}

/// The longest wait of one poll call: its argument is an int.
constexpr std::int64_t kPollMsMax = std::numeric_limits<int>::max();

class Socket {
  public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {}

    [[nodiscard]] int descriptor() const { return descriptor_.get(); }

    /// Waits until the socket is ready for `events`.
    [[nodiscard]] std::expected<void, TransportFailure> wait(short events, Instant deadline, Clock& clock,
                                                             int interruption = -1) const {
        return wait_for(descriptor_.get(), events, deadline, clock, interruption);
    }

  private:
    FileDescriptor descriptor_;
};

class TcpTransport final : public Transport {
  public:
    TcpTransport(Socket socket, Clock& clock, const int& interruption)
        : socket_(std::move(socket)), clock_(clock), interruption_(interruption) {}

    std::expected<void, TransportFailure> send(Bytes bytes, Instant deadline) override {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent >= 0) {
                bytes = bytes.subspan(static_cast<std::size_t>(sent));
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                PARTITA_TRY(socket_.wait(POLLOUT, deadline, clock_));
            } else if (errno != EINTR) {
                return tcp_failed(errno == EPIPE || errno == ECONNRESET ? Kind::closed : Kind::broken, text_of(errno));
            }
        }
        return {};
    }

    std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant deadline) override {
        while (true) {
            const ssize_t got = ::recv(socket_.descriptor(), room.data(), room.size(), MSG_DONTWAIT);
            if (got > 0) {
                return static_cast<std::size_t>(got);
            }
            if (got == 0) {
                return tcp_failed(Kind::closed, "the other side closed the connection");
            }
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                PARTITA_TRY(socket_.wait(POLLIN, deadline, clock_, interruption_));
            } else if (errno != EINTR) {
                return tcp_failed(errno == ECONNRESET ? Kind::closed : Kind::broken, text_of(errno));
            }
        }
    }

  private:
    Socket socket_;
    Clock& clock_;
    /// Belongs to the network, which may change it.
    const int& interruption_;
};

std::expected<Socket, TransportFailure> connect_to(const SocketAddress& address, Instant deadline, Clock& clock,
                                                   int interruption) {
    Socket socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.descriptor() < 0) {
        return tcp_failed(Kind::broken, text_of(errno));
    }
    if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) != 0) {
        if (errno != EINPROGRESS) {
            return tcp_failed(Kind::refused, text_of(errno));
        }
        PARTITA_TRY(socket.wait(POLLOUT, deadline, clock, interruption));
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
            error = errno;
        }
        if (error != 0) {
            return tcp_failed(Kind::refused, text_of(error));
        }
    }
    const int on = 1;
    // Otherwise a small request may wait for an acknowledgement. If setting the option fails, the connection is only slower.
    ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
}

}  // namespace

std::expected<std::unique_ptr<Transport>, TransportFailure> TcpNetwork::connect(const Endpoint& endpoint, Instant deadline) {
    pollfd interruption{interruption_, POLLIN, 0};
    if (::poll(&interruption, 1, 0) > 0) {
        return tcp_failed(Kind::interrupted, text_of(EINTR));
    }
    const Addresses addresses = resolver_.resolve(endpoint, deadline, clock_, interruption_);
    PARTITA_TRY(addresses);
    TransportFailure last{Kind::unknown_host, "no address"};
    for (const SocketAddress& address : *addresses) {
        auto socket = connect_to(address, deadline, clock_, interruption_);
        if (socket) {
            return std::make_unique<TcpTransport>(std::move(*socket), clock_, interruption_);
        }
        last = std::move(socket.error());
        if (last.kind == Kind::interrupted) {
            break;
        }
    }
    return std::unexpected(std::move(last));
}

void TcpNetwork::pause(std::int64_t duration_ms) {
    const Instant end = clock_.now().monotonic + duration_ms;
    for (std::int64_t left = duration_ms; left > 0; left = end - clock_.now().monotonic) {
        pollfd waited{interruption_, POLLIN, 0};
        if (::poll(&waited, 1, static_cast<int>(std::min(left, kPollMsMax))) > 0) {
            return;
        }
    }
}

}  // namespace partita::client
