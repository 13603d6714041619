// GET    /v1/faults               the rules, and how often each one acted
// POST   /v1/faults               {"match": {"api": "Produce"}, "do": {"error": "NOT_LEADER_OR_FOLLOWER"}}: adds a rule; or a
//                                 list: adds all of its rules, or none
// DELETE /v1/faults               removes all rules
// GET    /v1/faults/ID            one rule
// DELETE /v1/faults/ID            removes it
// GET    /v1/faults/ID/matches    the last requests that matched it
// POST   /v1/faults/ID/release    lets the requests go on that it holds
//
// fault_json.h has the form of a rule, and core/fault_table.h says what rules do. A broker without a test bench answers 404.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "broker/addons/faults/http/fault_json.h"
#include "broker/addons/faults/http/resources.h"
#include "broker/addons/faults/shell/faults.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "protocol/api_keys.h"
#include "schedule/clock.h"

namespace partita::faults {
namespace {

using http::Exchange;
using http::ExchangePointer;
using http::respond_error;
using http::respond_json;
using http::Status;
using http::Surroundings;
using nlohmann::ordered_json;

/// Null if the broker has no test bench; the client has then been answered.
Faults* faults_of(const Surroundings& surroundings, Exchange& exchange) {
    Faults* const faults = surroundings.services.extensions.parts.find<Faults>();
    if (faults == nullptr) {
        refuse_without_bench(exchange);
    }
    return faults;
}

const std::string& id_of(const Exchange& exchange) { return exchange.request().path.at(2); }

void respond_unknown(Exchange& exchange) {
    respond_error(exchange, Status::not_found, "unknown fault " + id_of(exchange) + "; GET /v1/faults lists all");
}

ordered_json status_json(const Faults::Status& status) {
    ordered_json object = rule_json(status.rule);
    object["added_ms"] = status.added.value;
    object["matched"] = status.matched;
    object["acted"] = status.acted;
    object["waiting"] = status.waiting;
    return object;
}

ordered_json note_json(const MatchNote& note) {
    if (!note.file.empty()) {
        return {{"time_ms", note.time.value}, {"file", note.file}, {"acted", note.has_acted}};
    }
    return {{"time_ms", note.time.value},
            {"api", api_name(note.api)},
            {"version", note.version},
            {"client_id", note.client_id},
            {"client_address", note.client_address},
            {"correlation_id", note.correlation_id},
            {"acted", note.has_acted}};
}

void respond_removed(const Surroundings& surroundings, Exchange& exchange) {
    ordered_json object = surroundings.identity.begin_answer();
    object["removed"] = true;
    respond_json(exchange, object);
}

/// The rule that the path names; null if it is unknown, and the client has then been answered.
std::optional<Faults::Status> status_of(const Surroundings& surroundings, Exchange& exchange) {
    const Faults* const faults = faults_of(surroundings, exchange);
    std::optional<Faults::Status> status = faults == nullptr ? std::nullopt : faults->find(id_of(exchange));
    if (faults != nullptr && !status) {
        respond_unknown(exchange);
    }
    return status;
}

}  // namespace

void serve_faults(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Faults* const faults = faults_of(surroundings, *exchange);
    if (faults == nullptr) {
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["faults"] = ordered_json::array();
    for (const Faults::Status& status : faults->list()) {
        object["faults"].push_back(status_json(status));
    }
    respond_json(*exchange, object);
}

void add_faults(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Faults* const faults = faults_of(surroundings, *exchange);
    if (faults == nullptr) {
        return;
    }
    if (const auto objection = http::objection_to_type(exchange->request())) {
        respond_error(*exchange, Status::unsupported_media_type, std::string(*objection));
        return;
    }
    auto rules = parse_rules(exchange->request().body);
    if (!rules) {
        respond_error(*exchange, Status::bad_request, rules.error());
        return;
    }
    const auto ids = faults->add(std::move(*rules), surroundings.services.clock.now());
    if (!ids) {
        respond_error(*exchange, Status::bad_request, ids.error());
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["ids"] = *ids;
    respond_json(*exchange, object);
}

void remove_faults(const Surroundings& surroundings, const ExchangePointer& exchange) {
    if (Faults* const faults = faults_of(surroundings, *exchange)) {
        faults->clear();
        respond_removed(surroundings, *exchange);
    }
}

void serve_fault(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto status = status_of(surroundings, *exchange);
    if (!status) {
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object.update(status_json(*status));
    respond_json(*exchange, object);
}

void remove_fault(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Faults* const faults = faults_of(surroundings, *exchange);
    if (faults == nullptr) {
        return;
    }
    if (!faults->remove(id_of(*exchange))) {
        respond_unknown(*exchange);
        return;
    }
    respond_removed(surroundings, *exchange);
}

void serve_matches(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto status = status_of(surroundings, *exchange);
    if (!status) {
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["id"] = status->rule.id;
    object["matches"] = ordered_json::array();
    for (const MatchNote& note : status->notes) {
        object["matches"].push_back(note_json(note));
    }
    respond_json(*exchange, object);
}

void release_fault(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Faults* const faults = faults_of(surroundings, *exchange);
    if (faults == nullptr) {
        return;
    }
    const auto released = faults->release(id_of(*exchange));
    if (!released) {
        respond_unknown(*exchange);
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["released"] = *released;
    respond_json(*exchange, object);
}

}  // namespace partita::faults
