#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/authentication/key_set_schedule.h"
#include "broker/authentication/key_source.h"
#include "broker/client/http_exchange.h"
#include "broker/client/tcp_network.h"
#include "broker/client/tls.h"
#include "schedule/executor.h"

namespace partita::kafka {

/// The key set of a URL. It is fetched once before the listener opens, as in Kafka, and later by a worker at the times of
/// KeySetSchedule. While fetching fails, the old keys stay valid, and the broker checks tokens without the issuer. The log
/// shows the beginning and the end of each outage, once.
class FetchedKeys final : public authentication::KeySource {
  public:
    /// The limit for one fetch, from resolving the host name to the last byte. No login waits for a fetch: the broker checks
    /// tokens with the present keys.
    static constexpr std::int64_t kFetchMsMax = 10'000;
    /// How long the start waits for an unresponsive issuer: in a composition of containers the issuer may start later.
    static constexpr std::int64_t kStartMsMax = 15'000;

    /// Waits for the first keys. The error is one line that names the config and the URL.
    [[nodiscard]] static std::expected<std::shared_ptr<FetchedKeys>, std::string> fetch(authentication::KeySetPlace place,
                                                                                        const Schedule& schedule);
    ~FetchedKeys() override;
    FetchedKeys(const FetchedKeys&) = delete;
    FetchedKeys& operator=(const FetchedKeys&) = delete;

    [[nodiscard]] std::shared_ptr<const authentication::KeySet> keys() const override { return keys_.load(); }
    void miss(std::string_view key_id) override;

  private:
    FetchedKeys(authentication::KeySetPlace place, client::HttpUrl url, std::shared_ptr<const client::Tls> tls, Clock& clock);

    /// Tries to fetch once. The error is only the reason.
    [[nodiscard]] std::expected<std::shared_ptr<const authentication::KeySet>, std::string> try_to_fetch();
    [[nodiscard]] Instant step();

    const authentication::KeySetPlace place_;
    const client::HttpUrl url_;
    const std::shared_ptr<const client::Tls> tls_;
    Clock& clock_;
    /// An eventfd that becomes readable in the destructor, which ends all waits.
    int end_;
    client::TcpNetwork network_;
    std::atomic<std::shared_ptr<const authentication::KeySet>> keys_;
    /// The last key that a token named in vain, until the worker has handled it.
    std::atomic<std::shared_ptr<const std::string>> missed_;
    authentication::KeySetSchedule fetches_;
    bool is_failing_ = false;
    /// Declared last, so that it ends before the members that it uses.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::kafka
