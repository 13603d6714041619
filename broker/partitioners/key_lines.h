#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/partitioners/clients.h"

namespace partita::partitioners {

struct KeyLineError {
    /// Counted from 1.
    std::uint64_t line = 0;
    /// The fault as the rest of a sentence: "is not hexadecimal".
    std::string_view fault;
};

/// Maps keys, one per line of text, to partitions, one per line: "-" if the key does not decide (see clients.h). Input comes in
/// pieces that may end anywhere; the mapper keeps only an unfinished line.
class KeyLineMapper {
  public:
    enum class Notation : std::uint8_t {
        /// The key is all bytes between two line feeds, including a carriage return.
        text,
        /// Two hexadecimal digits for each byte.
        hexadecimal,
    };
    /// Kafka's own limit for a request is 100 MiB; no record, and so no key, is longer.
    static constexpr std::size_t kLineBytesMax = std::size_t{200} << 20;

    /// partition_count >= 1.
    KeyLineMapper(const ClientPartitioner& partitioner, std::int32_t partition_count, Notation notation);

    /// Maps all lines that end in this piece and appends to `output`. The mapper is unusable after an error.
    [[nodiscard]] std::expected<void, KeyLineError> feed(std::string_view piece, std::string& output);
    /// Ends the input: a last line without a line feed counts.
    [[nodiscard]] std::expected<void, KeyLineError> finish(std::string& output);

  private:
    [[nodiscard]] std::expected<void, KeyLineError> map_line(std::string_view line, std::string& output);

    ClientPartitioner partitioner_;
    std::int32_t partition_count_;
    Notation notation_;
    std::string unfinished_;
    std::string decoded_;
    std::uint64_t line_ = 0;
};

}  // namespace partita::partitioners
