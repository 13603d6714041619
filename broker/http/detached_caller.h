#pragma once

#include <string>
#include <string_view>

#include "broker/http/exchange.h"
#include "protocol/file_descriptor.h"

namespace partita::http {

/// A caller whose connection has left its server (Exchange::detach), without TLS. It gets one answer, which ends the connection;
/// without an answer the connection ends when this is destroyed.
class DetachedCaller {
  public:
    /// `identity`: the header Partita-Broker.
    DetachedCaller(FileDescriptor socket, std::string identity) : socket_(std::move(socket)), identity_(std::move(identity)) {}

    /// Sends what the socket takes at once, which suffices for a small answer to a client that waits for it.
    void respond(Status status, std::string_view type, std::string body);

  private:
    FileDescriptor socket_;
    const std::string identity_;
};

}  // namespace partita::http
