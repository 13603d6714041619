#include <string>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/catalog_records.h"
#include "broker/catalog/client_quotas.h"
#include "broker/catalog/kafka_metadata.h"
#include "broker/catalog/scram_credentials.h"
#include "broker/insight/fence/fence.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"
#include "tests/unit/catalog/catalog_fixture.h"

/// Feeds the parsers of a data directory's statements about topics: records of our catalog, records of Kafka's metadata log,
/// stored fences.
namespace {

using namespace partita;
using fuzz::Pieces;

enum class Input : std::uint8_t { catalog, kafka_metadata, fence };
constexpr std::uint8_t kInputs = 3;

void check_catalog(Pieces pieces) {
    const catalog::TestConfigRules rules;
    catalog::CatalogCore core(rules);
    while (!pieces.empty()) {
        const bool is_tombstone = pieces.next_byte() != 0;
        const Bytes key = pieces.next();
        // A start ends at the first record that it cannot read.
        if (!core.replay(key, is_tombstone ? std::nullopt : std::optional(pieces.next()))) {
            return;
        }
    }
    if (!core.finish_replay()) {
        return;
    }
    const catalog::CatalogSnapshot& catalog = *core.snapshot();
    for (const catalog::Topic& topic : catalog.topics()) {
        FUZZ_CHECK(catalog.find_topic(topic.id) == &topic);
    }
    (void)catalog::describe_client_quotas(catalog, {}, false);
    (void)catalog::describe_scram_credentials(catalog, {});
}

void check_kafka_metadata(Pieces pieces) {
    catalog::KafkaMetadata metadata;
    while (!pieces.empty()) {
        (void)metadata.apply(pieces.next());
    }
    for (const auto& topic : metadata.topics()) {
        FUZZ_CHECK(topic.partition_count >= 0 && topic.partition_count <= catalog::KafkaMetadata::kPartitionsMax);
    }
    FUZZ_CHECK(metadata.next_producer_id() >= ProducerId{0});
}

void check_fence(std::string_view bytes) {
    const auto fence = insight::Fence::decode(bytes, {1000});
    if (!fence) {
        return;
    }
    const auto again = insight::Fence::decode(fence->encode(), {1000});
    FUZZ_CHECK(again && again->encode() == fence->encode());
}

void append_record(std::vector<std::byte>& input, std::string_view key, std::string_view value) {
    input.push_back(std::byte{0});
    Pieces::append(input, as_bytes(key));
    Pieces::append(input, as_bytes(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes rest = std::as_bytes(std::span(data, size)).subspan(1);
    switch (static_cast<Input>(data[0] % kInputs)) {
        case Input::catalog:
            check_catalog(Pieces(rest));
            break;
        case Input::kafka_metadata:
            check_kafka_metadata(Pieces(rest));
            break;
        case Input::fence:
            check_fence(as_text(rest));
            break;
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    using namespace std::string_literals;
    using namespace std::string_view_literals;
    std::vector<std::vector<std::byte>> seeds;
    const TopicId id{{1, 2, 3}};
    catalog::Topic topic;
    topic.name = "orders";
    topic.id = id;
    topic.partition_count = 6;
    topic.configs = {{"retention.ms", "1000"}};
    catalog::ExpansionEpoch expansion;
    expansion.epoch = 1;
    expansion.old_partition_count = 3;
    expansion.new_partition_count = 6;
    expansion.log_end_offsets = {{5}, {6}, {7}};
    std::vector<std::byte> catalog{static_cast<std::byte>(Input::catalog)};
    for (const catalog::Record& record :
         {catalog::topic_record(topic), catalog::expansion_record(id, expansion), catalog::state_record(7, {1000}),
          catalog::configs_record(catalog::ConfigResourceType::client_quota, "client-id=1:a;user=default;",
                                  {{"producer_byte_rate", "10.0"}}),
          catalog::configs_record(catalog::ConfigResourceType::scram_credential, "alice",
                                  {{"SCRAM-SHA-256", "salt=a,stored_key=b,server_key=c,iterations=4096"}}),
          catalog::identity_record("OB4qqEFMQCmc8CLPf8hLtw", {{"metadata.version", 29}})}) {
        append_record(catalog, record.key, *record.value);
    }
    seeds.push_back(std::move(catalog));

    // Frame 1, then kind and version: a topic, a partition of it, a config of it, its removal.
    std::vector<std::byte> kafka{static_cast<std::byte>(Input::kafka_metadata)};
    const std::string id_text(16, '\7');
    Pieces::append(kafka, as_bytes("\1\2\0\7orders"s + id_text));
    Pieces::append(kafka, as_bytes("\1\3\0\0\0\0\2"s + id_text));
    Pieces::append(kafka, as_bytes("\1\4\0\2\7orders\15retention.ms\0051000"sv));
    Pieces::append(kafka, as_bytes("\1\11\0"s + id_text));
    seeds.push_back(std::move(kafka));

    insight::Fence fence;
    fence.open(1, 2, 4, {5}, {}, {0});
    (void)fence.mark({2}, {0}, {10});
    (void)fence.mark({3}, {0}, {20});
    const std::string encoded = fence.encode();
    std::vector<std::byte> stored{static_cast<std::byte>(Input::fence)};
    stored.insert(stored.end(), as_bytes(encoded).begin(), as_bytes(encoded).end());
    seeds.push_back(std::move(stored));
    return seeds;
}
