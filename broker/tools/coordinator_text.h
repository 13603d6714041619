#pragma once

#include <memory>

#include "broker/tools/record_text.h"

/// Records of __consumer_offsets and __transaction_state as JSON.
namespace partita::tools {

/// The records that a formatter shows; it skips all others.
enum class CoordinatorRecords : std::uint8_t {
    offsets,         ///< OffsetsMessageFormatter
    group_metadata,  ///< GroupMetadataMessageFormatter: only groups of the classic protocol, as in Kafka
    transactions,    ///< TransactionLogMessageFormatter
};

/// Like Kafka's formatters since 4.0: {"key":{"type":1,"data":{...}},"value":{"version":4,"data":{...}}}, with no line end.
/// Writing fails if bytes of such a record cannot be decoded.
[[nodiscard]] std::unique_ptr<RecordWriter> coordinator_writer(CoordinatorRecords records);

}  // namespace partita::tools
