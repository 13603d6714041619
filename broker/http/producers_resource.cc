// GET /v1/topics/T/producers: the topic's writers with their partitioners, as far as samples of records prove them; the known
// facts about the topic's keys; and the producer ids in its logs.
//
//   hash_keys=1        keys are shown as hashes

#include <nlohmann/json.hpp>

#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/runtime/queries/topic_producers.h"

namespace partita::http {
namespace {

using insight::KeyHabit;
using insight::ProducerReport;
using insight::ProducerVerdict;
using nlohmann::ordered_json;
using partitioners::FamilySet;

constexpr std::size_t kHeavyKeysShown = 10;

ordered_json ids_of(FamilySet set) {
    ordered_json ids = ordered_json::array();
    set.for_each([&](partitioners::Family family) { ids.push_back(partitioners::definition(family).id); });
    return ids;
}

/// Constant names for scripts.
std::string_view habit_name(KeyHabit habit) {
    switch (habit) {
        case KeyHabit::no_keys:
            return "no-keys";
        case KeyHabit::undecided:
            return "undecided";
        case KeyHabit::hashes:
            return "hashes";
        case KeyHabit::hashes_old_count:
            return "hashes-old-count";
        case KeyHabit::mixed:
            return "mixed";
        case KeyHabit::ignores_keys:
            return "ignores-keys";
        case KeyHabit::one_partition:
            return "one-partition";
        case KeyHabit::explicit_or_custom:
            return "explicit-or-custom";
        case KeyHabit::keyless_one_partition:
            return "keyless-one-partition";
        case KeyHabit::unknown:
            return "unknown";
    }
    return "unknown";
}

ordered_json verdict_json(const ProducerVerdict& verdict) {
    const bool is_declared =
        verdict.habit == KeyHabit::hashes || verdict.habit == KeyHabit::hashes_old_count || verdict.habit == KeyHabit::mixed;
    ordered_json object;
    object["habit"] = habit_name(verdict.habit);
    object["in_words"] = insight::to_string(verdict.habit);
    // Families are named only if they are proven.
    object["families"] = is_declared ? ids_of(verdict.families) : ordered_json::array();
    if (is_declared) {
        object["partition_count"] = verdict.count;
    }
    if (verdict.habit == KeyHabit::mixed) {
        object["second_families"] = ids_of(verdict.second_families);
        object["second_partition_count"] = verdict.second_count;
    }
    object["keys"] = verdict.keys;
    object["agreeing_keys"] = is_declared ? ordered_json(verdict.agreeing_keys) : ordered_json(nullptr);
    return object;
}

ordered_json producer_json(const ProducerReport& report) {
    ordered_json object;
    object["client_id"] = insight::name_text(report.identity.client_id);
    object["address"] = insight::name_text(report.identity.address);
    object["software_name"] = insight::name_text(report.identity.software_name);
    object["software_version"] = insight::name_text(report.identity.software_version);
    object["principal"] =
        report.identity.principal.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(report.identity.principal));
    object["producer_id"] =
        report.identity.producer_id == kNoProducerId ? ordered_json(nullptr) : ordered_json(report.identity.producer_id.value);
    object["port"] = report.identity.port == 0 ? ordered_json(nullptr) : ordered_json(report.identity.port);
    object["program"] = report.program.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(report.program));
    object["connected"] = !report.is_closed;
    object["closed_connections"] = report.closed_connections;
    object["verdict"] = verdict_json(report.verdict);
    object["known_families"] = ids_of(report.known_families);
    object["expected_family"] =
        report.expected_family ? ordered_json(partitioners::definition(*report.expected_family).id) : ordered_json(nullptr);
    object["keyed_records_seen"] = report.keyed_records;
    object["keyless_records_seen"] = report.keyless_records;
    object["stale"] = report.is_stale;
    object["stale_records_seen"] = report.stale_records;
    object["switched_ms"] = report.switched == kNoTimestamp ? ordered_json(nullptr) : ordered_json(report.switched.value);
    object["last_seen_ms"] = report.last_seen.value;
    return object;
}

ordered_json keys_json(const insight::KeyIndex& keys, std::int32_t partition_count, insight::KeyStyle style) {
    ordered_json object;
    object["records_seen"] = keys.records();
    object["bytes_seen"] = keys.bytes();
    object["distinct"] = keys.distinct_keys();
    object["distinct_is_exact"] = keys.is_complete();
    object["distinct_by_partition"] = ordered_json::array();
    for (const std::int64_t count : keys.distinct_keys_by_partition(partition_count)) {
        object["distinct_by_partition"].push_back(count);
    }
    object["heaviest"] = ordered_json::array();
    for (const insight::HeavyHitters::Item& item : keys.heavy_keys()) {
        if (object["heaviest"].size() == kHeavyKeysShown) {
            break;
        }
        ordered_json key;
        insight::add_key(key, item.key, style);
        key["bytes_at_most"] = item.weight;
        key["bytes_at_least"] = item.weight - item.error;
        object["heaviest"].push_back(std::move(key));
    }
    return object;
}

ordered_json indexes_of(const std::vector<PartitionIndex>& partitions) {
    ordered_json indexes = ordered_json::array();
    for (const PartitionIndex partition : partitions) {
        indexes.push_back(partition.value);
    }
    return indexes;
}

ordered_json producer_id_json(const runtime::TopicProducer& producer) {
    return {{"producer_id", producer.producer_id.value},
            {"epoch", producer.epoch.value},
            {"last_write_ms", producer.last_timestamp.value},
            {"partitions", indexes_of(producer.partitions)},
            {"open_transactions", indexes_of(producer.open_in)}};
}

}  // namespace

void serve_producers(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto state = topic_of(surroundings, exchange);
    if (state == nullptr) {
        return;
    }
    const catalog::TopicPointer& topic = state->topic;
    const auto style = exchange->request().parameter("hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    ordered_json object;
    object["schema"] = 1;
    object["broker"] = surroundings.identity.json();
    object["topic"] = topic->name;
    object["partitions"] = topic->partition_count;
    object["detection"] = surroundings.services.config->detection_enable;
    object["verdict"] = nullptr;
    object["producers"] = ordered_json::array();
    object["keys"] = nullptr;
    surroundings.services.insight.keys.with_watch(topic->id, [&](const insight::TopicWatch* watch) {
        if (watch == nullptr) {
            return;
        }
        object["verdict"] = verdict_json(watch->verdict());
        for (const ProducerReport& report : watch->producers()) {
            object["producers"].push_back(producer_json(report));
        }
        object["keys"] = keys_json(watch->keys(), topic->partition_count, style);
    });
    object["producer_ids"] = ordered_json::array();
    for (const runtime::TopicProducer& producer : runtime::topic_producers(*state)) {
        object["producer_ids"].push_back(producer_id_json(producer));
    }
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace partita::http
