#include "broker/partitioners/key_lines.h"

#include <charconv>
#include <cstring>

#include "protocol/assert.h"
#include "protocol/hexadecimal.h"
#include "protocol/try.h"

namespace partita::partitioners {
KeyLineMapper::KeyLineMapper(const ClientPartitioner& partitioner, std::int32_t partition_count, Notation notation)
    : partitioner_(partitioner), partition_count_(partition_count), notation_(notation) {
    PARTITA_ASSERT(partition_count >= 1, "there is a partition to choose");
}

std::expected<void, KeyLineError> KeyLineMapper::feed(std::string_view piece, std::string& output) {
    while (!piece.empty()) {
        const auto* end = static_cast<const char*>(std::memchr(piece.data(), '\n', piece.size()));
        if (end == nullptr) {
            if (unfinished_.size() + piece.size() > kLineBytesMax) {
                return std::unexpected(KeyLineError{line_ + 1, "is longer than any key can be"});
            }
            unfinished_.append(piece);
            return {};
        }
        std::string_view line = piece.substr(0, static_cast<std::size_t>(end - piece.data()));
        piece.remove_prefix(line.size() + 1);
        if (!unfinished_.empty()) {
            unfinished_.append(line);
            line = unfinished_;
        }
        PARTITA_TRY(map_line(line, output));
        unfinished_.clear();
    }
    return {};
}

std::expected<void, KeyLineError> KeyLineMapper::finish(std::string& output) {
    if (unfinished_.empty()) {
        return {};
    }
    auto mapped = map_line(unfinished_, output);
    unfinished_.clear();
    return mapped;
}

std::expected<void, KeyLineError> KeyLineMapper::map_line(std::string_view line, std::string& output) {
    ++line_;
    Bytes key = as_bytes(line);
    if (notation_ == Notation::hexadecimal) {
        if (!decode_hexadecimal(line, decoded_)) {
            return std::unexpected(KeyLineError{line_, "is not hexadecimal"});
        }
        key = as_bytes(decoded_);
    }
    const std::optional<PartitionIndex> partition = partition_of(partitioner_, key, partition_count_);
    if (!partition) {
        output += "-\n";
        return {};
    }
    char digits[12];
    char* const end = std::to_chars(digits, digits + sizeof(digits), partition->value).ptr;
    *end = '\n';
    output.append(digits, static_cast<std::size_t>(end + 1 - digits));
    return {};
}

}  // namespace partita::partitioners
