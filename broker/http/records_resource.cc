// GET /v1/topics/T/partitions/P/records: some records of a partition, of all transactions, without transaction markers.
//
//   from=OFFSET   the first offset; default: the partition's start
//   time_ms=MS    instead of from: the first record from this time on, or the end
//   limit=K       how many records at most, 100 by default; see kRecordsMax
//   key=TEXT      only records with this key (key_hex=BYTES for any bytes); the answer then also ends at a search limit
//
// An answer ends early once its keys, values and headers reach a megabyte; the next page has from=<next>.

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "broker/http/broker_identity.h"
#include "broker/http/parameters.h"
#include "broker/http/record_pages.h"
#include "broker/http/resources.h"
#include "broker/logs/lookup.h"

namespace partita::http {
namespace {

/// Reads the page and answers with it.
void answer(const logs::TopicState& topic, PartitionIndex index, const RecordsWish& wish, const BrokerIdentity& identity,
            Exchange& exchange) {
    const auto page = logs::read_page(**logs::find_partition(topic, index).partition, wish.start, wish.limits);
    if (!page) {
        respond_error(exchange, status_without_page(page.error().outcome), page.error().message);
        return;
    }
    nlohmann::ordered_json object = identity.begin_answer();
    object["topic"] = topic.topic->name;
    object["partition"] = index.value;
    add_page(object, *page);
    exchange.respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace

void serve_records(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Request& request = exchange->request();
    auto wish = parse_records_wish(request);
    if (!wish) {
        respond_error(*exchange, Status::bad_request, wish.error());
        return;
    }
    auto topic = topic_of(surroundings, exchange);
    if (topic == nullptr) {
        return;
    }
    const std::string& number = request.path.at(4);
    const auto index = parse_partition_index(number);
    if (!index || logs::find_partition(*topic, *index).outcome != logs::Outcome::ok) {
        respond_error(*exchange, Status::not_found, topic->topic->name + " has no partition " + number);
        return;
    }
    start_look(surroundings, exchange,
               [topic = std::move(topic), index = *index, wish = std::move(*wish), &identity = surroundings.identity, exchange] {
                   answer(*topic, index, wish, identity, *exchange);
               });
}

}  // namespace partita::http
