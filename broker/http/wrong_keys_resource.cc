// GET /v1/findings/keys: the keys that a reader was handed in wrong order (H06), with the places of both records.
//
//   topic=T group=G   the keys of a group
//   topic=T client_id=C client_address=A
//                     the keys of a client in no group; of all addresses without `client_address`
//   id=H06            the finding; no other has a list of keys
//   skip=K limit=K    a part of the list: 100 keys by default, kKeysMax at most
//   hash_keys=1       keys are shown as hashes

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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
    insight::OrderWatch::Reader reader;
    std::size_t skip = 0;
    std::size_t limit = kKeysDefault;
    insight::KeyStyle style = insight::KeyStyle::text;
};

std::expected<KeysWish, std::string> parse_keys_wish(const Request& request) {
    PARTITA_TRY_ASSIGN(const PageWish page, parse_page(request));
    KeysWish wish{.topic = std::string(request.parameter("topic").value_or("")),
                  .reader = {.group = std::string(request.parameter("group").value_or("")),
                             .client_id = std::string(request.parameter("client_id").value_or("")),
                             .client_address = std::string(request.parameter("client_address").value_or(""))},
                  .skip = page.skip,
                  .limit = request.parameter("limit") ? page.limit : kKeysDefault,
                  .style = is_set(request, "hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text};
    if (request.parameter("id").value_or("H06") != "H06") {
        return std::unexpected("H06 is the only finding with a list of keys");
    }
    const bool is_of_group = request.parameter("group").has_value();
    if (wish.topic.empty() || is_of_group == request.parameter("client_id").has_value() ||
        (is_of_group && wish.reader.group.empty())) {
        return std::unexpected("name a topic, and either a group or the client_id of a client in no group");
    }
    if (wish.limit > kKeysMax) {
        return std::unexpected("limit is at most " + std::to_string(kKeysMax));
    }
    return wish;
}

ordered_json place_json(PartitionIndex partition, Offset offset, std::uint64_t connection, TimestampMs time) {
    ordered_json object{{"partition", partition.value}, {"offset", offset.value}};
    if (time != kNoTimestamp) {
        object["connection"] = connection;
        object["handed_out_ms"] = time.value;
    }
    return object;
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
    const auto page = surroundings.services.insight.readers.wrong_keys(*topic, wish.reader, wish.skip, wish.limit);
    ordered_json object = surroundings.identity.begin_answer();
    object["topic"] = wish.topic;
    if (wish.reader.group.empty()) {
        object["client_id"] = wish.reader.client_id;
    } else {
        object["group"] = wish.reader.group;
    }
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
    std::vector needs{std::pair(access::kReadTopic, wish->topic)};
    if (!wish->reader.group.empty()) {
        needs.emplace_back(access::kDescribeGroup, wish->reader.group);
    }
    for (const auto& [need, resource] : needs) {
        if (!authorize(surroundings.services.authorizer, exchange->caller(), need, resource, "GET /v1/findings/keys")) {
            respond_error(*exchange, Status::forbidden, refusal_sentence(exchange->caller(), need, resource));
            return;
        }
    }
    start_look(surroundings, exchange,
               [surroundings, wish = std::move(*wish), exchange] { answer(surroundings, wish, *exchange); });
}

}  // namespace partita::http
