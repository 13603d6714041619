#include "tests/bench/replay/wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "protocol/byte_buffer.h"
#include "protocol/request_header.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/settings.h"

namespace partita::bench {
namespace {

constexpr std::size_t kBufferBytes = 65536;
constexpr std::size_t kCorrelationIdPosition = 8;
/// No mode asks for an answer larger than this.
constexpr std::int32_t kMaxAnswerBytes = 64 << 20;

const ApiInfo& api_of(const Schema& request_schema) {
    for (const ApiInfo& api : all_apis()) {
        if (api.request == &request_schema) {
            return api;
        }
    }
    give_up("no such API");
}

}  // namespace

void wait_for_answers(std::span<pollfd> waits) {
    int ready = 0;
    const std::int64_t began_ns = now_ns();
    do {
        ready = ::poll(waits.data(), waits.size(), 0);
    } while (ready == 0 && now_ns() - began_ns < kLookNs);
    if (ready == 0) {
        ready = ::poll(waits.data(), waits.size(), -1);
    }
    if (ready < 0) {
        give_up("poll failed");
    }
}

Connection::Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)), buffer_(kBufferBytes), fill_bytes_(kBufferBytes) {
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        give_up("cannot connect");
    }
}

Connection::~Connection() {
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      buffer_(std::move(other.buffer_)),
      fill_bytes_(other.fill_bytes_),
      begin_(other.begin_),
      end_(other.end_),
      look_ns_(other.look_ns_) {}

void Connection::send(Bytes bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            give_up("the broker closed the connection");
        }
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
}

void Connection::receive(std::byte* to, std::size_t count) {
    while (count > 0) {
        if (begin_ == end_) {
            fill();
        }
        const std::size_t part = std::min(count, end_ - begin_);
        std::memcpy(to, buffer_.data() + begin_, part);
        begin_ += part;
        to += part;
        count -= part;
    }
}

void Connection::discard(std::size_t count) {
    const std::size_t buffered = std::min(count, end_ - begin_);
    begin_ += buffered;
    count -= buffered;
    while (count > 0) {
        const ssize_t dropped = ::recv(socket_, nullptr, count, MSG_TRUNC);
        if (dropped <= 0) {
            give_up("the broker closed the connection");
        }
        count -= static_cast<std::size_t>(dropped);
    }
}

void Connection::set_fill_bytes(std::size_t count) { fill_bytes_ = std::min(count, buffer_.size()); }

void Connection::fill() {
    ssize_t count = -1;
    if (look_ns_ > 0) {
        const std::int64_t began_ns = now_ns();
        do {
            count = ::recv(socket_, buffer_.data(), fill_bytes_, MSG_DONTWAIT);
        } while (count < 0 && errno == EAGAIN && now_ns() - began_ns < look_ns_);
    }
    if (count < 0) {
        count = ::recv(socket_, buffer_.data(), fill_bytes_, 0);
    }
    if (count <= 0) {
        give_up("the broker closed the connection");
    }
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
}

std::vector<std::byte>& Connection::receive_answer(std::int32_t correlation_id) {
    const auto size = receive_number<std::int32_t>();
    if (size < 4 || size > kMaxAnswerBytes) {
        give_up("an answer of an impossible size");
    }
    if (receive_number<std::int32_t>() != correlation_id) {
        give_up("an answer belongs to another request");
    }
    answer_.resize(static_cast<std::size_t>(size) - 4);
    receive(answer_.data(), answer_.size());
    return answer_;
}

const void* Connection::call(const Schema& request_schema, std::int16_t version, const void* request) {
    send(request_frame(request_schema, version, request));
    return read(request_schema, version, kPlainCorrelationId);
}

const void* Connection::read(const Schema& request_schema, std::int16_t version, std::int32_t correlation_id) {
    const ApiInfo& api = api_of(request_schema);
    const auto size = receive_number<std::int32_t>();
    if (size < 4 || size > kMaxAnswerBytes) {
        give_up("an answer of an impossible size");
    }
    answer_.resize(static_cast<std::size_t>(size));
    receive(answer_.data(), answer_.size());
    const auto header = parse_response_header(api, version, answer_);
    if (!header || header->correlation_id != correlation_id) {
        give_up("an answer with a wrong head");
    }
    arena_.reset();
    void* response = arena_.allocate_unlimited(api.response->size, api.response->alignment);
    if (!decode(*api.response, Bytes(answer_).subspan(header->size), version, arena_, response)) {
        give_up("an answer cannot be decoded");
    }
    return response;
}

std::vector<std::byte> request_frame(const Schema& request_schema, std::int16_t version, const void* request,
                                     std::int32_t correlation_id) {
    ByteBuffer content;
    append_request_header(api_of(request_schema), version, correlation_id, "replay", content);
    if (!encode(request_schema, request, version, content)) {
        give_up("a request cannot be encoded");
    }
    std::vector<std::byte> frame(4);
    store_big_endian(frame.data(), static_cast<std::int32_t>(content.bytes().size()));
    frame.insert(frame.end(), content.bytes().begin(), content.bytes().end());
    return frame;
}

void set_correlation_id(std::vector<std::byte>& frame, std::int32_t correlation_id) {
    store_big_endian(frame.data() + kCorrelationIdPosition, correlation_id);
}

Frame::Frame(std::int16_t key, std::int16_t version) {
    put(std::int32_t{0});
    put(key);
    put(version);
    put(std::int32_t{0});
    put_string("replay");
}

void Frame::put_string(std::string_view text) {
    put(static_cast<std::int16_t>(text.size()));
    put_raw(std::as_bytes(std::span(text)));
}

Bytes Frame::finish(std::int32_t correlation_id) {
    store_big_endian(bytes_.data(), static_cast<std::int32_t>(bytes_.size() - 4));
    store_big_endian(bytes_.data() + kCorrelationIdPosition, correlation_id);
    return bytes_;
}

}  // namespace partita::bench
