#include "broker/runtime/catalog/token_sweep.h"

#include <algorithm>
#include <string>
#include <vector>

#include "broker/catalog/delegation_tokens.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"
#include "schedule/executor.h"

namespace partita::runtime {
namespace {

std::int64_t interval_ms(const config::BrokerConfig& config) {
    // A limit that no user waits for; it keeps sums with the interval in range.
    constexpr std::int64_t kIntervalMsMax = std::int64_t{365} * 24 * 3'600'000;
    return config.delegation_token_secret_key.empty()
               ? 0
               : std::min(config.delegation_token_expiry_check_interval_ms, kIntervalMsMax);
}

bool remove_expired(logs::Turn& turn, Catalog& catalog) {
    const auto removed = catalog.change(turn, catalog::RemoveExpiredTokens());
    if (!removed) {
        return false;
    }
    for (const std::string& id : removed->ids) {
        log::info("catalog", "delegation token expired", {{"token", id}});
    }
    return true;
}

}  // namespace

TokenSweep::TokenSweep(const config::CurrentConfig& config, const logs::PublishedTopics& topics, OwnChanges& changes)
    : interval_ms_(interval_ms(*config.get())), topics_(topics), changes_(changes) {}

void TokenSweep::begin(Instant now) { due_ = now + interval_ms_; }

Instant TokenSweep::next_due() const { return interval_ms_ == 0 ? kNever : due_; }

void TokenSweep::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    due_ = now.monotonic + interval_ms_;
    if (catalog::has_expired_tokens(*topics_.table()->catalog, now.wall)) {
        changes_.post("could not remove expired delegation tokens", remove_expired);
    }
}

}  // namespace partita::runtime
