#include "tests/support/wire_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "protocol/assert.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/request_header.h"
#include "tests/support/broker_process.h"

namespace partita::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSizePrefixBytes = 4;

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return left < 0 ? 0 : static_cast<int>(left);
}

}  // namespace

std::vector<std::byte> frame_of(std::span<const std::byte> content) {
    std::vector<std::byte> frame(kSizePrefixBytes);
    store_big_endian(frame.data(), static_cast<std::int32_t>(content.size()));
    frame.insert(frame.end(), content.begin(), content.end());
    return frame;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

std::vector<std::byte> request_frame(const ApiInfo& api, std::int16_t version, const void* request, std::int32_t correlation_id,
                                     std::string_view client_id) {
    ByteBuffer buffer;
    append_request_header(api, version, correlation_id, client_id, buffer);
    const auto encoded = encode(*api.request, request, version, buffer);
    PARTITA_ASSERT(encoded.has_value(), "a test sends only what can be encoded");
    return frame_of(buffer.bytes());
}

std::vector<std::byte> make_batch(std::span<const std::string> values, Codec codec) {
    BatchBuilder builder({.codec = codec});
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string key = "k" + std::to_string(i);
        builder.append(TimestampMs{now.count()}, std::as_bytes(std::span(key)), std::as_bytes(std::span(values[i])));
    }
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

WireClient::WireClient(std::uint16_t port, const std::string& host, int receive_buffer_bytes) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
        return;
    }
    descriptor_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer_bytes > 0) {
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    if (descriptor_ >= 0 && ::connect(descriptor_, found->ai_addr, found->ai_addrlen) != 0) {
        ::close(descriptor_);
        descriptor_ = -1;
    }
    ::freeaddrinfo(found);
    if (descriptor_ >= 0) {
        const int on = 1;
        ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
}

WireClient::WireClient(std::uint16_t port, Caller caller) : client_id_(std::move(caller.client_id)) {
    const auto address_of = [](const std::string& host, std::uint16_t at) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(at);
        ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
        return address;
    };
    const sockaddr_in from = address_of(caller.address, 0);
    const sockaddr_in to = address_of("127.0.0.1", port);
    const int on = 1;
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // The system chooses the port when it knows the peer: thousands of connections come from one address.
    ::setsockopt(descriptor_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (descriptor_ >= 0 && (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
                             ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)) {
        close();
    }
    if (descriptor_ >= 0) {
        ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
}

WireClient::~WireClient() { close(); }

WireClient::WireClient(WireClient&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      client_id_(std::move(other.client_id_)),
      next_correlation_id_(other.next_correlation_id_) {}

void WireClient::close() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
        descriptor_ = -1;
    }
}

void WireClient::finish_sending() { ::shutdown(descriptor_, SHUT_WR); }

bool WireClient::send(std::span<const std::byte> bytes, std::chrono::milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit * patience();
    while (!bytes.empty()) {
        const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
            continue;
        }
        if (errno != EAGAIN) {
            return false;
        }
        pollfd waited{descriptor_, POLLOUT, 0};
        if (::poll(&waited, 1, milliseconds_until(deadline)) <= 0) {
            return false;
        }
    }
    return true;
}

bool WireClient::receive_exactly(std::span<std::byte> out, Clock::time_point deadline) {
    while (!out.empty()) {
        const ssize_t count = ::recv(descriptor_, out.data(), out.size(), MSG_DONTWAIT);
        if (count > 0) {
            out = out.subspan(static_cast<std::size_t>(count));
            continue;
        }
        if (count == 0 || errno != EAGAIN) {
            was_closed_ = true;
            failure_ = "the broker closed the connection";
            return false;
        }
        pollfd waited{descriptor_, POLLIN, 0};
        if (::poll(&waited, 1, milliseconds_until(deadline)) <= 0) {
            failure_ = "nothing came in time";
            return false;
        }
    }
    return true;
}

std::optional<std::vector<std::byte>> WireClient::receive(std::chrono::milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit * patience();
    std::array<std::byte, kSizePrefixBytes> prefix{};
    if (!receive_exactly(prefix, deadline)) {
        return std::nullopt;
    }
    const auto size = load_big_endian<std::int32_t>(prefix.data());
    std::vector<std::byte> frame(static_cast<std::size_t>(size));
    if (!receive_exactly(frame, deadline)) {
        return std::nullopt;
    }
    return frame;
}

bool WireClient::is_closed_within(std::chrono::milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit * patience();
    std::array<std::byte, 4096> ignored{};
    while (true) {
        pollfd waited{descriptor_, POLLIN, 0};
        if (::poll(&waited, 1, milliseconds_until(deadline)) <= 0) {
            return false;
        }
        if (::recv(descriptor_, ignored.data(), ignored.size(), MSG_DONTWAIT) <= 0) {
            return true;
        }
    }
}

bool WireClient::is_silent_for(std::chrono::milliseconds duration) {
    pollfd waited{descriptor_, POLLIN, 0};
    return ::poll(&waited, 1, static_cast<int>(duration.count())) == 0;
}

const void* WireClient::call(const ApiInfo& api, std::int16_t version, const void* request, std::chrono::milliseconds limit) {
    const std::int32_t id = next_correlation_id_++;
    if (!send(request_frame(api, version, request, id, client_id_), limit)) {
        failure_ = "the broker takes no request";
        was_closed_ = true;
        return nullptr;
    }
    return read_reply(api, version, id, limit);
}

const void* WireClient::read_reply(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id,
                                   std::chrono::milliseconds limit) {
    failure_.clear();
    std::optional<std::vector<std::byte>> frame = receive(limit);
    if (!frame) {
        return nullptr;
    }
    reply_ = std::move(*frame);
    const auto header = parse_response_header(api, version, reply_);
    if (!header || header->correlation_id != correlation_id) {
        failure_ = "the reply belongs to another request";
        return nullptr;
    }
    arena_.reset();
    void* response = arena_.allocate_unlimited(api.response->size, api.response->alignment);
    const Bytes body = Bytes(reply_).subspan(header->size);
    const auto consumed = decode(*api.response, body, version, arena_, response);
    if (!consumed) {
        failure_ = "the reply does not decode: " + std::string(to_string(consumed.error().failure)) + " at " +
                   std::string(consumed.error().field);
        return nullptr;
    }
    if (*consumed != body.size()) {
        failure_ = std::to_string(body.size() - *consumed) + " bytes are left over behind the reply";
        return nullptr;
    }
    return response;
}

bool create_topic(WireClient& client, std::string_view name, std::int32_t partitions,
                  std::span<const std::pair<std::string_view, std::string_view>> configs) {
    std::vector<CreateTopicsRequest::CreatableTopicConfig> settings;
    for (const auto& [key, value] : configs) {
        settings.push_back({.name = key, .value = value});
    }
    std::array topics{CreateTopicsRequest::CreatableTopic{
        .name = name, .num_partitions = partitions, .replication_factor = 1, .configs = settings}};
    const CreateTopicsRequest request{.topics = topics};
    const auto* response = client.call<CreateTopicsResponse>(7, request);
    return response != nullptr && response->topics.count() == 1 && response->topics[0].error_code == ErrorCode::none;
}

std::optional<TopicId> topic_id_of(WireClient& client, std::string_view name) {
    std::array topics{MetadataRequest::Topic{.name = name}};
    const MetadataRequest request{.topics = topics, .allow_auto_topic_creation = false};
    const auto* response = client.call<MetadataResponse>(12, request);
    if (response == nullptr || response->topics.count() != 1 || response->topics[0].error_code != ErrorCode::none) {
        return std::nullopt;
    }
    return response->topics[0].topic_id;
}

std::optional<ErrorCode> produce(WireClient& client, std::string_view topic, std::int32_t partition,
                                 std::span<const std::byte> batch, std::int64_t* base_offset) {
    std::array partitions{ProduceRequest::PartitionProduceData{.index = partition, .records = Records(Bytes(batch))}};
    std::array topics{ProduceRequest::TopicProduceData{.name = topic, .partition_data = partitions}};
    const ProduceRequest request{.acks = 1, .timeout_ms = 5000, .topic_data = topics};
    const auto* response = client.call<ProduceResponse>(9, request);
    if (response == nullptr || response->responses.count() != 1 || response->responses[0].partition_responses.count() != 1) {
        return std::nullopt;
    }
    if (base_offset != nullptr) {
        *base_offset = response->responses[0].partition_responses[0].base_offset;
    }
    return response->responses[0].partition_responses[0].error_code;
}

}  // namespace partita::test
