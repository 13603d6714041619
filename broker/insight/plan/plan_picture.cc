#include "broker/insight/plan/plan_picture.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "broker/insight/plan/plan_members.h"

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

constexpr double kBarOfRow = 0.72;
constexpr double kBarOfStep = 0.8;

std::vector<KeyWay> ways_of(const ordered_json& plan, std::int64_t from, std::int64_t to) {
    std::vector<KeyWay> ways;
    for (const ordered_json& partition : list(plan, "partitions")) {
        const std::int64_t index = number(partition, "partition");
        for (const ordered_json& parent : list(partition, "parents")) {
            if (!parent.is_number_integer()) {
                continue;
            }
            const KeyWay way{.from = parent.get<std::int64_t>(),
                             .to = index,
                             .kind = parent == index ? WayKind::stay
                                     : index >= from ? WayKind::to_new
                                                     : WayKind::to_old};
            const bool is_drawable = way.from >= 0 && way.from < from && way.to >= 0 && way.to < to;
            if (is_drawable) {
                ways.push_back(way);
            }
        }
    }
    return ways;
}

/// Divides a partition's bar among its ways, in the order in which they come.
class Shares {
  public:
    explicit Shares(std::size_t partitions) : ways_(partitions), used_(partitions) {}
    void count(std::int64_t partition) { ++ways_[static_cast<std::size_t>(partition)]; }
    /// Where the next way begins in a bar of this height, and how much of the bar it takes.
    [[nodiscard]] std::pair<double, double> take(std::int64_t partition, double height) {
        const auto at = static_cast<std::size_t>(partition);
        const double share = height / ways_[at];
        const double begin = used_[at];
        used_[at] = begin + share;
        return {begin, share};
    }

  private:
    std::vector<double> ways_;
    std::vector<double> used_;
};

/// "12.5", the same text as the console's toFixed gives.
std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

}  // namespace

PlanPicture plan_picture(const ordered_json& plan, double row, double top) {
    PlanPicture picture;
    picture.from = number(plan, "from");
    picture.to = number(plan, "to");
    if (picture.from < 1 || picture.to < picture.from || picture.to > kDrawnPartitionsMax) {
        return {};
    }
    const auto from = static_cast<std::size_t>(picture.from);
    const auto to = static_cast<std::size_t>(picture.to);
    const double bars = row * kBarOfRow;
    // The old partitions spread over the height of the new ones.
    const double step = (row * static_cast<double>(picture.to)) / static_cast<double>(picture.from);
    const double left_bar = std::min(step * kBarOfStep, bars * 2);
    for (std::size_t i = 0; i < from; ++i) {
        picture.before.emplace_back(top + step * static_cast<double>(i) + (step - left_bar) / 2, left_bar);
    }
    for (std::size_t i = 0; i < to; ++i) {
        picture.after.emplace_back(top + row * static_cast<double>(i) + (row - bars) / 2, bars);
    }
    picture.records.resize(from);
    for (const ordered_json& partition : list(plan, "partitions")) {
        const std::int64_t index = number(partition, "partition");
        if (index >= 0 && index < picture.from) {
            picture.records[static_cast<std::size_t>(index)] = number(partition, "records");
        }
    }
    const std::vector<KeyWay> ways = ways_of(plan, picture.from, picture.to);
    Shares before(from);
    Shares after(to);
    for (const KeyWay& way : ways) {
        before.count(way.from);
        after.count(way.to);
    }
    // Kind by kind, in the order of the layers: moving keys above staying keys.
    for (const WayKind kind : {WayKind::stay, WayKind::to_new, WayKind::to_old}) {
        for (const KeyWay& way : ways) {
            if (way.kind != kind) {
                continue;
            }
            const auto [left_top, left_height] = picture.before[static_cast<std::size_t>(way.from)];
            const auto [right_top, right_height] = picture.after[static_cast<std::size_t>(way.to)];
            const auto [left_at, left_share] = before.take(way.from, left_height);
            const auto [right_at, right_share] = after.take(way.to, right_height);
            picture.ribbons.push_back({way, left_top + left_at, left_share, right_top + right_at, right_share});
        }
    }
    return picture;
}

std::vector<std::pair<WayKind, double>> key_shares(std::int64_t from, std::int64_t to) {
    if (from < 1 || to < from) {
        return {};
    }
    const std::int64_t common = std::gcd(from, to);
    const auto share = [&](std::int64_t part) { return static_cast<double>(part) / static_cast<double>(to); };
    std::vector<std::pair<WayKind, double>> shares{
        {WayKind::stay, share(common)}, {WayKind::to_new, share(to - from)}, {WayKind::to_old, share(from - common)}};
    std::erase_if(shares, [](const auto& one) { return one.second <= 0; });
    return shares;
}

std::string_view legend_of(WayKind kind) {
    switch (kind) {
        case WayKind::stay:
            return "keys stay";
        case WayKind::to_new:
            return "move to a new partition";
        case WayKind::to_old:
            return "move between old ones: harm without gain";
    }
    return {};
}

std::string short_count(std::int64_t count) {
    struct Unit {
        double from;
        double size;
        char letter;
    };
    const auto value = static_cast<double>(count);
    for (const Unit unit : {Unit{1e9, 1e9, 'G'}, {1e6, 1e6, 'M'}, {1e4, 1e3, 'k'}}) {
        if (value >= unit.from) {
            return fixed(value / unit.size, value >= unit.from * 100 ? 0 : 1) + unit.letter;
        }
    }
    return grouped(count);
}

std::string percent_text(double share) { return fixed(share * 100, share > 0 && share < 0.1 ? 1 : 0) + " %"; }

}  // namespace partita::insight
