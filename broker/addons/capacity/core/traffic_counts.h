#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "broker/addons/capacity/core/capacity_meter.h"

namespace partita::capacity {

/// The result of a request.
enum class Outcome : std::uint8_t {
    successful,
    /// Refused, or answered without records, because capacity was used up. A request that only waited does not count.
    throttled,
    server_error,  ///< The broker failed.
    user_error,    ///< Anything else was wrong with the request.
};

/// Counts requests that send or read events, and their load, by the names and the arithmetic of a managed event service: a batch
/// of a hundred records is one request and a hundred messages. It counts for each topic (an entity in that service) and in total.
class TrafficCounts {
  public:
    /// Most topics with counts of their own. Requests for others count only in the total.
    static constexpr std::size_t kEntitiesMax = 1'000;

    struct Flow {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;

        friend bool operator==(const Flow&, const Flow&) = default;
    };
    struct Counts {
        /// The sum of the four below.
        std::uint64_t requests = 0;
        std::uint64_t successful_requests = 0;
        std::uint64_t throttled_requests = 0;
        std::uint64_t server_errors = 0;
        std::uint64_t user_errors = 0;
        Flow incoming;
        Flow outgoing;

        friend bool operator==(const Counts&, const Counts&) = default;
    };
    using Entities = std::map<std::string, Counts, std::less<>>;

    /// Notes that a request has ended for a topic. Call it once for each topic of a request; an empty name stands for an unknown
    /// topic.
    void note_request(std::string_view entity, Outcome outcome);
    /// Notes the load that a request has sent to a topic, or got from it.
    void note_incoming(std::string_view entity, Load load);
    void note_outgoing(std::string_view entity, Load load);

    [[nodiscard]] const Entities& entities() const { return entities_; }
    /// The sums over all topics.
    [[nodiscard]] const Counts& all() const { return all_; }
    /// The part of the sums that belongs to topics without counts of their own.
    [[nodiscard]] Counts others() const;

  private:
    /// Null if the name is empty, or if there is no room for one more.
    [[nodiscard]] Counts* of(std::string_view entity);

    Entities entities_;
    Counts all_;
};

}  // namespace partita::capacity
