#pragma once

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/compression.h"
#include "protocol/types.h"

namespace partita::test {

/// A record for the writer of the formats 0 and 1.
struct LegacyWritten {
    std::int64_t offset = 0;
    std::int64_t timestamp = -1;
    std::optional<std::string> key = std::nullopt;
    std::optional<std::string> value = std::nullopt;
};

/// How the writer stores records. Our own writer, from the description of the formats; what kafka-python 2.0.2 wrote is in
/// tests/unit/protocol/legacy_records_test.cc.
struct LegacyFormat {
    int magic = 1;
    Codec codec = Codec::none;
    /// Set: LogAppendTime with this time.
    std::optional<std::int64_t> log_append_time = std::nullopt;
};

/// Appends one entry to `out`.
inline void write_legacy_entry(const LegacyFormat& format, std::int64_t offset, std::int64_t timestamp,
                               const std::optional<std::string>& key, const std::optional<std::string>& value,
                               std::vector<std::byte>& out) {
    std::vector<std::byte> covered;
    const auto put = [](std::vector<std::byte>& bytes, auto number) {
        bytes.resize(bytes.size() + sizeof number);
        store_big_endian(bytes.data() + bytes.size() - sizeof number, number);
    };
    const auto put_text = [&](const std::optional<std::string>& text) {
        put(covered, text ? static_cast<std::int32_t>(text->size()) : std::int32_t{-1});
        if (text) {
            const Bytes bytes = as_bytes(*text);
            covered.insert(covered.end(), bytes.begin(), bytes.end());
        }
    };
    constexpr int kLogAppendTimeBit = 8;
    put(covered, static_cast<std::int8_t>(format.magic));
    put(covered, static_cast<std::int8_t>(static_cast<int>(format.codec) | (format.log_append_time ? kLogAppendTimeBit : 0)));
    if (format.magic > 0) {
        put(covered, format.log_append_time.value_or(timestamp));
    }
    put_text(key);
    put_text(value);
    put(out, offset);
    put(out, static_cast<std::int32_t>(covered.size() + 4));
    put(out, static_cast<std::uint32_t>(
                 ::crc32(0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size()))));
    out.insert(out.end(), covered.begin(), covered.end());
}

/// Appends the records as a broker of that time stored them: one entry each, or all in one compressed entry.
inline void write_legacy(const LegacyFormat& format, const std::vector<LegacyWritten>& records, std::vector<std::byte>& out) {
    if (format.codec == Codec::none) {
        for (const LegacyWritten& record : records) {
            write_legacy_entry(format, record.offset, record.timestamp, record.key, record.value, out);
        }
        return;
    }
    std::vector<std::byte> inner;
    std::int64_t newest = -1;
    for (const LegacyWritten& record : records) {
        const std::int64_t offset = format.magic > 0 ? record.offset - records.front().offset : record.offset;
        write_legacy_entry({.magic = format.magic}, offset, record.timestamp, record.key, record.value, inner);
        newest = std::max(newest, record.timestamp);
    }
    std::vector<std::byte> packed;
    compress(format.codec, default_compression_level(format.codec), inner, packed);
    write_legacy_entry(format, records.back().offset, newest, std::nullopt, std::string(as_text(packed)), out);
}

inline std::vector<std::byte> legacy_bytes(const LegacyFormat& format, const std::vector<LegacyWritten>& records) {
    std::vector<std::byte> out;
    write_legacy(format, records, out);
    return out;
}

}  // namespace partita::test
