// GET  /v1/brokers               the brokers of this process, and how each of them does
// POST /v1/brokers/ID/kill       closes its listeners and connections; {"noticed": false}: the controller notices it only when
//                                the session of the broker has ended
// POST /v1/brokers/ID/restart    opens the listeners of a killed broker again
// POST /v1/brokers/ID/pause      lets it answer nothing; resume ends that
// POST /v1/brokers/ID/isolate    cuts it off from the other brokers, but not from clients; join ends that
//
// The answer comes when it has happened. A process that is only one broker answers 404.

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "broker/addons/faults/http/resources.h"
#include "broker/addons/faults/shell/brokers.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"

namespace partita::faults {
namespace {

using http::Exchange;
using http::ExchangePointer;
using http::respond_error;
using http::respond_json;
using http::Status;
using http::Surroundings;
using nlohmann::ordered_json;

/// Null if the process is one broker; the client has then been answered.
Brokers* brokers_of(const Surroundings& surroundings, Exchange& exchange) {
    Brokers* const brokers = surroundings.services.extensions.parts.find<Brokers>();
    if (brokers == nullptr) {
        respond_error(exchange, Status::not_found,
                      "this process is only one broker; start it with --test-bench --brokers 3, for example");
    }
    return brokers;
}

ordered_json json_of(const Brokers::Status& status) {
    const Cluster::Broker& broker = status.broker;
    ordered_json object = {{"id", broker.id.value}, {"state", name_of(broker.life)}, {"fenced", broker.is_fenced}};
    if (broker.rack) {
        object["rack"] = *broker.rack;
    }
    object["leaders"] = broker.leader_count;
    object["replicas"] = broker.replica_count;
    object["listeners"] = ordered_json::array();
    for (const logs::NodeListener& listener : status.listeners) {
        object["listeners"].push_back({{"name", listener.listener}, {"port", listener.port}});
    }
    return object;
}

std::optional<BrokerId> id_in(const std::string& text) {
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    return error == std::errc() && end == text.data() + text.size() && id >= 0 ? std::optional(BrokerId{id}) : std::nullopt;
}

void act(const Surroundings& surroundings, const ExchangePointer& exchange, Brokers::Action action) {
    Brokers* const brokers = brokers_of(surroundings, *exchange);
    if (brokers == nullptr) {
        return;
    }
    bool is_noticed = true;
    if (action == Brokers::Action::kill && !exchange->request().body.empty()) {
        http::JsonBody body(*exchange);
        is_noticed = !body.has("noticed") || body.flag("noticed");
        if (body.refuse_unless_good()) {
            return;
        }
    }
    const std::string& text = exchange->request().path.at(2);
    const std::optional<BrokerId> id = id_in(text);
    if (!id) {
        respond_error(*exchange, Status::not_found, "unknown broker " + text + "; GET /v1/brokers lists all");
        return;
    }
    brokers->act(action, *id, is_noticed,
                 [brokers, exchange, id = *id,
                  answer = surroundings.identity.begin_answer()](const std::expected<void, std::string>& done) mutable {
                     if (!done) {
                         respond_error(*exchange, Status::conflict, done.error());
                         return;
                     }
                     for (const Brokers::Status& status : brokers->list()) {
                         if (status.broker.id == id) {
                             answer["changed"] = json_of(status);
                         }
                     }
                     respond_json(*exchange, answer);
                 });
}

}  // namespace

void serve_brokers(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Brokers* const brokers = brokers_of(surroundings, *exchange);
    if (brokers == nullptr) {
        return;
    }
    ordered_json object = surroundings.identity.begin_answer();
    object["brokers"] = ordered_json::array();
    for (const Brokers::Status& status : brokers->list()) {
        object["brokers"].push_back(json_of(status));
    }
    respond_json(*exchange, object);
}

void kill_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::kill);
}
void restart_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::restart);
}
void pause_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::pause);
}
void resume_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::resume);
}
void isolate_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::isolate);
}
void join_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    act(surroundings, exchange, Brokers::Action::join);
}

}  // namespace partita::faults
