#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "broker/runtime/loop/reply_treatment.h"
#include "protocol/types.h"

namespace partita::runtime {
class RequestContext;
struct ClientConnection;
}  // namespace partita::runtime

namespace partita::handlers {

/// The fate of a request at a gate.
struct Passage {
    enum class Way : std::uint8_t {
        serve,     ///< It is served.
        answered,  ///< The gate has answered it.
        wait,      ///< It takes no effect yet. The gate judges it again at `until`, or when the connection's rest ends earlier.
        drop_request,   ///< It takes no effect. No answer comes, and none to later requests over the connection.
        drop_response,  ///< It is served, and no answer comes, nor to later requests.
        disconnect,     ///< The connection ends.
    };

    Way way = Way::serve;
    /// By the machine's clock (`Reactor::machine_now`).
    Instant until{};
    /// Why the connection ends, for the log.
    std::string reason = {};
    /// The treatment of the answer, after `serve` and `answered`; null if it simply leaves.
    std::unique_ptr<runtime::ReplyTreatment> treatment = nullptr;
};

/// Stands before the handlers, and judges every request that does not belong to a login. An addon may bring one
/// (Extensions::gate). Threads of all reactors call it concurrently.
class RequestGate {
  public:
    virtual ~RequestGate() = default;
    [[nodiscard]] virtual Passage pass(runtime::RequestContext& request) = 0;
    /// The connection has ended.
    virtual void closed(const runtime::ClientConnection& client) = 0;
};

}  // namespace partita::handlers
