#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/crc32c.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/tests_directory.h"

namespace partita::testing {

using Buffer = std::vector<std::byte>;

/// The bytes of a hex file under tests/golden/batches.
inline Buffer golden_batch(const std::string& name) {
    std::ifstream file(test::tests_directory() / "golden/batches" / (std::string(name) + ".hex"));
    std::string digits;
    for (std::string line; std::getline(file, line);) {
        digits += line;
    }
    EXPECT_FALSE(digits.empty()) << name;
    Buffer bytes;
    for (std::size_t place = 0; place + 1 < digits.size(); place += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(place, 2), nullptr, 16)));
    }
    return bytes;
}

/// A record by value, for comparing.
struct OwnedRecord {
    std::int64_t offset = 0;
    std::int64_t timestamp = 0;
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;

    friend bool operator==(const OwnedRecord&, const OwnedRecord&) = default;
};

inline std::optional<std::string> owned(std::optional<Bytes> bytes) {
    if (!bytes) {
        return std::nullopt;
    }
    return std::string(as_text(*bytes));
}

inline OwnedRecord owned(const RecordView& view) {
    OwnedRecord record{view.offset.value, view.timestamp.value, owned(view.key), owned(view.value), {}};
    RecordHeaderRange headers = view.headers();
    RecordHeader header;
    while (headers.next(header)) {
        record.headers.emplace_back(header.key, owned(header.value));
    }
    return record;
}

inline std::expected<std::vector<OwnedRecord>, BatchError> read_all(Bytes bytes, RecordReaderOptions options = {}) {
    const auto batch = parse_batch(bytes);
    if (!batch) {
        return std::unexpected(batch.error());
    }
    std::vector<OwnedRecord> records;
    const auto walked = for_each_record(*batch, options, [&](const RecordView& record) { records.push_back(owned(record)); });
    if (!walked) {
        return std::unexpected(walked.error());
    }
    return records;
}

inline Batch parsed(Bytes bytes) {
    const auto batch = parse_batch(bytes);
    EXPECT_TRUE(batch);
    return batch.value_or(Batch{});
}

/// Sets a field of the header and makes the checksum right again.
template <class Integer>
void set_field(Buffer& batch, std::size_t place, Integer value) {
    store_big_endian(batch.data() + place, value);
    store_big_endian(batch.data() + 17, crc32c(Bytes(batch).subspan(kBatchCrcCoverageStart)));
}

/// A batch with hand-made payload: what a hostile client could send.
inline Buffer batch_with_payload(Bytes payload, std::int32_t record_count, std::int16_t attributes = 0) {
    BatchBuilder builder;
    Buffer batch;
    builder.build(batch, record_count - 1);
    batch.insert(batch.end(), payload.begin(), payload.end());
    store_big_endian(batch.data() + 8, static_cast<std::int32_t>(batch.size() - kBatchPrefixBytes));
    store_big_endian(batch.data() + 57, record_count);
    set_field(batch, 21, attributes);
    return batch;
}

inline Buffer bytes_of(std::initializer_list<int> values) {
    Buffer bytes;
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

}  // namespace partita::testing
