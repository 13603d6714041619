#include "broker/addons/capacity/core/traffic_counts.h"

#include <algorithm>

namespace partita::capacity {
namespace {

void add(TrafficCounts::Flow& flow, Load load) {
    flow.messages += static_cast<std::uint64_t>(std::max<std::int64_t>(0, load.events));
    flow.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, load.bytes));
}

void add(TrafficCounts::Counts& counts, Outcome outcome) {
    counts.requests += 1;
    switch (outcome) {
        case Outcome::successful:
            counts.successful_requests += 1;
            break;
        case Outcome::throttled:
            counts.throttled_requests += 1;
            break;
        case Outcome::server_error:
            counts.server_errors += 1;
            break;
        case Outcome::user_error:
            counts.user_errors += 1;
            break;
    }
}

void take(TrafficCounts::Flow& flow, const TrafficCounts::Flow& part) {
    flow.messages -= part.messages;
    flow.bytes -= part.bytes;
}

}  // namespace

TrafficCounts::Counts* TrafficCounts::of(std::string_view entity) {
    if (const auto found = entities_.find(entity); found != entities_.end()) {
        return &found->second;
    }
    return !entity.empty() && entities_.size() < kEntitiesMax ? &entities_[std::string(entity)] : nullptr;
}

void TrafficCounts::note_request(std::string_view entity, Outcome outcome) {
    add(all_, outcome);
    if (Counts* counts = of(entity)) {
        add(*counts, outcome);
    }
}

void TrafficCounts::note_incoming(std::string_view entity, Load load) {
    add(all_.incoming, load);
    if (Counts* counts = of(entity)) {
        add(counts->incoming, load);
    }
}

void TrafficCounts::note_outgoing(std::string_view entity, Load load) {
    add(all_.outgoing, load);
    if (Counts* counts = of(entity)) {
        add(counts->outgoing, load);
    }
}

TrafficCounts::Counts TrafficCounts::others() const {
    Counts rest = all_;
    for (const auto& [entity, counts] : entities_) {
        rest.requests -= counts.requests;
        rest.successful_requests -= counts.successful_requests;
        rest.throttled_requests -= counts.throttled_requests;
        rest.server_errors -= counts.server_errors;
        rest.user_errors -= counts.user_errors;
        take(rest.incoming, counts.incoming);
        take(rest.outgoing, counts.outgoing);
    }
    return rest;
}

}  // namespace partita::capacity
