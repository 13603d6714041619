#pragma once

#include "broker/http/resources.h"

namespace partita::http {
class MetricsText;
}

namespace partita::capacity {

/// capacity_resource.cc: the allowed traffic, and the number of units.
void serve_capacity(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void set_capacity(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

/// capacity_metrics.cc: the traffic and the waits; adds nothing without units.
void add_metrics(http::MetricsText& text, const runtime::Services& services, const runtime::NetworkStatistics& network,
                 bool with_names);

}  // namespace partita::capacity
