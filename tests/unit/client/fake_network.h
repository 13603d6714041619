#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/network.h"
#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/request_header.h"

namespace partita::client {

/// A clock that moves only by pauses and waits.
class StillClock final : public Clock {
  public:
    Now now() override { return {{now_ms}, {1'700'000'000'000 + now_ms}}; }
    std::int64_t stopwatch_ns() override { return 0; }
    std::int64_t thread_processor_ns() override { return 0; }
    std::int64_t process_processor_ns() override { return 0; }

    std::int64_t now_ms = 1'000;
};

/// One request to a test's broker. The answer is bytes of the frame without its size, or nothing for an end of the connection.
struct Asked {
    const ApiInfo& api;
    std::int16_t version;
    std::int32_t correlation_id;
    const void* request;
    Endpoint at;
};

/// Brokers that answer as a test says, in pieces of a chosen size, under a clock that stands still. The network itself answers
/// ApiVersions, and a Metadata without topics.
class FakeNetwork final : public Network {
  public:
    /// The body of an answer goes to `out`; false ends the connection instead.
    using Answer = std::function<bool(const Asked&, ByteBuffer& out)>;

    explicit FakeNetwork(Answer answer) : answer_(std::move(answer)) {}

    std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint& endpoint, Instant) override {
        connects.push_back(endpoint);
        if (std::ranges::find(unreachable, endpoint) != unreachable.end()) {
            return std::unexpected(TransportFailure{TransportFailure::Kind::refused, "Connection refused"});
        }
        if (std::ranges::find(nameless, endpoint) != nameless.end()) {
            return std::unexpected(TransportFailure{TransportFailure::Kind::unknown_host, "Name or service not known"});
        }
        if (after_connect) {
            after_connect();
        }
        return std::make_unique<Pipe>(*this, endpoint);
    }
    Clock& clock() override { return still_clock; }
    void pause(std::int64_t duration_ms) override {
        pauses.push_back(duration_ms);
        still_clock.now_ms += duration_ms;
    }

    /// Encodes a reply, header included.
    template <class Response>
    static void reply(const Asked& asked, const Response& response, ByteBuffer& out) {
        append_response_header(asked.api, asked.version, asked.correlation_id, out);
        PARTITA_ASSERT(encode(response, asked.version, out).has_value(), "a test's broker answers what can be encoded");
    }

    StillClock still_clock;
    std::vector<Endpoint> connects;
    std::vector<Endpoint> unreachable;
    std::function<void()> after_connect;
    /// Endpoints whose names have no address.
    std::vector<Endpoint> nameless;
    std::vector<std::int64_t> pauses;
    std::vector<std::string> requests;
    /// The most bytes that one receive gives.
    std::size_t piece_bytes = 1'000'000;
    /// The size that the frame states, when it differs from the true one.
    std::optional<std::int32_t> stated_size;
    /// The connection ends in the middle of answers.
    bool ends_within_answers = false;
    /// An answer comes only to a receive that waits.
    bool answers_take_time = false;
    std::int16_t api_versions_max = 4;
    std::map<ApiKey, Versions> versions;
    std::vector<MetadataResponse::Broker> brokers{{.node_id = 1, .host = "a", .port = 1}};
    std::int32_t controller_id = 1;

  private:
    class Pipe final : public Transport {
      public:
        Pipe(FakeNetwork& network, Endpoint endpoint) : network_(network), endpoint_(std::move(endpoint)) {}

        std::expected<void, TransportFailure> send(Bytes bytes, Instant) override {
            const auto header = parse_request_header(bytes.subspan(4));
            if (!header) {
                return std::unexpected(TransportFailure{TransportFailure::Kind::closed, "closed"});
            }
            network_.requests.push_back(std::string(header->api->name) + "@" + endpoint_.host);
            ByteBuffer frame;
            frame.append_big_endian(std::int32_t{0});
            is_open_ = network_.answer(*header, bytes.subspan(4 + header->size), endpoint_, frame);
            frame.patch_big_endian(0, network_.stated_size.value_or(static_cast<std::int32_t>(frame.size() - 4)));
            // Answers to earlier requests may still wait.
            waiting_.insert(waiting_.end(), frame.data(), frame.data() + frame.size());
            if (network_.ends_within_answers && header->key() != ApiKey::api_versions) {
                waiting_.resize(waiting_.size() / 2);
            }
            return {};
        }
        std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant deadline) override {
            if (!is_open_) {
                return std::unexpected(TransportFailure{TransportFailure::Kind::closed, "closed"});
            }
            if (waiting_.empty() && network_.ends_within_answers) {
                return std::unexpected(TransportFailure{TransportFailure::Kind::closed, "closed"});
            }
            if (waiting_.empty() || (network_.answers_take_time && deadline.value <= network_.still_clock.now_ms)) {
                network_.still_clock.now_ms = std::max(network_.still_clock.now_ms, deadline.value);
                return std::unexpected(TransportFailure{TransportFailure::Kind::timed_out, "Connection timed out"});
            }
            const std::size_t count = std::min({room.size(), waiting_.size(), network_.piece_bytes});
            std::copy_n(waiting_.begin(), count, room.begin());
            waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
            return count;
        }

      private:
        FakeNetwork& network_;
        const Endpoint endpoint_;
        std::deque<std::byte> waiting_;
        bool is_open_ = true;
    };

    bool answer(const RequestHeader& header, Bytes body, const Endpoint& at, ByteBuffer& out) {
        const Asked versions_asked{*header.api, header.api_version, header.correlation_id, nullptr, at};
        if (header.key() == ApiKey::api_versions) {
            return answer_versions(versions_asked, out);
        }
        Arena arena;
        void* request = arena.allocate_unlimited(header.api->request->size, header.api->request->alignment);
        PARTITA_ASSERT(decode(*header.api->request, body, header.api_version, arena, request).has_value(), "requests decode");
        const Asked asked{*header.api, header.api_version, header.correlation_id, request, at};
        if (header.key() == ApiKey::metadata) {
            const auto& metadata = *static_cast<const MetadataRequest*>(request);
            if (metadata.topics.empty() && !metadata.topics.is_null()) {
                MetadataResponse response{.brokers = brokers, .cluster_id = "cluster", .controller_id = controller_id};
                reply(asked, response, out);
                return true;
            }
        }
        return answer_(asked, out);
    }
    bool answer_versions(const Asked& asked, ByteBuffer& out) {
        ApiVersionsResponse response;
        std::vector<ApiVersionsResponse::ApiVersion> keys;
        for (const ApiInfo& api : all_apis()) {
            const auto limited = versions.find(api.key);
            const Versions served = limited == versions.end() ? api.versions : limited->second;
            const auto last = api.key == ApiKey::api_versions ? api_versions_max : served.last;
            if (!served.empty()) {
                keys.push_back({static_cast<std::int16_t>(api.key), served.first, last});
            }
        }
        response.api_keys = keys;
        Asked in = asked;
        if (asked.version > api_versions_max) {
            response.error_code = ErrorCode::unsupported_version;
            in.version = 0;
        }
        reply(in, response, out);
        return true;
    }

    Answer answer_;
};

}  // namespace partita::client
