#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch.h"

namespace partita::test {

/// A record as a simulated client reads it.
struct ReadRecord {
    std::int64_t offset = 0;
    std::string key;
    /// Empty: a tombstone.
    std::string value;
    bool is_tombstone = false;
};

/// Calls `use` for each record that a fetch gave, in order, without markers of transactions.
template <class Use>
void for_each_record_of(const FetchResponse::PartitionData& data, Use use) {
    BatchCursor cursor(data.records.bytes());
    while (cursor.next()) {
        const Batch& batch = cursor.batch();
        if (batch.header.attributes.is_control()) {
            continue;
        }
        (void)for_each_record(batch, {}, [&](const RecordView& record) {
            use(ReadRecord{.offset = record.offset.value,
                           .key = record.key ? std::string(as_text(*record.key)) : std::string(),
                           .value = record.value ? std::string(as_text(*record.value)) : std::string(),
                           .is_tombstone = !record.value});
        });
    }
}

/// The offset behind the last batch that a fetch gave; empty when it gave none.
inline std::optional<std::int64_t> end_of(const FetchResponse::PartitionData& data) {
    std::optional<std::int64_t> end;
    BatchCursor cursor(data.records.bytes());
    while (cursor.next()) {
        end = cursor.batch().header.last_offset().value + 1;
    }
    return end;
}

/// The topic's name in requests. The ledger calls a place NAME, or NAME/ID when one name stands for several topics in turn.
inline std::string name_in_requests(const std::string& topic) { return topic.substr(0, topic.find('/')); }

}  // namespace partita::test
