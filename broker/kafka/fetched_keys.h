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

/// The key set of a URL: fetched once before the listener opens, as by Kafka,
/// and from then on by a worker when KeySetSchedule says so. While fetching
/// fails the old keys stay: tokens are checked without the issuer. A failure is
/// told in the log once until it is over.
class FetchedKeys final : public authentication::KeySource {
  public:
    /// For one fetch, from the name of the host to the last byte. No login
    /// waits for it: tokens are checked by the keys that are there.
    static constexpr std::int64_t kFetchMsMax = 10'000;
    /// For how long the start waits for an issuer that does not answer: in a
    /// composition of containers it may come later.
    static constexpr std::int64_t kStartMsMax = 15'000;

    /// Waits for the first keys. The error is one line that names the config and
    /// the URL.
    [[nodiscard]] static std::expected<std::shared_ptr<FetchedKeys>, std::string> fetch(authentication::KeySetPlace place,
                                                                                        const Schedule& schedule);
    ~FetchedKeys() override;
    FetchedKeys(const FetchedKeys&) = delete;
    FetchedKeys& operator=(const FetchedKeys&) = delete;

    [[nodiscard]] std::shared_ptr<const authentication::KeySet> keys() const override { return keys_.load(); }
    void miss(std::string_view key_id) override;

  private:
    FetchedKeys(authentication::KeySetPlace place, client::HttpUrl url, std::shared_ptr<const client::Tls> tls, Clock& clock);

    /// One attempt; the error is the reason alone.
    [[nodiscard]] std::expected<std::shared_ptr<const authentication::KeySet>, std::string> try_to_fetch();
    [[nodiscard]] Instant step();

    const authentication::KeySetPlace place_;
    const client::HttpUrl url_;
    const std::shared_ptr<const client::Tls> tls_;
    Clock& clock_;
    /// Readable from the end on: then no wait goes on.
    int end_;
    client::TcpNetwork network_;
    std::atomic<std::shared_ptr<const authentication::KeySet>> keys_;
    /// The key that was missed last, until the worker has looked at it.
    std::atomic<std::shared_ptr<const std::string>> missed_;
    authentication::KeySetSchedule fetches_;
    bool is_failing_ = false;
    /// The last: it ends before what it uses.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::kafka
