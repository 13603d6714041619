// GET /v1/findings: the open findings. GET /v1/events: the open findings and then every change, as JSON lines. (After an upgrade
// to WebSocket the same comes as text messages: see event_socket.h.)

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/event_feed.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/event_json.h"
#include "broker/insight/hub/findings_hub.h"

namespace partita::http {
namespace {

class LineStream final : public EventSink {
  public:
    explicit LineStream(ExchangePointer exchange) : exchange_(std::move(exchange)) {}

    bool offer(const std::string& line) override { return exchange_->offer(line + "\n"); }
    bool is_gone() const override { return exchange_->is_gone(); }
    void end() override { exchange_->end(); }

  private:
    ExchangePointer exchange_;
};

}  // namespace

void serve_findings(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::optional<std::string_view> topic = exchange->request().parameter("topic");
    const insight::KeyStyle style =
        exchange->request().parameter("hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    nlohmann::ordered_json object;
    object["schema"] = insight::kEventSchemaVersion;
    object["broker"] = surroundings.identity.json();
    object["findings"] = nlohmann::ordered_json::array();
    for (const insight::OpenFinding& open : surroundings.services.insight.findings.open()) {
        const bool is_wanted = !topic || open.finding.subject.topic == *topic;
        if (is_wanted && may_hear(surroundings.services.authorizer, exchange->caller(), open.finding)) {
            object["findings"].push_back(insight::open_finding_json(open, style));
        }
    }
    object["refused"] = surroundings.services.insight.findings.refused();
    exchange->respond(Status::ok, kJson, object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void serve_events(const Surroundings& surroundings, const ExchangePointer& exchange) {
    exchange->begin(Status::ok, kJsonLines);
    // If the feed is full, the stream ends at once.
    if (!surroundings.events.add(std::make_shared<LineStream>(exchange), exchange->caller())) {
        exchange->end();
    }
}

}  // namespace partita::http
