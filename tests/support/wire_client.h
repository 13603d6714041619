#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/record_batch_builder.h"
#include "protocol/types.h"

namespace partita::test {

/// A request frame, size prefix included.
[[nodiscard]] std::vector<std::byte> request_frame(const ApiInfo& api, std::int16_t version, const void* request,
                                                   std::int32_t correlation_id, std::string_view client_id = "scenario");

template <class Request>
[[nodiscard]] const ApiInfo& api_of() {
    for (const ApiInfo& api : all_apis()) {
        if (api.request == &Request::schema) {
            return api;
        }
    }
    std::abort();
}

template <class Request>
[[nodiscard]] std::vector<std::byte> request_frame(std::int16_t version, const Request& request,
                                                   std::int32_t correlation_id = 1) {
    return request_frame(api_of<Request>(), version, &request, correlation_id);
}

/// A frame of these bytes.
[[nodiscard]] std::vector<std::byte> frame_of(std::span<const std::byte> content);
[[nodiscard]] std::vector<std::byte> bytes_of(std::string_view text);

/// One batch of records with the given values and keys k0, k1, ...
[[nodiscard]] std::vector<std::byte> make_batch(std::span<const std::string> values, Codec codec = Codec::none);

/// A connection that speaks the protocol byte by byte, so that it can also speak it wrongly. Calls block, and each wait has a
/// limit.
class WireClient {
  public:
    /// The limit of a wait for something that has to come. It ends waits that hang and does not measure speed: a shared machine
    /// may stop a process for seconds.
    static constexpr std::chrono::milliseconds kPatience{60'000};

    explicit WireClient(std::uint16_t port, const std::string& host = "127.0.0.1", int receive_buffer_bytes = 0);
    /// The caller's identity: the client.id of every request, and the address from which the connection comes ("127.0.0.2": on
    /// loopback all of 127/8 exists).
    struct Caller {
        std::string client_id;
        std::string address = "127.0.0.1";
        friend auto operator<=>(const Caller&, const Caller&) = default;
    };
    WireClient(std::uint16_t port, Caller caller);
    ~WireClient();
    WireClient(WireClient&& other) noexcept;
    WireClient& operator=(WireClient&&) = delete;
    WireClient(const WireClient&) = delete;

    [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    void close();
    /// Ends this side's stream; replies can still come.
    void finish_sending();

    /// False when the peer took no more (it closed, or `limit` passed).
    bool send(std::span<const std::byte> bytes, std::chrono::milliseconds limit = kPatience);

    /// Returns the next frame without its size; nothing when the connection ended or no frame came in time.
    [[nodiscard]] std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds limit = kPatience);
    /// True when the broker closes, whatever it sends before.
    [[nodiscard]] bool is_closed_within(std::chrono::milliseconds limit = kPatience);
    /// True when nothing comes and the connection stays.
    [[nodiscard]] bool is_silent_for(std::chrono::milliseconds duration);

    /// Sends a request and reads its reply. Null when the connection was closed or the reply does not decode exactly; `failure`
    /// has the reason. The reply is valid until the next call.
    template <class Response, class Request>
    [[nodiscard]] const Response* call(std::int16_t version, const Request& request,
                                       std::chrono::milliseconds limit = kPatience) {
        return static_cast<const Response*>(call(api_of<Request>(), version, &request, limit));
    }
    [[nodiscard]] const void* call(const ApiInfo& api, std::int16_t version, const void* request,
                                   std::chrono::milliseconds limit = kPatience);
    /// Sends without waiting; returns the correlation id.
    template <class Request>
    std::int32_t send_request(std::int16_t version, const Request& request) {
        const std::int32_t id = next_correlation_id_++;
        send(request_frame(api_of<Request>(), version, &request, id, client_id_));
        return id;
    }
    /// Reads the reply to an earlier request.
    template <class Response, class Request>
    [[nodiscard]] const Response* read_reply(std::int16_t version, std::int32_t correlation_id,
                                             std::chrono::milliseconds limit = kPatience) {
        return static_cast<const Response*>(read_reply(api_of<Request>(), version, correlation_id, limit));
    }
    [[nodiscard]] const void* read_reply(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id,
                                         std::chrono::milliseconds limit);

    [[nodiscard]] const std::string& failure() const { return failure_; }
    [[nodiscard]] bool was_closed() const { return was_closed_; }

  private:
    bool receive_exactly(std::span<std::byte> out, std::chrono::steady_clock::time_point deadline);

    int descriptor_ = -1;
    std::string client_id_ = "scenario";
    std::int32_t next_correlation_id_ = 1;
    std::string failure_;
    bool was_closed_ = false;
    std::vector<std::byte> reply_;
    Arena arena_;
};

/// Creates a topic, which can be used at once. False when the broker refused.
[[nodiscard]] bool create_topic(WireClient& client, std::string_view name, std::int32_t partitions,
                                std::span<const std::pair<std::string_view, std::string_view>> configs = {});
[[nodiscard]] std::optional<TopicId> topic_id_of(WireClient& client, std::string_view name);

/// Produces one batch with acks=1 and returns the error; `base_offset` receives the offset. Nothing when the connection failed.
[[nodiscard]] std::optional<ErrorCode> produce(WireClient& client, std::string_view topic, std::int32_t partition,
                                               std::span<const std::byte> batch, std::int64_t* base_offset = nullptr);

}  // namespace partita::test
