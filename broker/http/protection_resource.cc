// The protection of a topic's growth, and the test controls:
//
//   GET    /v1/topics/T/protection              mode, seeds of each expansion, fence, visibility
//   DELETE /v1/topics/T/seeds?epoch=E           removes the seeds of an expansion that have not changed since
//   POST   /v1/topics/T/nudge                   makes the topic's consumers refresh their metadata now
//   POST   /v1/topics/T/visibility?producers=D&consumers=D   hides new partitions for D milliseconds, "until-released", or
//                                               shows them: "released"

#include <charconv>
#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fence_wakes.h"
#include "broker/runtime/growth/expansions.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;
using Window = insight::Fence::WindowState;

std::string_view window_name(Window window) {
    switch (window) {
        case Window::none:
            return "none";
        case Window::open:
            return "open";
        case Window::closed_by_proof:
            return "closed_by_proof";
        case Window::closed_by_time:
            return "closed_by_time";
    }
    return "none";
}

ordered_json delay_json(std::int64_t delay_ms) {
    return delay_ms == config::kUntilReleased ? ordered_json("until-released") : ordered_json(delay_ms);
}

ordered_json program_json(const std::string& program) {
    return program.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(program));
}

ordered_json fence_json(const runtime::TopicExpansion::Status& status, Instant now) {
    ordered_json object;
    object["window"] = window_name(status.window);
    object["epoch"] = status.window_epoch;
    object["opened_ms"] = status.window_opened.value;
    object["timeouts"] = status.timeouts;
    object["held_fetches"] = status.held_fetches;
    object["waiting"] = ordered_json::array();
    for (const insight::Fence::Waiting& waiting : status.waiting) {
        object["waiting"].push_back({{"group", insight::name_text(waiting.group)},
                                     {"partition", waiting.partition.value},
                                     {"held_from_offset", waiting.limit.value},
                                     {"parent_done_to_offset", waiting.drained.value},
                                     {"waiting_ms", now - waiting.since}});
    }
    object["unattributed"] = ordered_json::array();
    for (const insight::Fence::Outsider& outsider : status.unattributed) {
        object["unattributed"].push_back({{"client_id", insight::name_text(outsider.client.client_id)},
                                          {"address", insight::name_text(outsider.client.address)},
                                          {"program", program_json(outsider.program)},
                                          {"partition", outsider.partition.value}});
    }
    object["unproven_producers"] = status.unproven_count;
    object["waiting_for_producers"] = ordered_json::array();
    for (const insight::ProducerWindow::Unproven& unproven : status.unproven) {
        object["waiting_for_producers"].push_back(
            {{"client_id", insight::name_text(unproven.writer.client.client_id)},
             {"address", insight::name_text(unproven.writer.client.address)},
             {"producer_id", unproven.producer.producer_id == kNoProducerId ? ordered_json(nullptr)
                                                                            : ordered_json(unproven.producer.producer_id.value)},
             {"connected", unproven.writer.connection != insight::kNoConnection},
             {"program", program_json(unproven.writer.process ? insight::to_string(*unproven.writer.process) : std::string())}});
    }
    return object;
}

ordered_json seeds_json(const runtime::Services& services, const catalog::Topic& topic) {
    const auto readers = services.coordinators.groups.readers_of(topic.name, topic.id);
    ordered_json list = ordered_json::array();
    for (const auto& epoch : topic.expansions) {
        if (!epoch->circumstances || epoch->circumstances->seeded_groups.empty()) {
            continue;
        }
        ordered_json object;
        object["epoch"] = epoch->epoch;
        object["first_partition"] = epoch->old_partition_count;
        object["partitions"] = epoch->new_partition_count - epoch->old_partition_count;
        object["groups"] = ordered_json::array();
        for (const std::string& group : epoch->circumstances->seeded_groups) {
            std::int32_t untouched = 0;
            for (const groups::TopicReader& reader : readers) {
                for (auto at = reader.seeds.begin(); reader.group_id == group && at != reader.seeds.end(); ++at) {
                    untouched += at->value >= epoch->old_partition_count && at->value < epoch->new_partition_count ? 1 : 0;
                }
            }
            object["groups"].push_back({{"group", insight::name_text(group)}, {"untouched_seeds", untouched}});
        }
        list.push_back(std::move(object));
    }
    return list;
}

/// "released" is 0, "until-released" never ends, everything else is milliseconds. Empty if the text is invalid.
std::optional<std::string> delay_of(std::string_view given) {
    if (given == "released") {
        return "0";
    }
    if (given == "until-released") {
        return std::to_string(config::kUntilReleased);
    }
    std::int64_t delay_ms = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), delay_ms);
    if (error != std::errc() || end != given.data() + given.size() || delay_ms < 0) {
        return std::nullopt;
    }
    return std::to_string(delay_ms);
}

}  // namespace

void serve_protection(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto topic = topic_of(surroundings, exchange);
    if (!topic) {
        return;
    }
    ordered_json object;
    object["schema"] = 1;
    object["broker"] = surroundings.identity.json();
    object["topic"] = topic->topic->name;
    object["partitions"] = topic->topic->partition_count;
    object["mode"] = config::expansion_mode_name(topic->config->expansion_mode);
    object["seeds"] = seeds_json(surroundings.services, *topic->topic);
    const auto status = topic->expansion ? topic->expansion->status() : runtime::TopicExpansion::Status{};
    object["fence"] =
        status.has_fence ? fence_json(status, surroundings.services.turns.first().now().monotonic) : ordered_json(nullptr);
    object["visibility"] = {{"producers_delay_ms", delay_json(topic->config->visibility_producers_delay_ms)},
                            {"consumers_delay_ms", delay_json(topic->config->visibility_consumers_delay_ms)}};
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

void serve_seeds(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto topic = topic_of(surroundings, exchange);
    if (!topic) {
        return;
    }
    const std::string_view given = exchange->request().parameter("epoch").value_or("");
    std::int32_t epoch = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), epoch);
    if (error != std::errc() || end != given.data() + given.size() || epoch < 1 ||
        static_cast<std::size_t>(epoch) > topic->topic->expansions.size()) {
        respond_error(*exchange, Status::bad_request,
                      "epoch must name an expansion of the topic: 1 to " + std::to_string(topic->topic->expansions.size()));
        return;
    }
    const auto removed =
        surroundings.services.growth.expansions.remove_seeds(surroundings.services.turns.first(), *topic->topic, epoch);
    if (!removed) {
        respond_error(*exchange, Status::internal_error, "the change cannot be written");
        return;
    }
    exchange->respond(Status::ok, kJson,
                      ordered_json{{"topic", topic->topic->name}, {"epoch", epoch}, {"removed", *removed}}.dump() + "\n");
}

void serve_nudge(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const runtime::Services& services = surroundings.services;
    const Now now = services.turns.first().now();
    const auto topic = services.catalog.watch_expansion(exchange->request().path.at(2), now);
    if (!topic) {
        respond_error(*exchange, Status::not_found, "there is no topic " + exchange->request().path.at(2));
        return;
    }
    services.growth.wakes.nudge(*topic, now);
    exchange->respond(
        Status::ok, kJson,
        ordered_json{{"topic", topic->topic->name}, {"nudging_ms", runtime::TopicExpansion::kNudgeMs}}.dump() + "\n");
}

void serve_visibility(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto topic = topic_of(surroundings, exchange);
    if (!topic) {
        return;
    }
    std::vector<std::pair<std::string, std::string>> wanted;
    for (const std::string_view role : {"producers", "consumers"}) {
        const auto given = exchange->request().parameter(role);
        if (!given) {
            continue;
        }
        const auto delay = delay_of(*given);
        if (!delay) {
            respond_error(*exchange, Status::bad_request,
                          std::string(role) + " must be milliseconds, until-released or released");
            return;
        }
        wanted.emplace_back("partita.visibility." + std::string(role) + ".delay.ms", *delay);
    }
    if (wanted.empty()) {
        respond_error(*exchange, Status::bad_request, "use producers=D, consumers=D, or both");
        return;
    }
    catalog::IncrementalAlterConfigs command;
    catalog::ResourceToAlter& resource = command.resources.emplace_back();
    resource.resource = {catalog::ConfigResourceType::topic, topic->topic->name};
    for (const auto& [name, value] : wanted) {
        resource.changes.push_back(
            {.name = name, .operation = static_cast<std::int8_t>(catalog::AlterOperation::set), .value = value});
    }
    const auto reply = surroundings.services.catalog.change(surroundings.services.turns.first(), command);
    if (!reply || reply->resources.front().error.failed()) {
        respond_error(*exchange, Status::internal_error,
                      reply ? reply->resources.front().error.message.value_or("refused") : "the change cannot be written");
        return;
    }
    serve_protection(surroundings, exchange);
}

}  // namespace partita::http
