#include "broker/partitioners/families.h"

#include <array>
#include <cstdlib>

#include "broker/partitioners/hashes.h"
#include "protocol/assert.h"

namespace partita::partitioners {
namespace {

using enum Rule;

constexpr std::array<FamilyDefinition, kFamilyCount> kFamilies = {{
    {Family::murmur2_pos, "murmur2-pos", Hash::murmur2, positive, "Java and all on top of it, franz-go, KafkaJS 2, kafka-python"},
    {Family::murmur2_uns, "murmur2-uns", Hash::murmur2, unsigned_, "@platformatic/kafka, KafkaEx's legacy partitioner"},
    {Family::murmur2_sabs, "murmur2-sabs", Hash::murmur2, signed_absolute, "sarama with a custom hash"},
    {Family::crc32_uns, "crc32-uns", Hash::crc32, unsigned_, "librdkafka and its bindings, ruby-kafka, phpkafka"},
    {Family::crc32_pos, "crc32-pos", Hash::crc32, positive, "sarama with a custom hash"},
    {Family::crc32_sabs, "crc32-sabs", Hash::crc32, signed_absolute, "sarama with a custom hash"},
    {Family::fnv1a_sabs, "fnv1a-sabs", Hash::fnv1a, signed_absolute, "sarama, kafka-go's Hash, librdkafka's fnv1a"},
    {Family::fnv1a_pos, "fnv1a-pos", Hash::fnv1a, positive, "Elastic Beats, reference hash of sarama and kafka-go"},
    {Family::fnv1a_uns, "fnv1a-uns", Hash::fnv1a, unsigned_, "franz-go's SaramaHasher"},
    {Family::kjs_legacy_pos, "kjs_legacy-pos", Hash::kjs_legacy, positive, "KafkaJS 1 and its LegacyPartitioner"},
    {Family::lookup3_sabs, "lookup3-sabs", Hash::lookup3, signed_absolute, "Event Hubs partition keys (AMQP, HTTP)"},
    {Family::phash2_uns, "phash2-uns", Hash::phash2, unsigned_, "brod's hash"},
    {Family::h31_uns, "h31-uns", Hash::h31, unsigned_, "kafka-node's keyed partitioner"},
    {Family::xxh32_uns, "xxh32-uns", Hash::xxh32, unsigned_, "kafka-rust"},
    {Family::xxh64_uns, "xxh64-uns", Hash::xxh64, unsigned_, "older kafka-rust"},
    {Family::murmur2_pos_time_window, "murmur2-pos-time-window", Hash::murmur2_time_window, positive,
     "Kafka Streams, windowed keys"},
    {Family::murmur2_pos_session_window, "murmur2-pos-session-window", Hash::murmur2_session_window, positive,
     "Kafka Streams, session-windowed keys"},
}};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < kFamilies.size(); ++i) {
        if (static_cast<std::size_t>(kFamilies[i].family) != i) {
            return false;
        }
    }
    return true;
}
static_assert(is_in_order(), "families are looked up by their number");

std::size_t window_size(Hash hash) {
    if (hash == Hash::murmur2_time_window) {
        return 8;
    }
    if (hash == Hash::murmur2_session_window) {
        return 16;
    }
    return 0;
}

/// For hashes of at most 31 bits all rules give the same result.
bool is_never_negative(Hash hash) { return hash == Hash::phash2 || hash == Hash::h31; }

}  // namespace

std::span<const FamilyDefinition> families() { return kFamilies; }

const FamilyDefinition& definition(Family family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::optional<Family> family_by_id(std::string_view id) {
    for (const FamilyDefinition& candidate : kFamilies) {
        if (candidate.id == id) {
            return candidate.family;
        }
    }
    return std::nullopt;
}

std::uint32_t hash_of(Hash hash, Bytes key) {
    switch (hash) {
        case Hash::murmur2:
            return murmur2(key);
        case Hash::fnv1a:
            return fnv1a(key);
        case Hash::crc32:
            return crc32(key);
        case Hash::kjs_legacy:
            return kafkajs_legacy(key);
        case Hash::lookup3:
            return lookup3_folded(key);
        case Hash::phash2:
            return phash2(key);
        case Hash::h31:
            return h31(key);
        case Hash::xxh32:
            return xxh32(key);
        case Hash::xxh64:
            return xxh64_low(key);
        case Hash::murmur2_time_window:
        case Hash::murmur2_session_window:
            PARTITA_ASSERT(is_applicable(hash, key.size()), "a windowed key is as long as its window at least");
            return murmur2(key.first(key.size() - window_size(hash)));
    }
    PARTITA_ASSERT(false, "a hash of the enum");
    return 0;
}

bool is_applicable(Hash hash, std::size_t key_size) { return key_size >= window_size(hash); }

PartitionIndex apply(Rule rule, std::uint32_t hash, std::int32_t partition_count) {
    PARTITA_ASSERT(partition_count >= 1, "there is a partition to choose");
    switch (rule) {
        case positive:
            return {static_cast<std::int32_t>(hash & 0x7fffffffu) % partition_count};
        case unsigned_:
            return {static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(partition_count))};
        case signed_absolute:
            // Take the remainder first: the absolute value of the lowest integer does not exist.
            return {std::abs(static_cast<std::int32_t>(hash) % partition_count)};
    }
    PARTITA_ASSERT(false, "a rule of the enum");
    return kNoPartition;
}

PartitionIndex partition_of(Family family, Bytes key, std::int32_t partition_count) {
    const FamilyDefinition& known = definition(family);
    if (!is_applicable(known.hash, key.size())) {
        return kNoPartition;
    }
    return apply(known.rule, hash_of(known.hash, key), partition_count);
}

FamilySet families_that_agree(Bytes key, PartitionIndex partition, std::int32_t partition_count, FamilySet candidates) {
    std::array<std::uint32_t, kHashCount> hashes;
    std::uint32_t known_hashes = 0;
    FamilySet agreeing;
    candidates.for_each([&](Family family) {
        const FamilyDefinition& known = definition(family);
        if (!is_applicable(known.hash, key.size())) {
            return;
        }
        const auto slot = static_cast<std::size_t>(known.hash);
        if ((known_hashes & (1u << slot)) == 0) {
            hashes[slot] = hash_of(known.hash, key);
            known_hashes |= 1u << slot;
        }
        if (apply(known.rule, hashes[slot], partition_count) == partition) {
            agreeing.insert(family);
        }
    });
    return agreeing;
}

bool are_equivalent(Family one, Family other, std::int32_t partition_count) {
    const FamilyDefinition& a = definition(one);
    const FamilyDefinition& b = definition(other);
    if (one == other || partition_count == 1) {
        return true;
    }
    if (a.hash != b.hash) {
        return false;
    }
    if (a.rule == b.rule || partition_count == 2 || is_never_negative(a.hash)) {
        return true;
    }
    const bool is_power_of_two = (partition_count & (partition_count - 1)) == 0;
    return is_power_of_two && a.rule != signed_absolute && b.rule != signed_absolute;
}

FamilySet equivalence_class(Family family, std::int32_t partition_count) {
    FamilySet same;
    for (const FamilyDefinition& candidate : kFamilies) {
        if (are_equivalent(family, candidate.family, partition_count)) {
            same.insert(candidate.family);
        }
    }
    return same;
}

std::string to_string(FamilySet set) {
    std::string text;
    set.for_each([&](Family family) {
        text += text.empty() ? "" : " or ";
        text += definition(family).id;
    });
    return text.empty() ? "none" : text;
}

}  // namespace partita::partitioners
