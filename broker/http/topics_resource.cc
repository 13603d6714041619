// GET /v1/topics: the topics that the caller may describe, with their sizes. search, skip and limit choose a page; internal=0
// leaves out the broker's own topics. GET /v1/topics/T: one topic and its partitions.

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/queries/topic_sizes.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

ordered_json topic_json(const runtime::TopicSize& size) {
    ordered_json object;
    object["topic"] = size.topic->name;
    object["topic_id"] = size.topic->id.to_string();
    object["internal"] = size.topic->internal;
    object["bytes"] = size.bytes();
    object["offsets"] = size.offsets();
    object["written"] = size.written();
    return object;
}

ordered_json partition_json(const runtime::PartitionSize& size) {
    return {{"partition", size.partition.value},
            {"start", size.bounds.start.value},
            {"stable_end", size.bounds.stable_end.value},
            {"end", size.bounds.end.value},
            {"bytes", size.bytes}};
}

}  // namespace

void serve_topics(const Surroundings& surroundings, const ExchangePointer& exchange) {
    auto page = parse_page(exchange->request());
    if (!page) {
        respond_error(*exchange, Status::bad_request, page.error());
        return;
    }
    page->hides_internal = exchange->request().parameter("internal") == "0";
    // On another thread, because the time grows with the number of topics, and with the partitions of the shown ones.
    const auto look = [page = *page, &services = surroundings.services, &identity = surroundings.identity, exchange] {
        const access::Authorizer& authorizer = services.authorizer;
        const auto table = services.topics.table();
        ordered_json object = identity.begin_answer();
        std::size_t total = 0;
        auto topics = ordered_json::array();
        for (const catalog::Topic& topic : table->catalog->topics()) {
            if (!page.wants(topic.name) || (page.hides_internal && topic.internal) ||
                !authorizer.meets(exchange->caller().requester(), access::kDescribeTopic, topic.name)) {
                continue;
            }
            if (page.has_place(total++)) {
                topics.push_back(topic_json(runtime::topic_size(*table->find(topic.id))));
                topics.back()["partitions"] = topic.partition_count;
            }
        }
        object["total"] = total;
        object["topics"] = std::move(topics);
        exchange->respond(Status::ok, kJson, object.dump() + "\n");
    };
    start_look(surroundings, exchange, look);
}

void serve_topic(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto topic = topic_of(surroundings, exchange);
    if (topic == nullptr) {
        return;
    }
    const runtime::TopicSize size = runtime::topic_size(*topic);
    ordered_json object;
    object["schema"] = 1;
    object["broker"] = surroundings.identity.json();
    object.update(topic_json(size));
    object["partitions"] = ordered_json::array();
    for (const runtime::PartitionSize& partition : size.partitions) {
        object["partitions"].push_back(partition_json(partition));
    }
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace partita::http
