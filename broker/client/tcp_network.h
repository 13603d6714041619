#pragma once

#include "broker/client/network.h"
#include "broker/client/resolver.h"

namespace partita::client {

/// TCP of the operating system. A connect's deadline includes the name lookup; it tries every address in order.
class TcpNetwork final : public Network {
  public:
    TcpNetwork() = default;
    explicit TcpNetwork(Resolver::Lookup lookup) : resolver_(std::move(lookup)) {}

    [[nodiscard]] std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint& endpoint,
                                                                                      Instant deadline) override;
    [[nodiscard]] Clock& clock() override { return clock_; }
    void pause(std::int64_t duration_ms) override;
    void end_waits_by(int descriptor) override { interruption_ = descriptor; }

  private:
    SystemClock clock_;
    Resolver resolver_;
    int interruption_ = -1;
};

}  // namespace partita::client
