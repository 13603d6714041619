// GET /v1/findings/keys: the keys that a group was handed in wrong order (H06), with the places of both records.
//
//   topic=T group=G   whose keys
//   id=H06            the finding; no other has a list of keys
//   skip=K limit=K    a part of the list: 100 keys by default, kKeysMax at most
//   hash_keys=1       keys are shown as hashes

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/shell/reader_observer.h"
#include "protocol/try.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kKeysDefault = 100;
/// Most keys in one answer: each costs a read of the log.
constexpr std::size_t kKeysMax = 1000;

struct KeysWish {
    std::string topic;
    std::string group;
    std::size_t skip = 0;
    std::size_t limit = kKeysDefault;
    insight::KeyStyle style = insight::KeyStyle::text;
};

std::expected<KeysWish, std::string> parse_keys_wish(const Request& request) {
    PARTITA_TRY_ASSIGN(const PageWish page, parse_page(request));
    KeysWish wish{.topic = std::string(request.parameter("topic").value_or("")),
                  .group = std::string(request.parameter("group").value_or("")),
                  .skip = page.skip,
                  .limit = request.parameter("limit") ? page.limit : kKeysDefault,
                  .style = is_set(request, "hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text};
    if (wish.topic.empty() || wish.group.empty() || request.parameter("id").value_or("H06") != "H06") {
        return std::unexpected("name a topic and a group; H06 is the only finding with a list of keys");
    }
    if (wish.limit > kKeysMax) {
        return std::unexpected("limit is at most " + std::to_string(kKeysMax));
    }
    return wish;
}

ordered_json place_json(PartitionIndex partition, Offset offset, std::uint64_t connection, TimestampMs time) {
    return {{"partition", partition.value}, {"offset", offset.value}, {"connection", connection}, {"handed_out_ms", time.value}};
}

ordered_json key_json(const insight::ReaderObserver::WrongKeyRecord& record, insight::KeyStyle style) {
    ordered_json object;
    if (record.key) {
        insight::add_key(object, *record.key, style);
    }
    const insight::WrongKey& wrong = record.wrong;
    object["newer"] = place_json(wrong.cut.to, wrong.cut.later, wrong.later_reader, wrong.later_time);
    object["older"] = place_json(wrong.cut.from, wrong.cut.earlier, wrong.earlier_reader, wrong.earlier_time);
    object["is_processed"] = wrong.is_processed;
    object["is_in_one_answer"] = wrong.is_in_one_answer;
    object["is_in_two_members"] = wrong.is_in_two_members;
    return object;
}

void answer(const Surroundings& surroundings, const KeysWish& wish, Exchange& exchange) {
    const auto topics = surroundings.services.insight.plan_sources.cluster.topics();
    const auto topic = topics->find(std::string_view(wish.topic));
    if (topic == nullptr) {
        respond_error(exchange, Status::not_found, "there is no topic " + wish.topic);
        return;
    }
    const auto page = surroundings.services.insight.readers.wrong_keys(*topic, wish.group, wish.skip, wish.limit);
    ordered_json object = surroundings.identity.begin_answer();
    object["topic"] = wish.topic;
    object["group"] = wish.group;
    object["total"] = page.total;
    object["keys"] = ordered_json::array();
    for (const auto& key : page.keys) {
        object["keys"].push_back(key_json(key, wish.style));
    }
    exchange.respond(Status::ok, kJson, object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

void serve_wrong_keys(const Surroundings& surroundings, const ExchangePointer& exchange) {
    auto wish = parse_keys_wish(exchange->request());
    if (!wish) {
        respond_error(*exchange, Status::bad_request, wish.error());
        return;
    }
    for (const auto& [need, resource] :
         {std::pair(access::kReadTopic, wish->topic), std::pair(access::kDescribeGroup, wish->group)}) {
        if (!authorize(surroundings.services.authorizer, exchange->caller(), need, resource, "GET /v1/findings/keys")) {
            respond_error(*exchange, Status::forbidden, refusal_sentence(exchange->caller(), need, resource));
            return;
        }
    }
    start_look(surroundings, exchange,
               [surroundings, wish = std::move(*wish), exchange] { answer(surroundings, wish, *exchange); });
}

}  // namespace partita::http
