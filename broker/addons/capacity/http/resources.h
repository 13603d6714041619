#pragma once

#include "broker/http/resources.h"

namespace partita::http {
class MetricsText;
}

namespace partita::capacity {

/// capacity_resource.cc: how much may pass, and how many units of it there are.
void serve_capacity(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void set_capacity(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

/// capacity_metrics.cc: what passed, and who had to wait; nothing without units.
void add_metrics(http::MetricsText& text, runtime::Services& services, const runtime::NetworkStatistics& network,
                 bool with_names);

}  // namespace partita::capacity
