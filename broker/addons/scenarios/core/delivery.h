#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Compares the records that an application received with those of its topic.
namespace partita::scenarios {

/// A record of the application's topic.
struct TopicRecord {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::int64_t timestamp_ms = 0;
    std::optional<std::string> key;
};

/// The application says that it processed this record.
struct Report {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    /// The instance that said so; its reports are in its order.
    std::int32_t instance = 0;
    /// When it was heard: a report of a later round came later. Within one round, reports of two instances are in no order.
    std::int64_t round = 0;
};

/// A scenario judges at most so many records, and as many reports.
inline constexpr std::size_t kJudgedMax = 2'000'000;

/// Where the application begins in each partition; 0 in others.
using Beginnings = std::map<std::int32_t, std::int64_t>;

/// Each number counts records, but `disordered` keys. A sentence with an example says more; it is empty if the number is 0.
struct Delivery {
    std::int64_t expected = 0;
    std::int64_t lost = 0;
    std::string lost_text;
    std::int64_t twice = 0;
    std::string twice_text;
    std::int64_t disordered = 0;
    std::string disordered_text;
    /// Reports of records that the topic does not have.
    std::int64_t unknown = 0;
    std::string unknown_text;
};

/// Judges reports. Records are in the order of their partitions. Two records of a key are in order by their offsets within a
/// partition, and by their timestamps between two; those of equal timestamps are in no order. Only the first report of a record
/// counts for the order: a record that is read again is one that came twice.
[[nodiscard]] Delivery judge(const std::vector<TopicRecord>& records, const std::vector<Report>& reports,
                             const Beginnings& beginnings);

}  // namespace partita::scenarios
