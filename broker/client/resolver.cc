#include "broker/client/resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "broker/client/waiting.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

std::unexpected<TransportFailure> lookup_failed(TransportFailure::Kind kind, std::string message) {
    return std::unexpected(TransportFailure{kind, std::move(message)});
}

Addresses ask_system(const std::string& host, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    // The resolver may be unavailable for a moment; only EAI_NONAME is a statement about the name.
    if (outcome != 0) {
        using enum TransportFailure::Kind;
        return lookup_failed(outcome == EAI_NONAME ? unknown_host : refused, ::gai_strerror(outcome));
    }
    std::vector<SocketAddress> addresses;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        if (each->ai_addrlen > sizeof(sockaddr_storage)) {
            continue;
        }
        std::memcpy(&addresses.emplace_back().bytes, each->ai_addr, each->ai_addrlen);
        addresses.back().size = each->ai_addrlen;
    }
    ::freeaddrinfo(found);
    if (addresses.empty()) {
        return lookup_failed(TransportFailure::Kind::unknown_host, "no address");
    }
    return addresses;
}

Addresses with_port(Addresses addresses, std::uint16_t port) {
    PARTITA_TRY(addresses);
    for (SocketAddress& address : *addresses) {
        // Both address families keep the port at the same place, but only through their own types.
        if (address.bytes.ss_family == AF_INET) {
            reinterpret_cast<sockaddr_in&>(address.bytes).sin_port = htons(port);
        } else if (address.bytes.ss_family == AF_INET6) {
            reinterpret_cast<sockaddr_in6&>(address.bytes).sin6_port = htons(port);
        }
    }
    return addresses;
}

}  // namespace

/// One lookup in progress. Shared with its thread.
struct Resolver::Pending {
    explicit Pending(std::string name) : host(std::move(name)), done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Pending() {
        if (done >= 0) {
            ::close(done);
        }
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    const std::string host;
    /// Becomes readable when the lookup ends.
    const int done;
    /// Set when `found` is.
    std::atomic<bool> is_done = false;
    Addresses found;
};

Resolver::Resolver() : Resolver([](const std::string& host) { return ask_system(host, 0); }) {}

std::expected<std::shared_ptr<Resolver::Pending>, TransportFailure> Resolver::look_up(const std::string& host) {
    const auto under_way = std::ranges::find(pending_, host, &Pending::host);
    if (under_way != pending_.end()) {
        return *under_way;
    }
    std::erase_if(pending_, [](const std::shared_ptr<Pending>& each) { return each->is_done.load(); });
    if (pending_.size() >= kLookupsMax) {
        return lookup_failed(TransportFailure::Kind::timed_out,
                             std::to_string(kLookupsMax) + " other names are being looked up, which takes too long");
    }
    auto pending = std::make_shared<Pending>(host);
    if (pending->done < 0) {
        return lookup_failed(TransportFailure::Kind::broken, std::generic_category().message(errno));
    }
    try {
        std::thread([pending, lookup = lookup_] {
            pending->found = lookup(pending->host);
            pending->is_done = true;
            const std::uint64_t one = 1;
            // The counter is 0, so the write cannot block.
            (void)::write(pending->done, &one, sizeof one);
        }).detach();
    } catch (const std::system_error& error) {
        return lookup_failed(TransportFailure::Kind::broken, error.code().message());
    }
    pending_.push_back(pending);
    return pending;
}

Addresses Resolver::resolve(const Endpoint& endpoint, Instant deadline, Clock& clock, int interruption) {
    if (auto written = ask_system(endpoint.host, AI_NUMERICHOST)) {
        return with_port(std::move(written), endpoint.port);
    }
    PARTITA_TRY_ASSIGN(const auto pending, look_up(endpoint.host));
    const auto waited = wait_for(pending->done, POLLIN, deadline, clock, interruption);
    if (!waited && waited.error().kind == TransportFailure::Kind::timed_out) {
        return lookup_failed(waited.error().kind, "the address of " + endpoint.host + " was not found in time");
    }
    PARTITA_TRY(waited);
    // The lookup writes `found` before it sets `is_done`. This load pairs with that store.
    PARTITA_ASSERT(pending->is_done.load(), "a lookup that has ended has an outcome");
    Addresses found = pending->found;
    std::erase(pending_, pending);
    return with_port(std::move(found), endpoint.port);
}

}  // namespace partita::client
