#include "storage/checkpoint_text.h"

#include <charconv>

#include "protocol/assert.h"

namespace partita {
namespace {

/// Takes one line off the front; false if there is none. The last line needs its newline, too.
bool take_line(std::string_view& text, std::string_view& line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
        return false;
    }
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return true;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::vector<std::vector<std::string_view>>> parse_checkpoint_lines(std::string_view text,
                                                                                 std::size_t fields_per_line,
                                                                                 std::size_t maximum_lines) {
    std::string_view line;
    if (!take_line(text, line) || line != "0") {
        return std::nullopt;
    }
    if (!take_line(text, line)) {
        return std::nullopt;
    }
    const auto count = parse_integer(line);
    if (!count || *count < 0 || static_cast<std::size_t>(*count) > maximum_lines) {
        return std::nullopt;
    }
    std::vector<std::vector<std::string_view>> lines;
    while (take_line(text, line)) {
        std::vector<std::string_view> fields;
        while (true) {
            const std::size_t space = line.find(' ');
            fields.push_back(line.substr(0, space));
            if (space == std::string_view::npos) {
                break;
            }
            line.remove_prefix(space + 1);
        }
        if (fields.size() != fields_per_line) {
            return std::nullopt;
        }
        lines.push_back(std::move(fields));
    }
    if (!text.empty() || lines.size() != static_cast<std::size_t>(*count)) {
        return std::nullopt;
    }
    return lines;
}

std::string to_text(const OffsetCheckpoint& checkpoint) {
    std::string text = "0\n" + std::to_string(checkpoint.size()) + "\n";
    PARTITA_ASSERT(checkpoint.size() <= kMaximumCheckpointLines, "parse_offset_checkpoint takes as many lines");
    for (const auto& [partition, offset] : checkpoint) {
        PARTITA_ASSERT(!partition.first.empty() && partition.second >= 0 && offset >= Offset{0},
                       "parse_offset_checkpoint takes no other line");
        text += partition.first + " " + std::to_string(partition.second) + " " + std::to_string(offset.value) + "\n";
    }
    return text;
}

std::optional<OffsetCheckpoint> parse_offset_checkpoint(std::string_view text) {
    if (text.empty()) {
        return OffsetCheckpoint{};
    }
    const auto lines = parse_checkpoint_lines(text, 3, kMaximumCheckpointLines);
    if (!lines) {
        return std::nullopt;
    }
    OffsetCheckpoint checkpoint;
    for (const auto& fields : *lines) {
        const auto partition = parse_integer(fields[1]);
        const auto offset = parse_integer(fields[2]);
        if (fields[0].empty() || !partition || *partition < 0 || *partition > INT32_MAX || !offset || *offset < 0) {
            return std::nullopt;
        }
        checkpoint[{std::string(fields[0]), static_cast<std::int32_t>(*partition)}] = Offset{*offset};
    }
    return checkpoint;
}

}  // namespace partita
