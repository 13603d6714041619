#pragma once

#include <string>
#include <string_view>

#include "broker/http/exchange.h"

namespace partita::http {

/// A caller whose connection has left its server (Exchange::detach), without TLS. It gets one answer, which ends the connection;
/// without an answer the connection ends when this is destroyed.
class DetachedCaller {
  public:
    /// `socket`: owned from now on. `identity`: the header Partita-Broker.
    DetachedCaller(int socket, std::string identity) : socket_(socket), identity_(std::move(identity)) {}
    ~DetachedCaller();
    DetachedCaller(const DetachedCaller&) = delete;
    DetachedCaller& operator=(const DetachedCaller&) = delete;

    /// Sends what the socket takes at once, which suffices for a small answer to a client that waits for it.
    void respond(Status status, std::string_view type, std::string body);

  private:
    int socket_;
    const std::string identity_;
};

}  // namespace partita::http
