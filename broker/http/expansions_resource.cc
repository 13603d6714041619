// GET /v1/topics/T/expansions: the epoch log of a topic.

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/published_topics.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

void add_circumstances(ordered_json& object, const catalog::ExpansionCircumstances& known) {
    const catalog::RequestOrigin& origin = known.requested_by;
    object["requested_by"] = {{"client_id", insight::name_text(origin.client_id)},
                              {"software_name", insight::name_text(origin.software_name)},
                              {"software_version", insight::name_text(origin.software_version)},
                              {"address", insight::name_text(origin.address)},
                              {"principal", insight::name_text(origin.principal)}};
    object["mode"] = known.mode;
    object["verdict"] = known.verdict.empty() ? ordered_json(nullptr) : ordered_json(known.verdict);
    object["findings"] = known.findings;
    object["override"] = known.override_used.empty() ? ordered_json(nullptr) : ordered_json(known.override_used);
    object["group_count"] = known.group_count;
    object["groups"] = ordered_json::array();
    for (const catalog::GroupAtCut& group : known.groups) {
        object["groups"].push_back({{"group", insight::name_text(group.group_id)},
                                    {"state", group.state},
                                    {"members", group.members},
                                    {"committed_partitions", group.committed_partitions},
                                    {"lag", group.lag}});
    }
    object["seeded_groups"] = ordered_json::array();
    for (const std::string& group : known.seeded_groups) {
        object["seeded_groups"].push_back(insight::name_text(group));
    }
}

ordered_json expansion_json(const catalog::ExpansionEpoch& expansion) {
    ordered_json object;
    object["epoch"] = expansion.epoch;
    object["from"] = expansion.old_partition_count;
    object["to"] = expansion.new_partition_count;
    object["time_ms"] = expansion.time.value;
    object["sequence"] = expansion.catalog_sequence;
    object["log_end_offsets"] = ordered_json::array();
    for (std::int32_t partition = 0; partition < expansion.old_partition_count; ++partition) {
        object["log_end_offsets"].push_back(expansion.log_end_offset(PartitionIndex{partition}).value);
    }
    object["circumstances_recorded"] = expansion.circumstances != nullptr;
    if (expansion.circumstances) {
        add_circumstances(object, *expansion.circumstances);
    }
    object["producer_switches"] = ordered_json::array();
    for (const catalog::ProducerSwitch& producer : expansion.producer_switches) {
        object["producer_switches"].push_back({{"client_id", insight::name_text(producer.client_id)},
                                               {"address", insight::name_text(producer.address)},
                                               {"time_ms", producer.time.value},
                                               {"partition", producer.partition.value},
                                               {"offset", producer.offset.value},
                                               {"stale_records", producer.stale_records}});
    }
    return object;
}

}  // namespace

void serve_expansions(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto state = topic_of(surroundings, exchange);
    if (state == nullptr) {
        return;
    }
    const catalog::TopicPointer& topic = state->topic;
    ordered_json object;
    object["schema"] = 1;
    object["broker"] = surroundings.identity.json();
    object["topic"] = topic->name;
    object["topic_id"] = topic->id.to_string();
    object["partitions"] = topic->partition_count;
    // Without the topic's creation time, the history before its first record is unknown (H50).
    const bool is_complete = topic->created_time != kNoTimestamp;
    object["created_time_ms"] = is_complete ? ordered_json(topic->created_time.value) : ordered_json(nullptr);
    object["history_complete"] = is_complete;
    object["expansions"] = ordered_json::array();
    for (const auto& expansion : topic->expansions) {
        object["expansions"].push_back(expansion_json(*expansion));
    }
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace partita::http
