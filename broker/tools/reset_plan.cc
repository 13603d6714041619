#include "broker/tools/reset_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "broker/tools/options.h"
#include "broker/tools/text.h"

namespace partita::tools {
namespace {

/// Kafka's CSV writer quotes longer texts without examining every letter.
constexpr std::size_t kUnquotedMax = 24;

std::string csv_field(std::string_view text) {
    const bool is_plain = text.size() <= kUnquotedMax && std::ranges::none_of(text, [](char letter) { return letter <= ','; });
    if (is_plain) {
        return std::string(text);
    }
    std::string out = "\"";
    for (const char letter : text) {
        out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    }
    return out + "\"";
}

/// The fields of a line; null if a quote is not closed.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
    std::vector<std::string> fields{""};
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += line[++i];
        } else if (line[i] == '"') {
            is_quoted = !is_quoted;
        } else if (line[i] == ',' && !is_quoted) {
            fields.emplace_back();
        } else {
            fields.back() += line[i];
        }
    }
    return is_quoted ? std::nullopt : std::optional(std::move(fields));
}

}  // namespace

std::string plan_line(std::string_view group, const client::TopicPartition& partition, std::int64_t offset) {
    return (group.empty() ? "" : csv_field(group) + ",") + csv_field(partition.topic) + "," +
           std::to_string(partition.partition) + "," + std::to_string(offset) + "\n";
}

std::expected<std::map<std::string, GroupOffsets>, std::string> parse_plan(std::string_view text,
                                                                           const std::vector<std::string>& groups) {
    constexpr std::size_t kWithoutGroup = 3;
    std::map<std::string, GroupOffsets> plan;
    std::size_t number = 0;
    for (const std::string& raw : split(text, '\n')) {
        ++number;
        const std::string line = trimmed(raw);
        if (line.empty()) {
            continue;
        }
        auto fields = fields_of(line);
        const auto unreadable = [&] {
            return std::unexpected("line " + std::to_string(number) + " of the plan cannot be read: " + line);
        };
        if (!fields) {
            return unreadable();
        }
        if (fields->size() == kWithoutGroup && groups.size() == 1) {
            fields->insert(fields->begin(), groups.front());
        }
        if (fields->size() != kWithoutGroup + 1) {
            return unreadable();
        }
        const auto partition = parse_integer((*fields)[2]);
        const auto offset = parse_integer((*fields)[3]);
        if (!partition || !offset || *partition < 0 || *partition > std::numeric_limits<std::int32_t>::max()) {
            return unreadable();
        }
        plan[(*fields)[0]][{(*fields)[1], static_cast<std::int32_t>(*partition)}] = *offset;
    }
    return plan;
}

}  // namespace partita::tools
