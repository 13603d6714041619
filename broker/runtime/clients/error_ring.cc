#include "broker/runtime/clients/error_ring.h"

#include <algorithm>

namespace partita::runtime {

void ErrorRing::add(GivenError error) {
    ++total_;
    const auto same = std::ranges::find_if(errors_, [&](const GivenError& known) {
        return known.client.connection == error.client.connection && known.code == error.code && known.api == error.api &&
               known.about == error.about && known.message == error.message;
    });
    if (same != errors_.end()) {
        GivenError again = std::move(*same);
        errors_.erase(same);
        again.last = error.last;
        ++again.times;
        errors_.push_back(std::move(again));
        return;
    }
    if (errors_.size() == kKeptMax) {
        errors_.pop_front();
    }
    errors_.push_back(std::move(error));
}

}  // namespace partita::runtime
