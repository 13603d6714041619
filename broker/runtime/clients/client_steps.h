#pragma once

#include "broker/logs/append_steps.h"
#include "broker/logs/read_request.h"
#include "broker/logs/read_steps.h"

/// Steps for the client of an append or a read, whatever the topic: they apply its quotas and count what its principal does.

namespace partita::runtime {

class ClientThrottles;

/// Keeps the facts about the client that steps need while a read waits. Takes effect once per request.
void keep_client(logs::ReadRequest& request);

/// Holds producers to their byte quotas. On while any client has such a quota.
class ProducerQuota final : public logs::AppendStep {
  public:
    explicit ProducerQuota(ClientThrottles& throttles) : throttles_(throttles) {}

    void settle(logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    ClientThrottles& throttles_;
};

/// Holds consumers to their byte quotas: a consumer that has used up its quota gets no records and waits (KIP-219). On while any
/// client has such a quota.
class ConsumerQuota final : public logs::ReadStep {
  public:
    explicit ConsumerQuota(ClientThrottles& throttles) : throttles_(throttles) {}

    void admit(logs::ReadRequest& request, logs::Turn& turn) override;
    [[nodiscard]] bool settle(logs::ReadRequest& request, logs::Turn& turn) override;

  private:
    ClientThrottles& throttles_;
};

/// Counts the writes and reads of principals that have counters.
class AppendUsage final : public logs::AppendStep {
  public:
    void tell(const logs::AppendRequest& request, logs::Turn& turn) override;
};
class ReadUsage final : public logs::ReadStep {
  public:
    void tell(const logs::ReadRequest& request, logs::Turn& turn) override;
};

}  // namespace partita::runtime
