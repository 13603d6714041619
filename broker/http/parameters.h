#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "broker/http/exchange.h"

/// Reads what stands behind the question mark of a request, or a number in its path.

namespace partita::http {

/// Empty when the text is anything else than one decimal number.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);

/// True for "name", "name=1" and the like; false where it is missing, "0" or "false".
[[nodiscard]] bool is_set(const Request& request, std::string_view name);

struct NumberRange {
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
/// The parameter as a number, empty when it is missing; or a sentence for the client that gave another text.
[[nodiscard]] std::expected<std::optional<std::int64_t>, std::string> number_parameter(const Request& request,
                                                                                       std::string_view name, NumberRange range);

/// Which part of a list is asked for: `search=TEXT` (part of a name, letters of either case), `skip=K`, `limit=K`. Without them,
/// all.
struct PageWish {
    std::string search;
    std::size_t skip = 0;
    std::size_t limit = std::numeric_limits<std::size_t>::max();
    bool hides_internal = false;

    [[nodiscard]] bool wants(std::string_view name) const;
    /// True when what is `index`-th of what is wanted is on the page.
    [[nodiscard]] bool has_place(std::size_t index) const { return index >= skip && index - skip < limit; }
};
[[nodiscard]] std::expected<PageWish, std::string> parse_page(const Request& request);

}  // namespace partita::http
