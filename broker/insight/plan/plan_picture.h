#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

/// The picture of keys that move: partitions before on one side, after on the other, and a ribbon for each way that keys take. As
/// SVG it is the one that the console draws (broker/console/web/expansion.js): the same ribbons, to the last digit, and the same
/// words.
///
/// All functions take a plan in the form that `plan_json` gives, and skip members that are missing or of another type.
namespace partita::insight {

/// Of more partitions than that no ribbons are drawn: what is left then is how all keys are shared out.
inline constexpr std::int64_t kDrawnPartitionsMax = 48;

enum class WayKind : std::uint8_t {
    stay,    ///< Keys that stay where they are.
    to_new,  ///< Keys that move to a partition that is new.
    to_old,  ///< Keys that move between partitions that were there before: harm without gain.
};

/// One way that keys take. All ways of one partition have the same share of it.
struct KeyWay {
    std::int64_t from = 0;
    std::int64_t to = 0;
    WayKind kind{};
};

/// Where a ribbon begins and ends, and how thick it is there. In units of whoever asked.
struct Ribbon {
    KeyWay way;
    double from_top = 0;
    double from_thickness = 0;
    double to_top = 0;
    double to_thickness = 0;
};

/// Everything of a picture but its colours.
struct PlanPicture {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::vector<Ribbon> ribbons;
    /// Top and height of each partition's bar, before and after.
    std::vector<std::pair<double, double>> before;
    std::vector<std::pair<double, double>> after;
    /// Records in each partition before, where the plan says them.
    std::vector<std::int64_t> records;
};

/// With bars from `top` on, where each partition after has `row`. Empty (to is 0) when the plan has no counts, or more partitions
/// than can be drawn.
[[nodiscard]] PlanPicture plan_picture(const nlohmann::ordered_json& plan, double row, double top);

/// How all keys are shared out when they are spread evenly; ascending by kind, without those that have none.
[[nodiscard]] std::vector<std::pair<WayKind, double>> key_shares(std::int64_t from, std::int64_t to);

/// "keys stay", "move to a new partition", "move between old ones: harm without gain".
[[nodiscard]] std::string_view legend_of(WayKind kind);

/// A file of its own, for light and dark surroundings.
[[nodiscard]] std::string plan_svg(const nlohmann::ordered_json& plan);

/// What a terminal can show.
struct DrawingStyle {
    std::size_t columns = 80;
    bool has_unicode = false;
    bool has_colour = false;
};

/// For a terminal; no line is longer than it is wide, or than 30. Empty when the plan has no counts. In less than
/// kDrawnColumnsMin, or with too many partitions, it has no ribbons.
inline constexpr std::size_t kDrawnColumnsMin = 40;
[[nodiscard]] std::string plan_drawing(const nlohmann::ordered_json& plan, const DrawingStyle& style);

/// "17", "12.3k", "4.0M": as the console says how many.
[[nodiscard]] std::string short_count(std::int64_t count);
/// "50 %", "2.5 %".
[[nodiscard]] std::string percent_text(double share);

}  // namespace partita::insight
