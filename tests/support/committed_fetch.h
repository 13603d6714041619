#pragma once

#include <array>
#include <cstdint>

#include "protocol/messages/01_fetch.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// Fetches committed records from partition 0 of `t`, in two halves, so that a test can act while a fetch waits.
class CommittedFetch {
  public:
    explicit CommittedFetch(std::uint16_t port) : wire_(port) {}

    struct Wanted {
        std::int64_t from = 0;
        std::int32_t max_wait_ms = 0;
        std::int32_t partition_max_bytes = 1 << 20;
    };
    /// False when the request could not be sent. `id` is its correlation id, which the answer repeats.
    [[nodiscard]] bool ask(const Wanted& wanted, std::int32_t id) {
        std::array partitions{FetchRequest::FetchPartition{
            .partition = 0, .fetch_offset = wanted.from, .partition_max_bytes = wanted.partition_max_bytes}};
        std::array topics{FetchRequest::FetchTopic{.topic = "t", .partitions = partitions}};
        return wire_.send(request_frame(
            kVersion, FetchRequest{.max_wait_ms = wanted.max_wait_ms, .min_bytes = 1, .isolation_level = 1, .topics = topics},
            id));
    }
    /// Null when no answer came; `wire` has the reason. Valid until the next call.
    [[nodiscard]] const FetchResponse::PartitionData* answer(std::int32_t id) {
        const auto* response =
            static_cast<const FetchResponse*>(wire_.read_reply(*find_api(ApiKey::fetch), kVersion, id, WireClient::kPatience));
        return response == nullptr ? nullptr : &response->responses[0].partitions[0];
    }
    [[nodiscard]] WireClient& wire() { return wire_; }

  private:
    static constexpr std::int16_t kVersion = 11;

    WireClient wire_;
};

}  // namespace partita::test
