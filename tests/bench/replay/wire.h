#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/big_endian.h"
#include "protocol/codec.h"
#include "protocol/types.h"

namespace partita::bench {

/// The correlation id of every request that is not pipelined.
inline constexpr std::int32_t kPlainCorrelationId = 7;

/// How long a client that sends as fast as it can looks for an answer before it sleeps. Waking it takes 20 us and more on a
/// virtual machine. Where a broker answers sooner, the figures would show the client's sleep. For a longer wait, 50 us spent in
/// vain do not matter.
inline constexpr std::int64_t kLookNs = 50'000;

/// Waits until one of `waits` is ready, for a client with several connections: looks for `kLookNs`, then sleeps.
void wait_for_answers(std::span<pollfd> waits);

/// A blocking connection to a broker on loopback. Any error ends the process: a measurement with an error in it is worthless.
class Connection {
  public:
    explicit Connection(int port);
    ~Connection();
    Connection(Connection&& other) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(Connection&&) = delete;

    [[nodiscard]] int descriptor() const { return socket_; }
    [[nodiscard]] bool has_buffered() const { return begin_ != end_; }

    void send(Bytes bytes);
    void receive(std::byte* to, std::size_t count);
    /// Bytes that are not in the buffer yet never reach this process.
    void discard(std::size_t count);
    template <class Number>
    Number receive_number() {
        std::byte bytes[sizeof(Number)];
        receive(bytes, sizeof bytes);
        return load_big_endian<Number>(bytes);
    }
    /// Bytes that one receive may take: small, so that records are left for `discard`.
    void set_fill_bytes(std::size_t count);
    /// From now on, the connection looks for an answer for `kLookNs` before it sleeps.
    void look_before_sleeping() { look_ns_ = kLookNs; }

    /// Returns the next answer without its size; checks that it belongs to the request with that id.
    std::vector<std::byte>& receive_answer(std::int32_t correlation_id);

    /// Sends a request of the protocol library and decodes the answer, which lives until the next call.
    template <class Response, class Request>
    const Response& call(std::int16_t version, const Request& request) {
        return *static_cast<const Response*>(call(Request::schema, version, &request));
    }
    /// Returns the next answer, which must belong to the request with that id.
    template <class Response, class Request>
    const Response& read(std::int16_t version, std::int32_t correlation_id = kPlainCorrelationId) {
        return *static_cast<const Response*>(read(Request::schema, version, correlation_id));
    }

  private:
    void fill();
    const void* call(const Schema& request_schema, std::int16_t version, const void* request);
    const void* read(const Schema& request_schema, std::int16_t version, std::int32_t correlation_id);

    int socket_;
    std::vector<std::byte> buffer_;
    std::size_t fill_bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::int64_t look_ns_ = 0;
    std::vector<std::byte> answer_;
    Arena arena_;
};

/// A frame of the protocol library, size prefix included.
[[nodiscard]] std::vector<std::byte> request_frame(const Schema& request_schema, std::int16_t version, const void* request,
                                                   std::int32_t correlation_id = kPlainCorrelationId);
template <class Request>
[[nodiscard]] std::vector<std::byte> request_frame(std::int16_t version, const Request& request,
                                                   std::int32_t correlation_id = kPlainCorrelationId) {
    return request_frame(Request::schema, version, &request, correlation_id);
}

/// Writes the correlation id into a finished frame.
void set_correlation_id(std::vector<std::byte>& frame, std::int32_t correlation_id);

/// Builds a frame field by field, for requests that must cost nothing.
class Frame {
  public:
    Frame(std::int16_t key, std::int16_t version);
    template <class Number>
    void put(Number value) {
        bytes_.resize(bytes_.size() + sizeof value);
        store_big_endian(bytes_.data() + bytes_.size() - sizeof value, value);
    }
    void put_string(std::string_view text);
    void put_raw(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::byte* data() { return bytes_.data(); }
    Bytes finish(std::int32_t correlation_id);

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace partita::bench
