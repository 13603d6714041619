#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/partitioners/families.h"

/// The partitioners of clients by the names that people know: which family hashes their keys, and what they do with
/// records that have none.
namespace partita::partitioners {

/// What happens to a record whose key is null, or empty.
enum class KeylessRule : std::uint8_t {
    /// The empty key is hashed like any other.
    hashed,
    /// Always partition 0.
    zero,
    /// One partition for a while, then another.
    sticky,
    random,
    round_robin,
};
/// "hashed", "partition 0", "sticky", "random", "round robin".
[[nodiscard]] std::string_view to_string(KeylessRule rule);

struct ClientPartitioner {
    /// "java", "librdkafka", "sarama" ...
    std::string_view name;
    /// Null when keys play no part in the choice.
    std::optional<Family> family;
    KeylessRule null_key = KeylessRule::hashed;
    KeylessRule empty_key = KeylessRule::hashed;
    /// Which class or setting it is, and who else uses it.
    std::string_view description;
    std::span<const std::string_view> aliases;
};

/// Every known one; the first of each client is its default.
[[nodiscard]] std::span<const ClientPartitioner> client_partitioners();

/// Finds by the id of a family, by name or by alias. Letters of either case, '_' and '-' are the same. A family by its id
/// hashes empty keys and has no rule for null ones (they count as empty).
[[nodiscard]] std::optional<ClientPartitioner> find_partitioner(std::string_view name);

/// Names to suggest for one that is unknown, nearest first, at most three; those that are not near are left out.
[[nodiscard]] std::vector<std::string_view> similar_partitioners(std::string_view name);

/// Where the partitioner puts a record with this key (null: no key); null when the key does not decide.
[[nodiscard]] std::optional<PartitionIndex> partition_of(const ClientPartitioner& partitioner, std::optional<Bytes> key,
                                                         std::int32_t partition_count);

/// What clients with this software name (ApiVersions v3 and up) do unless they were told otherwise. A prior, never
/// a proof: bindings give names of their own, and partitioners are a setting.
[[nodiscard]] std::optional<Family> expected_family(std::string_view client_software_name);

}  // namespace partita::partitioners
