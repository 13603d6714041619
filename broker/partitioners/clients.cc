#include "broker/partitioners/clients.h"

#include <algorithm>
#include <array>
#include <string>

#include "protocol/edit_distance.h"

namespace partita::partitioners {
namespace {

using enum KeylessRule;
using Names = std::span<const std::string_view>;

constexpr std::string_view kJavaNames[] = {"apache-kafka-java",
                                           "default-partitioner",
                                           "spring",
                                           "connect",
                                           "debezium",
                                           "streams",
                                           "ksqldb",
                                           "flink",
                                           "vertx",
                                           "reactor-kafka",
                                           "smallrye"};
constexpr std::string_view kJavaIgnoringNames[] = {"uniform-sticky", "partitioner.ignore.keys"};
constexpr std::string_view kLibrdkafkaNames[] = {"consistent-random",
                                                 "confluent-kafka-python",
                                                 "confluent-kafka-go",
                                                 "confluent-kafka-dotnet",
                                                 "confluent-dotnet",
                                                 "node-rdkafka",
                                                 "rust-rdkafka",
                                                 "rdkafka-ruby",
                                                 "karafka",
                                                 "waterdrop",
                                                 "php-rdkafka",
                                                 "kcat",
                                                 "vector",
                                                 "fluent-bit"};
constexpr std::string_view kLibrdkafkaConsistentNames[] = {"consistent"};
constexpr std::string_view kLibrdkafkaMurmurRandomNames[] = {"murmur2-random"};
constexpr std::string_view kLibrdkafkaFnvRandomNames[] = {"fnv1a-random"};
constexpr std::string_view kConfluentJavascriptNames[] = {"@confluentinc/kafka-javascript"};
constexpr std::string_view kSaramaNames[] = {"sarama-hash"};
constexpr std::string_view kKafkaGoNames[] = {"segmentio"};
constexpr std::string_view kFranzNames[] = {"kgo", "franz"};
constexpr std::string_view kKafkajsNames[] = {"kafkajs2"};
constexpr std::string_view kKafkajsLegacyNames[] = {"kafkajs1"};
constexpr std::string_view kPlatformaticNames[] = {"@platformatic/kafka"};
constexpr std::string_view kKafkaPythonNames[] = {"aiokafka"};
constexpr std::string_view kKafkaExNames[] = {"kafka-ex"};
constexpr std::string_view kBrodNames[] = {"broadway", "erlang", "phash2"};
constexpr std::string_view kPhpkafkaNames[] = {"longlang"};
constexpr std::string_view kKafkaNodeNames[] = {"h31"};
constexpr std::string_view kBeatsNames[] = {"filebeat", "metricbeat", "elastic-beats"};
constexpr std::string_view kEventHubsNames[] = {"event-hubs", "azure"};
constexpr std::string_view kRedpandaConnectOldNames[] = {"benthos"};

constexpr auto kClients = std::to_array<ClientPartitioner>({
    {"java", Family::murmur2_pos, sticky, hashed, "the Java producer's default, and all that wraps it", kJavaNames},
    {"java-round-robin", std::nullopt, round_robin, round_robin,
     "RoundRobinPartitioner, UniformStickyPartitioner, partitioner.ignore.keys=true", kJavaIgnoringNames},
    {"streams-time-window", Family::murmur2_pos_time_window, sticky, hashed, "Kafka Streams sinks with windowed keys", {}},
    {"streams-session-window",
     Family::murmur2_pos_session_window,
     sticky,
     hashed,
     "Kafka Streams sinks with session windows",
     {}},
    {"librdkafka", Family::crc32_uns, sticky, sticky, "consistent_random, the default of librdkafka and its bindings",
     kLibrdkafkaNames},
    {"librdkafka-consistent", Family::crc32_uns, zero, zero, "partitioner=consistent", kLibrdkafkaConsistentNames},
    {"librdkafka-murmur2", Family::murmur2_pos, hashed, hashed, "partitioner=murmur2", {}},
    {"librdkafka-murmur2-random", Family::murmur2_pos, sticky, hashed, "partitioner=murmur2_random",
     kLibrdkafkaMurmurRandomNames},
    {"librdkafka-fnv1a", Family::fnv1a_sabs, hashed, hashed, "partitioner=fnv1a", {}},
    {"librdkafka-fnv1a-random", Family::fnv1a_sabs, sticky, hashed, "partitioner=fnv1a_random", kLibrdkafkaFnvRandomNames},
    {"confluent-kafka-javascript", Family::murmur2_pos, sticky, hashed, "the KafkaJS-like interface, which forces murmur2_random",
     kConfluentJavascriptNames},
    {"sarama", Family::fnv1a_sabs, random, hashed, "NewHashPartitioner, the default", kSaramaNames},
    {"sarama-reference", Family::fnv1a_pos, random, hashed, "NewReferenceHashPartitioner", {}},
    {"sarama-crc32", Family::crc32_uns, random, hashed, "NewConsistentCRCHashPartitioner", {}},
    {"sarama-murmur2", Family::murmur2_pos, random, hashed, "NewMurmur2Partitioner", {}},
    {"kafka-go", std::nullopt, round_robin, round_robin, "the Writer's default: keys are ignored", kKafkaGoNames},
    {"kafka-go-hash", Family::fnv1a_sabs, round_robin, hashed, "Hash", {}},
    {"kafka-go-reference", Family::fnv1a_pos, random, hashed, "ReferenceHash", {}},
    {"kafka-go-crc32", Family::crc32_uns, random, random, "CRC32Balancer", {}},
    {"kafka-go-crc32-consistent", Family::crc32_uns, zero, zero, "CRC32Balancer{Consistent: true}", {}},
    {"kafka-go-murmur2", Family::murmur2_pos, random, hashed, "Murmur2Balancer", {}},
    {"kafka-go-murmur2-consistent", Family::murmur2_pos, hashed, hashed, "Murmur2Balancer{Consistent: true}", {}},
    {"franz-go", Family::murmur2_pos, sticky, hashed, "UniformBytesPartitioner and StickyKeyPartitioner with their own hasher",
     kFranzNames},
    {"franz-go-sarama-hasher",
     Family::fnv1a_uns,
     sticky,
     hashed,
     "SaramaHasher(fnv32a) on 64-bit machines; not what sarama does",
     {}},
    {"franz-go-sarama-compat", Family::fnv1a_sabs, sticky, hashed, "SaramaCompatHasher(fnv32a)", {}},
    {"kafkajs", Family::murmur2_pos, round_robin, hashed, "DefaultPartitioner of KafkaJS 2", kKafkajsNames},
    {"kafkajs-legacy", Family::kjs_legacy_pos, round_robin, hashed, "KafkaJS 1, and LegacyPartitioner of KafkaJS 2",
     kKafkajsLegacyNames},
    {"platformatic", Family::murmur2_uns, round_robin, hashed,
     "the default of @platformatic/kafka; differs from Java unless the count is a power of two", kPlatformaticNames},
    {"platformatic-compatibility", Family::murmur2_pos, zero, hashed, "compatibilityPartitioner", {}},
    {"kafka-python", Family::murmur2_pos, random, hashed, "DefaultPartitioner of kafka-python and aiokafka", kKafkaPythonNames},
    {"kafkaex", Family::murmur2_pos, random, hashed, "DefaultPartitioner of KafkaEx", kKafkaExNames},
    {"kafkaex-legacy", Family::murmur2_uns, random, hashed, "LegacyPartitioner of KafkaEx", {}},
    {"brod", Family::phash2_uns, random, hashed, "the hash partitioner of brod, which must be chosen", kBrodNames},
    {"ruby-kafka", Family::crc32_uns, random, hashed, "the default", {}},
    {"phpkafka", Family::crc32_uns, round_robin, hashed, "DefaultPartitioner of longlang/phpkafka", kPhpkafkaNames},
    {"kafka-node", Family::h31_uns, hashed, hashed, "KeyedPartitioner, which must be chosen", kKafkaNodeNames},
    {"kafka-rust", Family::xxh32_uns, round_robin, round_robin, "DefaultPartitioner; the empty key counts as none", {}},
    {"kafka-rust-xxh64", Family::xxh64_uns, round_robin, round_robin, "older releases", {}},
    {"beats", Family::fnv1a_pos, random, hashed, "the hash of Elastic Beats", kBeatsNames},
    {"redpanda-connect", Family::murmur2_pos, sticky, hashed, "the kafka_franz output", {}},
    {"redpanda-connect-kafka", Family::fnv1a_sabs, random, hashed, "the older kafka output, fnv1a_hash",
     kRedpandaConnectOldNames},
    {"eventhubs", Family::lookup3_sabs, hashed, hashed, "partition keys given over AMQP or HTTP; Kafka clients use their own",
     kEventHubsNames},
});

std::string normal_form(std::string_view name) {
    std::string normal(name);
    std::ranges::transform(normal, normal.begin(), [](char letter) {
        if (letter == '_') {
            return '-';
        }
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return normal;
}

}  // namespace

std::string_view to_string(KeylessRule rule) {
    switch (rule) {
        case hashed:
            return "hashed";
        case zero:
            return "partition 0";
        case sticky:
            return "sticky";
        case random:
            return "random";
        case round_robin:
            return "round robin";
    }
    return "";
}

std::span<const ClientPartitioner> client_partitioners() { return kClients; }

std::optional<ClientPartitioner> find_partitioner(std::string_view name) {
    const std::string wanted = normal_form(name);
    for (const FamilyDefinition& family : families()) {
        if (normal_form(family.id) == wanted) {
            return ClientPartitioner{.name = family.id, .family = family.family, .description = family.used_by};
        }
    }
    for (const ClientPartitioner& client : kClients) {
        if (client.name == wanted ||
            std::ranges::any_of(client.aliases, [&](std::string_view alias) { return normal_form(alias) == wanted; })) {
            return client;
        }
    }
    return std::nullopt;
}

std::vector<std::string_view> similar_partitioners(std::string_view name) {
    constexpr std::size_t kSuggestionsMax = 3;
    constexpr std::size_t kNameLengthMax = 64;
    const std::string wanted = normal_form(name.substr(0, kNameLengthMax));
    std::vector<std::pair<std::size_t, std::string_view>> near;
    const auto consider = [&](std::string_view candidate) {
        // A prefix or a part of a name is similar; otherwise up to a third of the letters may be wrong.
        const bool is_part = wanted.size() >= 3 && candidate.find(wanted) != std::string_view::npos;
        const std::size_t distance = is_part ? 1 : edit_distance(wanted, normal_form(candidate));
        if (distance <= std::max<std::size_t>(1, wanted.size() / 3)) {
            near.emplace_back(distance, candidate);
        }
    };
    for (const ClientPartitioner& client : kClients) {
        consider(client.name);
    }
    for (const FamilyDefinition& family : families()) {
        consider(family.id);
    }
    std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
    std::vector<std::string_view> names;
    for (const auto& [distance, candidate] : near) {
        if (names.size() < kSuggestionsMax) {
            names.push_back(candidate);
        }
    }
    return names;
}

std::optional<PartitionIndex> partition_of(const ClientPartitioner& partitioner, std::optional<Bytes> key,
                                           std::int32_t partition_count) {
    const KeylessRule rule = key ? partitioner.empty_key : partitioner.null_key;
    const Bytes bytes = key.value_or(Bytes{});
    if (bytes.empty() && rule != hashed) {
        return rule == zero ? std::optional(PartitionIndex{0}) : std::nullopt;
    }
    if (!partitioner.family) {
        return std::nullopt;
    }
    const PartitionIndex partition = partition_of(*partitioner.family, bytes, partition_count);
    return partition == kNoPartition ? std::nullopt : std::optional(partition);
}

std::optional<Family> expected_family(std::string_view client_software_name) {
    struct Expectation {
        std::string_view software;
        Family family;
    };
    static constexpr Expectation kExpectations[] = {
        {"apache-kafka-java", Family::murmur2_pos},
        {"librdkafka", Family::crc32_uns},
        {"confluent-kafka-python", Family::crc32_uns},
        {"confluent-kafka-go", Family::crc32_uns},
        {"confluent-kafka-dotnet", Family::crc32_uns},
        {"sarama", Family::fnv1a_sabs},
        {"kgo", Family::murmur2_pos},
        {"kafka-python", Family::murmur2_pos},
        {"platformatic-kafka", Family::murmur2_uns},
    };
    for (const Expectation& expectation : kExpectations) {
        // librdkafka's bindings append their version and librdkafka's: "confluent-kafka-python-2.5.0-rdkafka".
        if (client_software_name.starts_with(expectation.software)) {
            return expectation.family;
        }
    }
    return std::nullopt;
}

}  // namespace partita::partitioners
