// The picture for a terminal: ribbons drawn as blocks. With colours, a line shows two blocks, one above the other.

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "broker/insight/plan/plan_members.h"
#include "broker/insight/plan/plan_picture.h"

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

/// The part of the picture to which a dot belongs. Later kinds cover earlier ones.
enum class Ink : std::uint8_t { none, stay, to_new, to_old, node, new_node };

constexpr std::size_t kCanvasColumnsMin = 12;
constexpr std::size_t kCanvasColumnsMax = 60;
constexpr std::string_view kReset = "\033[0m";

Ink ink_of(WayKind kind) { return kind == WayKind::stay ? Ink::stay : kind == WayKind::to_new ? Ink::to_new : Ink::to_old; }

/// One of the sixteen colours that every terminal has and that people configure: 30 to 37, or 90 to 97.
int colour_of(Ink ink) {
    switch (ink) {
        case Ink::stay:
            return 90;
        case Ink::to_new:
        case Ink::new_node:
            return 94;
        case Ink::to_old:
            return 33;
        case Ink::node:
            return 37;
        case Ink::none:
            break;
    }
    return 39;
}

/// The character for a terminal without colours.
std::string_view shade_of(Ink ink, bool has_unicode) {
    switch (ink) {
        case Ink::stay:
            return has_unicode ? "░" : ".";
        case Ink::to_new:
            return has_unicode ? "█" : "#";
        case Ink::to_old:
            return has_unicode ? "▒" : "x";
        case Ink::node:
        case Ink::new_node:
            return has_unicode ? "┃" : "|";
        case Ink::none:
            break;
    }
    return " ";
}

std::string escape(int code) { return "\033[" + std::to_string(code) + "m"; }

/// The text of one line at one place: its upper and its lower half.
std::string cell(Ink above, Ink below, const DrawingStyle& style) {
    if (!style.has_colour) {
        return std::string(shade_of(std::max(above, below), style.has_unicode));
    }
    if (above == below) {
        return above == Ink::none ? " " : escape(colour_of(above)) + (style.has_unicode ? "█" : "#") + std::string(kReset);
    }
    if (!style.has_unicode) {
        return escape(colour_of(std::max(above, below))) + "#" + std::string(kReset);
    }
    if (below == Ink::none) {
        return escape(colour_of(above)) + "▀" + std::string(kReset);
    }
    if (above == Ink::none) {
        return escape(colour_of(below)) + "▄" + std::string(kReset);
    }
    constexpr int kBackground = 10;
    return escape(colour_of(above)) + escape(colour_of(below) + kBackground) + "▀" + std::string(kReset);
}

class Canvas {
  public:
    Canvas(std::size_t columns, std::size_t rows) : columns_(columns), dots_(columns * rows), rows_(rows) {}

    /// Fills the column from `top` on for `height`: at least one dot, at the middle.
    void fill(std::size_t column, double top, double height, Ink ink) {
        const auto row_at = [&](double y) {
            return static_cast<std::size_t>(std::clamp(y, 0.0, static_cast<double>(rows_ - 1)));
        };
        const std::size_t first = row_at(std::round(top));
        const std::size_t last = row_at(std::round(top + height) - 1);
        if (first > last) {
            at(column, row_at(top + height / 2)) = ink;
            return;
        }
        for (std::size_t row = first; row <= last; ++row) {
            at(column, row) = ink;
        }
    }
    [[nodiscard]] std::string line(std::size_t row, const DrawingStyle& style) const {
        std::string out;
        for (std::size_t column = 0; column < columns_; ++column) {
            out += cell(dots_[2 * row * columns_ + column], dots_[(2 * row + 1) * columns_ + column], style);
        }
        return out;
    }

  private:
    Ink& at(std::size_t column, std::size_t row) { return dots_[row * columns_ + column]; }

    std::size_t columns_;
    std::vector<Ink> dots_;
    std::size_t rows_;
};

/// How far a curve of the console's picture has descended at a part of its way across.
double descent(double across) {
    double below = 0;
    double above = 1;
    constexpr int kSteps = 24;
    for (int step = 0; step < kSteps; ++step) {
        const double t = (below + above) / 2;
        const double x = 1.5 * t * (1 - t) + t * t * t;
        (x < across ? below : above) = t;
    }
    const double t = (below + above) / 2;
    return 3 * (1 - t) * t * t + t * t * t;
}

void paint(Canvas& canvas, const PlanPicture& picture, std::size_t columns) {
    for (const Ribbon& ribbon : picture.ribbons) {
        for (std::size_t column = 1; column + 1 < columns; ++column) {
            const double down = descent((static_cast<double>(column) - 0.5) / static_cast<double>(columns - 2));
            canvas.fill(column, ribbon.from_top + (ribbon.to_top - ribbon.from_top) * down,
                        ribbon.from_thickness + (ribbon.to_thickness - ribbon.from_thickness) * down, ink_of(ribbon.way.kind));
        }
    }
    for (const auto& [top, height] : picture.before) {
        canvas.fill(0, top, height, Ink::node);
    }
    for (std::size_t i = 0; i < picture.after.size(); ++i) {
        const bool is_new = static_cast<std::int64_t>(i) >= picture.from;
        canvas.fill(columns - 1, picture.after[i].first, picture.after[i].second, is_new ? Ink::new_node : Ink::node);
    }
}

std::string ribbons(const ordered_json& plan, std::int64_t to, const DrawingStyle& style) {
    constexpr std::int64_t kTallUpTo = 8;
    constexpr std::int64_t kShortFrom = 24;
    const std::size_t lines_each = to <= kTallUpTo ? 3 : to <= kShortFrom ? 2 : 1;
    const PlanPicture picture = plan_picture(plan, static_cast<double>(2 * lines_each), 0);
    if (picture.to == 0) {
        return {};
    }
    const std::size_t lines = lines_each * picture.after.size();
    // A label stands in the line of the middle of its bar. No two labels share a line: bars before are farther apart than those
    // after.
    const auto line_of = [](const std::pair<double, double>& bar) {
        return static_cast<std::size_t>((bar.first + bar.second / 2) / 2);
    };
    std::vector<std::string> left(lines);
    std::vector<std::string> right(lines);
    std::size_t left_width = std::string_view("before").size();
    std::size_t right_width = std::string_view("after").size();
    for (std::size_t i = 0; i < picture.before.size(); ++i) {
        std::string& label = left[line_of(picture.before[i])];
        label = std::to_string(i) + ": " + short_count(picture.records[i]);
        left_width = std::max(left_width, label.size());
    }
    for (std::size_t i = 0; i < picture.after.size(); ++i) {
        std::string& label = right[line_of(picture.after[i])];
        label = std::to_string(i) + (static_cast<std::int64_t>(i) >= picture.from ? " new" : "");
        right_width = std::max(right_width, label.size());
    }
    const std::size_t around = 2 + left_width + 1 + 1 + right_width;
    if (style.columns < around + kCanvasColumnsMin) {
        return {};
    }
    const std::size_t columns = std::min(kCanvasColumnsMax, style.columns - around);
    Canvas canvas(columns, 2 * lines);
    paint(canvas, picture, columns);
    std::string out = "  " + std::string(left_width - 6, ' ') + "before " + std::string(columns, ' ') + " after\n";
    for (std::size_t line = 0; line < lines; ++line) {
        std::string text = "  " + std::string(left_width - left[line].size(), ' ') + left[line] + " " + canvas.line(line, style);
        if (!right[line].empty()) {
            text += " " + right[line];
        }
        out += text + "\n";
    }
    return out;
}

std::string_view short_legend_of(WayKind kind) {
    return kind == WayKind::stay ? "stay" : kind == WayKind::to_new ? "move to new ones" : "move between old";
}

std::string mark(WayKind kind, std::size_t times, const DrawingStyle& style) {
    std::string blocks;
    if (style.has_colour) {
        blocks += escape(colour_of(ink_of(kind)));
    }
    for (std::size_t i = 0; i < times; ++i) {
        blocks += style.has_colour ? (style.has_unicode ? "█" : "#") : std::string(shade_of(ink_of(kind), style.has_unicode));
    }
    if (style.has_colour) {
        blocks += kReset;
    }
    return blocks;
}

}  // namespace

std::string plan_drawing(const ordered_json& plan, const DrawingStyle& style) {
    const auto shares = key_shares(number(plan, "from"), number(plan, "to"));
    if (shares.empty()) {
        return {};
    }
    std::string out;
    if (style.columns >= kDrawnColumnsMin) {
        out = ribbons(plan, number(plan, "to"), style);
        if (!out.empty()) {
            out += "\n";
        }
    }
    constexpr std::size_t kBarColumns = 10;
    constexpr std::size_t kPercentColumns = 6;
    constexpr std::size_t kWideColumns = 64;
    const bool is_wide = style.columns >= kWideColumns;
    for (const auto& [kind, share] : shares) {
        const auto length = is_wide ? static_cast<std::size_t>(std::ceil(share * kBarColumns)) : 1;
        const std::string percent = percent_text(share);
        out += "  " + mark(kind, length, style) + std::string(is_wide ? kBarColumns - length : 0, ' ') +
               std::string(percent.size() < kPercentColumns ? kPercentColumns - percent.size() : 0, ' ') + percent + " " +
               std::string(is_wide ? legend_of(kind) : short_legend_of(kind)) + "\n";
    }
    return out;
}

}  // namespace partita::insight
