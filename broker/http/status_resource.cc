// /health/live, /health/ready, /metrics.

#include "broker/handlers/services.h"
#include "broker/http/metrics.h"
#include "broker/http/resources.h"

namespace partita::http {

void serve_live(const Surroundings&, const ExchangePointer& exchange) { exchange->respond(Status::ok, kPlainText, "live\n"); }

void serve_ready(const Surroundings& surroundings, const ExchangePointer& exchange) {
    if (surroundings.services.description.is_ready.load(std::memory_order_acquire)) {
        exchange->respond(Status::ok, kPlainText, "ready\n");
    } else {
        exchange->respond(Status::unavailable, kPlainText, "not ready\n");
    }
}

void serve_metrics(const Surroundings& surroundings, const ExchangePointer& exchange) {
    constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
    exchange->respond(Status::ok, kPrometheusText,
                      metrics_text(surroundings.services, surroundings.network, exchange->caller().is_told_names));
}

}  // namespace partita::http
