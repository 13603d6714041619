#include "broker/addons/faults/core/cluster_file.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace partita::faults {
namespace {

using catalog::PartitionPlace;
using catalog::TopicPlace;

constexpr std::string_view kFirstLine = "partita-brokers 1";
constexpr std::string_view kNone = "-";

// topic, partition, leader, epoch, replicas, isr, removing. A restart completes reassignments, and everyone is in sync.
constexpr std::size_t kFields = 7;

std::string text_of(const std::vector<BrokerId>& brokers) {
    std::string text;
    for (const BrokerId broker : brokers) {
        text += (text.empty() ? "" : ",") + std::to_string(broker.value);
    }
    return text.empty() ? std::string(kNone) : text;
}

/// The part before `separator`, which is taken from `text` with it.
std::string_view take(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return part;
}

std::optional<std::int32_t> number_of(std::string_view text) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::vector<BrokerId>> brokers_of(std::string_view text) {
    std::vector<BrokerId> brokers;
    if (text == kNone) {
        return brokers;
    }
    while (!text.empty()) {
        const auto broker = number_of(take(text, ','));
        if (!broker || *broker < 0 || brokers.size() >= Cluster::kBrokersMax) {
            return std::nullopt;
        }
        brokers.push_back(BrokerId{*broker});
    }
    return brokers;
}

/// False if `encode_places` does not write such a line after those before it.
bool add_line(std::string_view line, std::map<TopicId, TopicPlace>& places) {
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) {
        field = take(line, ' ');
    }
    TopicId topic;
    if (!line.empty() || !TopicId::parse(fields[0], topic)) {
        return false;
    }
    TopicPlace& place = places[topic];
    const auto partition = number_of(fields[1]);
    const auto leader = number_of(fields[2]);
    const auto epoch = number_of(fields[3]);
    auto replicas = brokers_of(fields[4]);
    auto isr = brokers_of(fields[5]);
    auto removing = brokers_of(fields[6]);
    if (!partition || std::cmp_not_equal(*partition, place.size()) || !leader || *leader < kNoBroker.value || !epoch ||
        *epoch < 0 || !replicas || replicas->empty() || !isr || !removing) {
        return false;
    }
    PartitionPlace& added = place.emplace_back();
    added.leader = BrokerId{*leader};
    added.leader_epoch = LeaderEpoch{*epoch};
    added.replicas = std::move(*replicas);
    added.isr = std::move(*isr);
    added.removing = std::move(*removing);
    return true;
}

}  // namespace

std::string encode_places(const Cluster& cluster) {
    std::string text(kFirstLine);
    text += "\n";
    cluster.for_each_topic([&](const TopicId& topic, const TopicPlace& place) {
        for (std::size_t index = 0; index < place.size(); ++index) {
            const PartitionPlace& partition = place[index];
            text += topic.to_string() + " " + std::to_string(index) + " " + std::to_string(partition.leader.value) + " " +
                    std::to_string(partition.leader_epoch.value) + " " + text_of(partition.replicas) + " " +
                    text_of(partition.isr) + " " + text_of(partition.removing) + "\n";
        }
    });
    return text;
}

std::expected<std::map<TopicId, TopicPlace>, std::string> decode_places(std::string_view text) {
    if (take(text, '\n') != kFirstLine) {
        return std::unexpected("the first line is not \"" + std::string(kFirstLine) + "\"");
    }
    std::map<TopicId, TopicPlace> places;
    for (std::size_t line = 2; !text.empty(); ++line) {
        if (!add_line(take(text, '\n'), places)) {
            return std::unexpected("line " + std::to_string(line) + " is damaged");
        }
    }
    return places;
}

}  // namespace partita::faults
