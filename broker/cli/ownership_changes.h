#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::cli {

/// What happened between two answers of GET /v1/groups/G/ownership, as JSON objects of one line each:
///
///     {"event": "owner", ...}      the partition has an owner that it had not, without taking it from another one; so come all
///     that
///                                  are owned with the first answer, whatever was before
///     {"event": "free", ...}       nobody has the partition any more
///     {"event": "takeover", ...}   as in `takeovers` of the answer, with the names of the clients
///     {"event": "stolen", ...}     the owner before a takeover that was told already turned out to be alive
///     {"event": "missed", ...}     so many takeovers were more than an answer holds
///
/// Pure. Members of an answer that are missing or of another type end in the JSON library's exception, and nothing is remembered.
class OwnershipChanges {
  public:
    [[nodiscard]] std::vector<nlohmann::ordered_json> update(const nlohmann::ordered_json& answer);

  private:
    using Place = std::pair<std::string, std::int64_t>;
    struct Owner {
        std::string member_id;
        std::int64_t claim = 0;

        friend bool operator==(const Owner&, const Owner&) = default;
    };

    std::map<Place, Owner> owners_;
    bool is_first_ = true;
    std::uint64_t last_sequence_ = 0;
    /// Takeovers that were told as lost or normal and may still turn out to be stolen.
    std::map<std::uint64_t, std::string> kinds_;
};

/// "14:02:11 takeover orders 3: web-1 -> web-2, normal, generation or epoch 4 -> 5, nobody had it for 12 ms".
[[nodiscard]] std::string readable_change(const nlohmann::ordered_json& change);

}  // namespace partita::cli
