#pragma once

#include "broker/logs/append_steps.h"
#include "broker/logs/read_request.h"
#include "broker/logs/read_steps.h"

/// Steps that concern the client of an append or a read, whatever it is about: its quotas, and what is counted of its principal.

namespace partita::runtime {

class ClientThrottles;

/// Keeps of the client what steps need to know while a read waits. Does something once for each request.
void keep_client(logs::ReadRequest& request);

/// Holds producers to their quotas on bytes. On while somebody has one.
class ProducerQuota final : public logs::AppendStep {
  public:
    explicit ProducerQuota(ClientThrottles& throttles) : throttles_(throttles) {}

    void settle(logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    ClientThrottles& throttles_;
};

/// Holds consumers to their quotas on bytes: one that has used up its quota gets nothing, and waits (KIP-219). On while somebody
/// has one.
class ConsumerQuota final : public logs::ReadStep {
  public:
    explicit ConsumerQuota(ClientThrottles& throttles) : throttles_(throttles) {}

    void admit(logs::ReadRequest& request, logs::Turn& turn) override;
    [[nodiscard]] bool settle(logs::ReadRequest& request, logs::Turn& turn) override;

  private:
    ClientThrottles& throttles_;
};

/// Counts what principals write and read, of those that are counted.
class AppendUsage final : public logs::AppendStep {
  public:
    void tell(const logs::AppendRequest& request, logs::Turn& turn) override;
};
class ReadUsage final : public logs::ReadStep {
  public:
    void tell(const logs::ReadRequest& request, logs::Turn& turn) override;
};

}  // namespace partita::runtime
