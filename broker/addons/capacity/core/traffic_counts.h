#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "broker/addons/capacity/core/capacity_meter.h"

namespace partita::capacity {

/// How a request ended.
enum class Outcome : std::uint8_t {
    successful,
    throttled,     ///< Refused, or answered with nothing, because capacity was used up. One that only waited is not.
    server_error,  ///< The broker failed.
    user_error,    ///< Anything else that was wrong with it.
};

/// Counts requests that send or read events, and what they carry, by the names and the arithmetic of a managed event service: a
/// batch of a hundred records is one request and a hundred messages. Of each topic (there it is an entity), and of all of them.
class TrafficCounts {
  public:
    /// Topics that have counts of their own. What comes for others counts for all of them only.
    static constexpr std::size_t kEntitiesMax = 1'000;

    struct Flow {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;

        friend bool operator==(const Flow&, const Flow&) = default;
    };
    struct Counts {
        /// All of them: the sum of the four below.
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

    /// A request has ended so for a topic. Once for each topic of a request; an empty name stands for none that is known.
    void note_request(std::string_view entity, Outcome outcome);
    /// A request has sent so much to a topic, or got so much of it.
    void note_incoming(std::string_view entity, Load load);
    void note_outgoing(std::string_view entity, Load load);

    [[nodiscard]] const Entities& entities() const { return entities_; }
    /// The sums over all topics.
    [[nodiscard]] const Counts& all() const { return all_; }
    /// What topics without counts of their own have of the sums.
    [[nodiscard]] Counts others() const;

  private:
    /// Null when the name is empty, and when there is no room for one more.
    [[nodiscard]] Counts* of(std::string_view entity);

    Entities entities_;
    Counts all_;
};

}  // namespace partita::capacity
