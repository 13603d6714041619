#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::cli {

/// The changes between two answers of GET /v1/groups/G/ownership, as JSON objects of one line each:
///
///     {"event": "owner", ...}      the partition has a new owner, which did not take it from another one; after the first answer
///                                  the class reports every owned partition so
///     {"event": "free", ...}       the partition has lost its owner
///     {"event": "takeover", ...}   as in `takeovers` of the answer, with the names of the clients
///     {"event": "stolen", ...}     the previous owner of a reported takeover turned out to be alive
///     {"event": "missed", ...}     the number of takeovers that did not fit into the answer
///
/// Pure. If a member of an answer is missing or of another type, the JSON library throws and the state stays unchanged.
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
    /// Takeovers reported as lost or normal that may still turn out to be stolen.
    std::map<std::uint64_t, std::string> kinds_;
};

/// Formats "14:02:11 takeover orders 3: web-1 -> web-2, normal, generation or epoch 4 -> 5, without an owner for 12 ms".
[[nodiscard]] std::string readable_change(const nlohmann::ordered_json& change);

}  // namespace partita::cli
