// GET /v1/findings: the open findings, with `state=over` those that are over, with `state=all` both. `topic` selects those of a
// topic.
//
// POST /v1/findings/seen: marks harm as seen; the harm is over then. The body selects harm by `id`, `topic`, `group`, `client_id`
// and `opened_ms`, each optional.
//
// GET /v1/events: the open findings and then every change, as JSON lines. (After an upgrade to WebSocket the same comes as text
// messages: see event_socket.h.)

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/event_feed.h"
#include "broker/http/json_body.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/event_json.h"
#include "broker/insight/hub/findings_hub.h"
#include "schedule/clock.h"

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

/// Harm as a request selects it. A member that is not set selects all.
struct HarmChoice {
    std::optional<std::string> id;
    std::optional<std::string> topic;
    std::optional<std::string> group;
    std::optional<std::string> client_id;
    std::optional<std::int64_t> opened_ms;

    [[nodiscard]] bool selects(const insight::OpenFinding& open) const {
        const insight::Finding& finding = open.finding;
        return finding.kind == insight::HazardKind::harm && (!id || *id == insight::to_string(finding.id)) &&
               (!topic || *topic == finding.subject.topic) && (!group || *group == finding.subject.group) &&
               (!client_id || *client_id == finding.subject.client_id) && (!opened_ms || *opened_ms == open.opened.value);
    }
};

HarmChoice choice_of(JsonBody& body) {
    HarmChoice choice{.id = body.text_or_null("id"),
                      .topic = body.text_or_null("topic"),
                      .group = body.text_or_null("group"),
                      .client_id = body.text_or_null("client_id"),
                      .opened_ms = body.number("opened_ms", {})};
    if (choice.id && !insight::parse_hazard_id(*choice.id)) {
        body.complain("\"id\" is no id of a finding, such as H06");
    }
    return choice;
}

/// Tells one finding from all others that are open.
std::pair<std::string, TimestampMs> opening_of(const insight::OpenFinding& open) {
    return {insight::identity_of(open.finding), open.opened};
}

}  // namespace

void serve_findings(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string_view state = exchange->request().parameter("state").value_or("open");
    if (state != "open" && state != "over" && state != "all") {
        respond_error(*exchange, Status::bad_request, "state is open, over or all");
        return;
    }
    const std::optional<std::string_view> topic = exchange->request().parameter("topic");
    const insight::KeyStyle style =
        exchange->request().parameter("hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    nlohmann::ordered_json object;
    object["schema"] = insight::kEventSchemaVersion;
    object["broker"] = surroundings.identity.json();
    object["findings"] = nlohmann::ordered_json::array();
    const insight::FindingsHub& findings = surroundings.services.insight.findings;
    const auto is_wanted = [&](const insight::Finding& finding) {
        return (!topic || finding.subject.topic == *topic) &&
               may_hear(surroundings.services.authorizer, exchange->caller(), finding);
    };
    if (state != "over") {
        for (const insight::OpenFinding& open : findings.open()) {
            if (is_wanted(open.finding)) {
                object["findings"].push_back(insight::open_finding_json(open, style));
            }
        }
    }
    if (state != "open") {
        for (const insight::EndedFinding& ended : findings.ended()) {
            if (is_wanted(ended.finding)) {
                object["findings"].push_back(insight::ended_finding_json(ended, style));
            }
        }
    }
    object["refused"] = findings.refused();
    exchange->respond(Status::ok, kJson, object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void mark_findings_seen(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const HarmChoice choice = choice_of(body);
    if (body.refuse_unless_good()) {
        return;
    }
    const access::Authorizer& authorizer = surroundings.services.authorizer;
    insight::FindingsHub& findings = surroundings.services.insight.findings;
    std::set<std::string> topics;
    std::set<std::pair<std::string, TimestampMs>> chosen;
    for (const insight::OpenFinding& open : findings.open()) {
        if (choice.selects(open) && may_hear(authorizer, exchange->caller(), open.finding)) {
            chosen.insert(opening_of(open));
            topics.insert(open.finding.subject.topic);
        }
    }
    for (const std::string& topic : topics) {
        if (!authorize(authorizer, exchange->caller(), access::kAlterTopic, topic, "POST /v1/findings/seen")) {
            respond_error(*exchange, Status::forbidden, refusal_sentence(exchange->caller(), access::kAlterTopic, topic));
            return;
        }
    }
    // The hub asks with its lock held, where no permission may be looked up.
    const std::size_t seen =
        findings.mark_seen([&](const insight::OpenFinding& open) { return chosen.contains(opening_of(open)); },
                           surroundings.services.clock.now().wall);
    auto object = surroundings.identity.begin_answer();
    object["seen"] = seen;
    respond_json(*exchange, object);
}

void serve_events(const Surroundings& surroundings, const ExchangePointer& exchange) {
    exchange->begin(Status::ok, kJsonLines);
    // If the feed is full, the stream ends at once.
    if (!surroundings.events.add(std::make_shared<LineStream>(exchange), exchange->caller())) {
        exchange->end();
    }
}

}  // namespace partita::http
