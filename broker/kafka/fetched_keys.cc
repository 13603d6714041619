#include "broker/kafka/fetched_keys.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "broker/authentication/jwks.h"
#include "broker/config/log_setup.h"
#include "protocol/try.h"
#include "schedule/movable_time.h"

namespace partita::kafka {

using authentication::KeySet;

FetchedKeys::FetchedKeys(authentication::KeySetPlace place, client::HttpUrl url, std::shared_ptr<const client::Tls> tls,
                         Clock& clock)
    : place_(std::move(place)),
      url_(std::move(url)),
      tls_(std::move(tls)),
      clock_(clock),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      fetches_(place_, clock.now().monotonic) {
    // Without a descriptor, the destructor waits for a fetch in progress.
    network_.end_waits_by(end_);
}

FetchedKeys::~FetchedKeys() {
    const std::uint64_t one = 1;
    if (end_ >= 0) {
        // If the write fails, the destructor waits for the fetch that is in progress.
        (void)::write(end_, &one, sizeof one);
    }
    worker_.reset();
    if (end_ >= 0) {
        ::close(end_);
    }
}

std::expected<std::shared_ptr<FetchedKeys>, std::string> FetchedKeys::fetch(authentication::KeySetPlace place,
                                                                            const Schedule& moved) {
    // Keys come over the network, however people move the clock.
    const Schedule schedule = machine_schedule(moved);
    const std::string name = "sasl.oauthbearer.jwks.endpoint.url=" + place.url + ": ";
    auto url = client::parse_http_url(place.url);
    if (!url) {
        return std::unexpected(name + url.error());
    }
    std::shared_ptr<const client::Tls> tls;
    if (url->has_tls) {
        auto made = client::Tls::of(place.tls);
        if (!made) {
            return std::unexpected(name + made.error().message);
        }
        tls = std::move(*made);
    }
    std::shared_ptr<FetchedKeys> source(new FetchedKeys(std::move(place), std::move(*url), std::move(tls), schedule.clock));
    const Instant give_up = schedule.clock.now().monotonic + kStartMsMax;
    while (true) {
        auto keys = source->try_to_fetch();
        const Instant now = schedule.clock.now().monotonic;
        if (keys) {
            source->keys_ = std::move(*keys);
            source->fetches_.fetched(now);
            break;
        }
        source->fetches_.failed(now);
        if (source->fetches_.next_fetch() > give_up) {
            return std::unexpected(name + keys.error());
        }
        source->network_.pause(source->fetches_.next_fetch() - now);
    }
    source->worker_ = schedule.executor.start("key-set", [keys = source.get()] { return keys->step(); });
    return source;
}

std::expected<std::shared_ptr<const KeySet>, std::string> FetchedKeys::try_to_fetch() {
    PARTITA_TRY_ASSIGN(const auto text, client::download(network_, url_, tls_.get(), authentication::kKeySetBytesMax,
                                                         network_.clock().now().monotonic + kFetchMsMax));
    PARTITA_TRY_ASSIGN(auto keys, KeySet::parse(text));
    if (keys.keys().empty()) {
        return std::unexpected(std::string(authentication::kNoUsableKey));
    }
    return std::make_shared<const KeySet>(std::move(keys));
}

void FetchedKeys::miss(std::string_view key_id) {
    if (key_id.size() > authentication::KeySetSchedule::kKeyIdBytesMax) {
        return;
    }
    missed_ = std::make_shared<const std::string>(key_id);
    worker_->wake();
}

Instant FetchedKeys::step() {
    Instant now = clock_.now().monotonic;
    if (const auto missed = missed_.exchange(nullptr)) {
        fetches_.miss(*missed, now);
    }
    if (fetches_.next_fetch() > now) {
        return fetches_.next_fetch();
    }
    auto keys = try_to_fetch();
    now = clock_.now().monotonic;
    if (!keys) {
        if (!std::exchange(is_failing_, true)) {
            log::warning("net", "cannot fetch the OAUTHBEARER key set; the previous keys check tokens",
                         {{"url", place_.url}, {"reason", keys.error()}});
        }
        fetches_.failed(now);
        return fetches_.next_fetch();
    }
    if (std::exchange(is_failing_, false)) {
        log::info("net", "the OAUTHBEARER key set can be fetched again", {{"url", place_.url}});
    }
    keys_ = std::move(*keys);
    fetches_.fetched(now);
    return fetches_.next_fetch();
}

}  // namespace partita::kafka
