// The picture as SVG: the console's picture at full width, with the bar of shares above and the legend below.

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "broker/insight/plan/plan_members.h"
#include "broker/insight/plan/plan_picture.h"
#include "protocol/xml_text.h"

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

// Sizes of the console's picture in a wide window.
constexpr double kWidth = 640;
constexpr double kLeft = 92;
constexpr double kRight = kWidth - 92;
constexpr double kTop = 26;
constexpr double kBelow = 8;
constexpr double kNodeWidth = 8;

// Sizes of the margin, the bar and the legend around it.
constexpr double kMargin = 16;
constexpr double kHead = 58;
constexpr double kSharesTop = 26;
constexpr double kSharesHeight = 22;
constexpr double kLegendRow = 18;
/// The bar prints no number in a part with a smaller share.
constexpr double kSaidShareMin = 0.07;

/// The console's colours (style.css).
constexpr std::string_view kStyle =
    "svg { --text: #1c1c28; --soft: #63637a; --stay: #c9c9d8; --new: #5b5bd6; --old: #e0662f; font: 11px system-ui, sans-serif; "
    "fill: var(--text); background: #fff }\n"
    "@media (prefers-color-scheme: dark) { svg { --text: #ececf4; --soft: #a0a0b6; --stay: #4b4b60; --new: #8e8ef5; --old: "
    "#f08a55; "
    "background: #191923 } }\n"
    ".side, .node { fill: var(--soft) } .node.new { fill: var(--new) } .head { font-size: 13px; font-weight: 600 }\n"
    ".way { fill-opacity: .5 } .stay { fill: var(--stay) } .way.new, .part.new { fill: var(--new) } .way.old, .part.old { fill: "
    "var(--old) }\n";

/// A number as JavaScript writes it.
std::string digits(double value) {
    std::array<char, 400> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    return error == std::errc() ? std::string(text.data(), end) : "0";
}

std::string_view class_of(WayKind kind) { return kind == WayKind::stay ? "stay" : kind == WayKind::to_new ? "new" : "old"; }

std::string attribute(std::string_view name, double value) { return " " + std::string(name) + "=\"" + digits(value) + "\""; }

std::string rectangle(double x, double y, double width, double height, double radius, std::string_view classes) {
    return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
           attribute("rx", radius) + " class=\"" + std::string(classes) + "\"/>";
}

std::string words(double x, double y, std::string_view anchor, std::string_view classes, std::string_view text) {
    return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + std::string(anchor) +
           "\" dominant-baseline=\"central\" class=\"" + std::string(classes) + "\">" + xml_text(text) + "</text>\n";
}

std::string path_of(const Ribbon& ribbon) {
    const double middle = (kLeft + kRight) / 2;
    const auto point = [](double x, double y) { return digits(x) + "," + digits(y); };
    const double y1 = ribbon.from_top;
    const double y2 = ribbon.to_top;
    const double end1 = y1 + ribbon.from_thickness;
    const double end2 = y2 + ribbon.to_thickness;
    return "M" + point(kLeft, y1) + " C" + point(middle, y1) + " " + point(middle, y2) + " " + point(kRight, y2) + " L" +
           point(kRight, end2) + " C" + point(middle, end2) + " " + point(middle, end1) + " " + point(kLeft, end1) + " Z";
}

std::string title_of(const KeyWay& way) {
    const std::string keys = "keys of " + std::to_string(way.from);
    switch (way.kind) {
        case WayKind::stay:
            return keys + " that stay";
        case WayKind::to_new:
            return keys + " that move to a new partition: " + std::to_string(way.to);
        case WayKind::to_old:
            return keys + " that move between old partitions: " + std::to_string(way.to);
    }
    return keys;
}

std::string ribbons_of(const PlanPicture& picture) {
    std::string out;
    for (const Ribbon& ribbon : picture.ribbons) {
        out += "<path d=\"" + path_of(ribbon) + "\" class=\"way " + std::string(class_of(ribbon.way.kind)) + "\"><title>" +
               title_of(ribbon.way) + "</title></path>\n";
    }
    return out;
}

std::string bars_of(const PlanPicture& picture) {
    std::string out = words(kLeft - 8, 12, "end", "side", "before") + words(kRight + 8, 12, "start", "side", "after");
    for (std::size_t i = 0; i < picture.before.size(); ++i) {
        const auto [top, height] = picture.before[i];
        out += rectangle(kLeft - 8, top, kNodeWidth, height, 2, "node") +
               words(kLeft - 16, top + height / 2, "end", "name", std::to_string(i) + " · " + short_count(picture.records[i]));
    }
    for (std::size_t i = 0; i < picture.after.size(); ++i) {
        const auto [top, height] = picture.after[i];
        out += rectangle(kRight, top, kNodeWidth, height, 2, static_cast<std::int64_t>(i) >= picture.from ? "node new" : "node") +
               words(kRight + 16, top + height / 2, "start", "name", std::to_string(i));
    }
    return out;
}

std::string shares_of(const std::vector<std::pair<WayKind, double>>& shares) {
    std::string out;
    double x = 0;
    for (const auto& [kind, share] : shares) {
        const double width = kWidth * share;
        out += rectangle(x, kSharesTop, std::max(1.0, width - 2), kSharesHeight, 3, "part " + std::string(class_of(kind)));
        if (share >= kSaidShareMin) {
            out += words(x + width / 2, kSharesTop + kSharesHeight / 2, "middle", "share", percent_text(share));
        }
        x += width;
    }
    return out;
}

std::string legend(const std::set<WayKind>& kinds, double top) {
    std::string out;
    double y = top;
    for (const WayKind kind : kinds) {
        out += rectangle(kLeft, y + 3, 12, 12, 3, "part " + std::string(class_of(kind))) +
               words(kLeft + 18, y + kLegendRow / 2, "start", "name", legend_of(kind));
        y += kLegendRow;
    }
    return out;
}

}  // namespace

std::string plan_svg(const ordered_json& plan) {
    const std::int64_t from = number(plan, "from");
    const std::int64_t to = number(plan, "to");
    const double row = to > 0 ? std::max(14.0, std::min(30.0, 420 / static_cast<double>(to))) : 0;
    const PlanPicture picture = plan_picture(plan, row, kTop);
    const auto shares = key_shares(from, to);
    std::set<WayKind> kinds;
    for (const auto& [kind, share] : shares) {
        kinds.insert(kind);
    }
    const bool is_drawn = picture.to > 0;
    const double picture_height = is_drawn ? kTop + row * static_cast<double>(to) + kBelow : kLegendRow;
    const double height = kHead + picture_height + kLegendRow * static_cast<double>(kinds.size()) + kBelow;
    const std::string label = grouped(from) + (from == 1 ? " partition becomes " : " partitions become ") + std::to_string(to) +
                              ": " + percent_text(real(plan, "expected_key_share")) + " of evenly spread keys move";
    const double whole_width = kWidth + 2 * kMargin;
    const double whole_height = height + 2 * kMargin;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"" + digits(-kMargin) + " " + digits(-kMargin) + " " +
                      digits(whole_width) + " " + digits(whole_height) + "\"" + attribute("width", whole_width) +
                      attribute("height", whole_height) + " role=\"img\" aria-label=\"" + xml_text(label) + "\">\n<title>" +
                      xml_text(label) + "</title>\n<style>\n" + std::string(kStyle) + "</style>\n";
    out += words(0, 12, "start", "head", text(plan, "topic") + ": " + label) + shares_of(shares);
    out += "<g transform=\"translate(0 " + digits(kHead) + ")\">\n";
    out += is_drawn
               ? ribbons_of(picture) + bars_of(picture)
               : words(0, kLegendRow / 2, "start", "side", std::to_string(to) + " partitions are too many to draw one by one.");
    out += "</g>\n" + legend(kinds, kHead + picture_height) + "</svg>\n";
    return out;
}

}  // namespace partita::insight
