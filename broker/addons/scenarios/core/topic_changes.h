#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads what people change in a review: the partition counts that files wish for topics.
namespace partita::scenarios {

/// A file wishes this for a topic.
struct TopicWish {
    enum class Kind : std::uint8_t {
        count,    ///< so many partitions
        unknown,  ///< a number that the file does not know yet
        removal,  ///< no topic of this name any more
        renewal,  ///< a new topic in place of the old one, whose records are gone
    };
    Kind kind{};
    std::string topic;
    std::int32_t partitions = 0;
    /// The file that says so.
    std::string file;
};

/// Bounds of one file.
inline constexpr std::size_t kChangesBytesMax = std::size_t{32} << 20;
inline constexpr std::size_t kChangesMax = 10'000;

/// Reads one file of these forms:
/// - Strimzi's KafkaTopic resources as YAML, among any other resources;
/// - the plan of Terraform as JSON (`terraform show -json`), with the topics of the providers Mongey/kafka and Confluent;
/// - lines of kafka-topics with --alter, --topic and --partitions, as in a script;
/// - our own list: a mapping `topics` of names to counts, as in a seed.
/// Other content of these files is ignored. The error is a sentence: another form, or a wish that makes no sense.
[[nodiscard]] std::expected<std::vector<TopicWish>, std::string> read_changes(std::string_view text, const std::string& file);

}  // namespace partita::scenarios
