#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "broker/http/exchange.h"
#include "protocol/types.h"

/// Reads the query parameters of a request, or a number in its path.

namespace partita::http {

/// Empty if the text is not exactly one decimal number.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);

/// The number of a partition. Empty if the text is not a decimal number that a partition may have.
[[nodiscard]] std::optional<PartitionIndex> parse_partition_index(std::string_view text);

/// True for "name", "name=1" and the like; false if it is missing, "0" or "false".
[[nodiscard]] bool is_set(const Request& request, std::string_view name);

struct NumberRange {
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
/// The parameter as a number, empty if it is missing. For another text, a sentence for the client.
[[nodiscard]] std::expected<std::optional<std::int64_t>, std::string> number_parameter(const Request& request,
                                                                                       std::string_view name, NumberRange range);

/// The requested part of a list: `search=TEXT` (part of a name, ignoring case), `skip=K`, `limit=K`. Without them, all.
struct PageWish {
    std::string search;
    std::size_t skip = 0;
    std::size_t limit = std::numeric_limits<std::size_t>::max();
    bool hides_internal = false;

    [[nodiscard]] bool wants(std::string_view name) const;
    /// True if the page holds the item at `index` among the matching ones.
    [[nodiscard]] bool has_place(std::size_t index) const { return index >= skip && index - skip < limit; }
};
[[nodiscard]] std::expected<PageWish, std::string> parse_page(const Request& request);

}  // namespace partita::http
