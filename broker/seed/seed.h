#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "broker/partitioners/clients.h"
#include "broker/yaml/reader.h"
#include "broker/yaml/yaml.h"

/// Seeds: topics, records and offsets of groups with which a test begins, as people write them down (docs/seed.md).
namespace partita::seed {

/// A topic to create.
struct SeedTopic {
    std::string name;
    /// Unset: as many as the cluster gives.
    std::optional<std::int32_t> partitions;
    /// -1: as many as the cluster gives.
    std::int16_t replication_factor = -1;
    std::vector<std::pair<std::string, std::string>> configs;
};

/// How a record finds its partition.
struct SeedPlace {
    /// Set: this one.
    std::optional<std::int32_t> partition;
    /// Else by the key. Unset: as Kafka's Java client does.
    std::optional<partitioners::ClientPartitioner> partitioner;
    /// Set: as by a producer that knows this number of partitions. At most as many as the topic has.
    std::optional<std::int32_t> known_partitions;
};

/// A record with its own bytes. An empty optional is null.
struct SeedRecord {
    std::string topic;
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    SeedPlace place;
    /// Milliseconds since 1970; unset: now.
    std::optional<std::int64_t> timestamp_ms;
};

/// Many records of one topic. The same generator always makes the same records.
struct SeedGenerator {
    static constexpr std::int64_t kRecordsMax = 1'000'000'000;
    static constexpr std::int64_t kValueBytesMax = 16 * 1024 * 1024;

    std::string topic;
    std::int64_t count = 0;
    /// Records have one of this number of keys, at random; 0: they have none.
    std::int64_t keys = 0;
    std::uint64_t seed = 0;
    /// Texts in which {n} stands for the number of the record, from 0 on, and {key} for the number of its key.
    std::string key = "key-{key}";
    std::string value = "record {n}";
    /// Shorter values are filled with random letters up to this size.
    std::int64_t value_bytes = 0;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    SeedPlace place;
    /// The time of the first record; unset: each has the time of its writing.
    std::optional<std::int64_t> timestamp_ms;
    /// The time between two records, with `timestamp_ms`.
    std::int64_t every_ms = 0;

    /// The record of this number, from 0 to count - 1.
    [[nodiscard]] SeedRecord record(std::int64_t number) const;
};

/// How far a group has read a partition.
struct SeedOffset {
    enum class Kind : std::uint8_t {
        number,    ///< up to the offset `value`
        earliest,  ///< nothing
        latest,    ///< everything
        percent,   ///< `value` percent of the records
    };
    Kind kind{};
    std::int64_t value = 0;

    /// The offset to commit in a partition with these first and next offsets.
    [[nodiscard]] std::int64_t within(std::int64_t start, std::int64_t end) const;
};

/// An offset that a group has committed.
struct SeedCommit {
    std::string group;
    std::string topic;
    /// Unset: all partitions of the topic.
    std::optional<std::int32_t> partition;
    SeedOffset offset;
};

/// A part of a file. Its topics come before its records, and these before its offsets.
struct Seed {
    std::vector<SeedTopic> topics;
    std::vector<std::variant<SeedRecord, SeedGenerator>> records;
    std::vector<SeedCommit> commits;
};

/// Bounds of a file that is read at once. Larger ones are JSON lines.
inline constexpr yaml::Limits kSeedLimits{.bytes_max = std::size_t{8} << 20, .values_max = 1'000'000, .keys_max = 20'000};
/// The longest line of JSON lines.
inline constexpr std::size_t kSeedLineBytesMax = std::size_t{4} << 20;

/// Reads a mapping with `topics`, `records` and `groups`. Problems go to the value's reader.
[[nodiscard]] Seed read_seed(const yaml::Value& value);
/// Reads a whole YAML or JSON file.
[[nodiscard]] std::expected<Seed, yaml::Problem> read_seed(std::string_view text);
/// Reads one of JSON lines: a mapping as above, or a record or generator alone. Lines of `partita consume --json` are records.
[[nodiscard]] std::expected<Seed, yaml::Problem> read_seed_line(std::string_view line);
/// Reads a generator, such as a scenario's load.
[[nodiscard]] SeedGenerator read_generator(const yaml::Value& value);

/// Chooses partitions. Records without a key, that no partitioner places, go to one partition after the other.
class Placer {
  public:
    /// `partitions`: those of the record's topic. The error is a sentence: the record names a partition that does not exist.
    [[nodiscard]] std::expected<std::int32_t, std::string> place(const SeedRecord& record, std::int32_t partitions);

  private:
    std::uint32_t next_ = 0;
};

}  // namespace partita::seed
