#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::http {

/// A record that a person writes by hand. Unset keys and values are null.
struct WrittenRecord {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::map<std::string, std::optional<std::string>> headers;
    /// At most the largest number of a partition.
    std::optional<std::int64_t> partition;
};

/// The partition that the person chose. Otherwise the one where the Java client would put the record, or the first one for a
/// record without a key. The topic need not have a chosen partition.
[[nodiscard]] PartitionIndex place_of(const WrittenRecord& record, std::int32_t partition_count);

/// The record as a batch, with the time `now`.
[[nodiscard]] std::vector<std::byte> batch_of(const WrittenRecord& record, TimestampMs now);

}  // namespace partita::http
