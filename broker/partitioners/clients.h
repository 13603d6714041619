#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/partitioners/families.h"

/// The partitioners of clients, by familiar names: their hash family, and their rule for records without a key.
namespace partita::partitioners {

/// The partition of a record whose key is null or empty.
enum class KeylessRule : std::uint8_t {
    /// The empty key is hashed like any other.
    hashed,
    /// Always partition 0.
    zero,
    /// One partition for some time, then another.
    sticky,
    random,
    round_robin,
};
/// "hashed", "partition 0", "sticky", "random", "round robin".
[[nodiscard]] std::string_view to_string(KeylessRule rule);

struct ClientPartitioner {
    /// "java", "librdkafka", "sarama" ...
    std::string_view name;
    /// Null if the partitioner ignores keys.
    std::optional<Family> family;
    KeylessRule null_key = KeylessRule::hashed;
    KeylessRule empty_key = KeylessRule::hashed;
    /// Its class or setting, and other clients that use it.
    std::string_view description;
    std::span<const std::string_view> aliases;
};

/// Every known partitioner; the first of each client is its default.
[[nodiscard]] std::span<const ClientPartitioner> client_partitioners();

/// Finds a partitioner by its name, by an alias or by the id of a family. Ignores case; '_' and '-' are equal. For the id of a
/// family the result hashes empty keys, and treats a null key as an empty one.
[[nodiscard]] std::optional<ClientPartitioner> find_partitioner(std::string_view name);

/// Known names similar to an unknown one, most similar first, at most three.
[[nodiscard]] std::vector<std::string_view> similar_partitioners(std::string_view name);

/// The partition for a record with this key (null: no key); null if the key does not decide.
[[nodiscard]] std::optional<PartitionIndex> partition_of(const ClientPartitioner& partitioner, std::optional<Bytes> key,
                                                         std::int32_t partition_count);

/// The default of clients with this software name (ApiVersions v3 and up). A first guess, never a proof: bindings choose names of
/// their own, and partitioners are a setting.
[[nodiscard]] std::optional<Family> expected_family(std::string_view client_software_name);

}  // namespace partita::partitioners
