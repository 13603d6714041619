#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "broker/capacity/capacity_meter.h"

namespace partita::capacity {

/// Counts what passes, by the names and the arithmetic of a managed event service: a batch of a hundred records is one request
/// and a hundred messages. Of each topic (there it is an entity), and of all of them.
class TrafficCounts {
  public:
    /// Topics that have counts of their own. What comes for others counts for all of them only.
    static constexpr std::size_t kEntitiesMax = 1'000;

    struct Flow {
        std::uint64_t requests = 0;
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;

        friend bool operator==(const Flow&, const Flow&) = default;
    };
    struct Counts {
        Flow incoming;
        Flow outgoing;
        /// Requests that were refused, or answered with nothing, because capacity was used up.
        std::uint64_t throttled_requests = 0;

        friend bool operator==(const Counts&, const Counts&) = default;
    };
    using Entities = std::map<std::string, Counts, std::less<>>;

    /// A request has sent so much to a topic, or got so much of it. Once for each topic of a request.
    void note_incoming(std::string_view entity, Load load);
    void note_outgoing(std::string_view entity, Load load);
    void note_throttled(std::string_view entity);

    [[nodiscard]] const Entities& entities() const { return entities_; }
    /// The sums over all topics.
    [[nodiscard]] const Counts& all() const { return all_; }

  private:
    /// Null when there is no room for one more.
    [[nodiscard]] Counts* of(std::string_view entity);

    Entities entities_;
    Counts all_;
};

}  // namespace partita::capacity
