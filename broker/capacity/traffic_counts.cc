#include "broker/capacity/traffic_counts.h"

#include <algorithm>

namespace partita::capacity {
namespace {

void add(TrafficCounts::Flow& flow, Load load) {
    flow.requests += 1;
    flow.messages += static_cast<std::uint64_t>(std::max<std::int64_t>(0, load.events));
    flow.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, load.bytes));
}

}  // namespace

TrafficCounts::Counts* TrafficCounts::of(std::string_view entity) {
    if (const auto found = entities_.find(entity); found != entities_.end()) {
        return &found->second;
    }
    return entities_.size() < kEntitiesMax ? &entities_[std::string(entity)] : nullptr;
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

void TrafficCounts::note_throttled(std::string_view entity) {
    all_.throttled_requests += 1;
    if (Counts* counts = of(entity)) {
        counts->throttled_requests += 1;
    }
}

}  // namespace partita::capacity
