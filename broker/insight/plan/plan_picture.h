#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

/// The picture of keys that move: partitions before on one side, after on the other, and a ribbon for each way that keys take. As
/// SVG it is the picture that the console draws (broker/console/web/expansion.js): the same ribbons, to the last digit, and the
/// same words.
///
/// All functions take a plan in the form that `plan_json` gives, and skip members that are missing or have another type.
namespace partita::insight {

/// Most partitions for which ribbons are drawn. With more, the picture only shows how all keys are divided.
inline constexpr std::int64_t kDrawnPartitionsMax = 48;

enum class WayKind : std::uint8_t {
    stay,    ///< Keys that keep their partition.
    to_new,  ///< Keys that move to a new partition.
    to_old,  ///< Keys that move between old partitions: harm without gain.
};

/// One way that keys take. All ways of one partition have the same share of it.
struct KeyWay {
    std::int64_t from = 0;
    std::int64_t to = 0;
    WayKind kind{};
};

/// Where a ribbon begins and ends, and how thick it is there, in the caller's units.
struct Ribbon {
    KeyWay way;
    double from_top = 0;
    double from_thickness = 0;
    double to_top = 0;
    double to_thickness = 0;
};

/// The geometry of a picture, without colours.
struct PlanPicture {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::vector<Ribbon> ribbons;
    /// Top and height of each partition's bar, before and after.
    std::vector<std::pair<double, double>> before;
    std::vector<std::pair<double, double>> after;
    /// Records in each partition before, if the plan gives them.
    std::vector<std::int64_t> records;
};

/// The picture with bars from `top` on; each partition after has the height `row`. Empty (`to` is 0) if the plan has no counts,
/// or more partitions than can be drawn.
[[nodiscard]] PlanPicture plan_picture(const nlohmann::ordered_json& plan, double row, double top);

/// How evenly spread keys are divided; ascending by kind, without kinds that have no keys.
[[nodiscard]] std::vector<std::pair<WayKind, double>> key_shares(std::int64_t from, std::int64_t to);

/// "keys stay", "move to a new partition", "move between old ones: harm without gain".
[[nodiscard]] std::string_view legend_of(WayKind kind);

/// A complete SVG file, for light and dark surroundings.
[[nodiscard]] std::string plan_svg(const nlohmann::ordered_json& plan);

/// The abilities of a terminal.
struct DrawingStyle {
    std::size_t columns = 80;
    bool has_unicode = false;
    bool has_colour = false;
};

/// The picture for a terminal. No line is longer than the terminal is wide, or than 30 if that is more. Empty if the plan has no
/// counts. It has no ribbons in less than kDrawnColumnsMin columns, or with too many partitions.
inline constexpr std::size_t kDrawnColumnsMin = 40;
[[nodiscard]] std::string plan_drawing(const nlohmann::ordered_json& plan, const DrawingStyle& style);

/// "17", "12.3k", "4.0M": counts as the console writes them.
[[nodiscard]] std::string short_count(std::int64_t count);
/// "50 %", "2.5 %".
[[nodiscard]] std::string percent_text(double share);

}  // namespace partita::insight
