#pragma once

#include <memory>
#include <string>
#include <utility>

namespace partita::access {

class Principal;

/// Null only where a header says so.
using PrincipalPointer = std::shared_ptr<const Principal>;

/// Who somebody is, immutable. One is made where it was checked (by TLS or SASL), for all requests of a connection; the only one
/// that nobody has to check is `anonymous`. So a name that can be read here was either proven, or is Kafka's for who proved none.
class Principal {
  public:
    Principal(std::string type, std::string name) : type_(std::move(type)), name_(std::move(name)) {}

    /// Kafka's User:ANONYMOUS: whoever was not asked who they are. Lives as long as the program; copies of the pointer count nothing.
    [[nodiscard]] static PrincipalPointer anonymous();

    /// "User".
    [[nodiscard]] const std::string& type() const { return type_; }
    /// The name that quotas go by: "alice".
    [[nodiscard]] const std::string& name() const { return name_; }
    /// "User:alice".
    [[nodiscard]] std::string text() const { return type_ + ":" + name_; }

  private:
    std::string type_;
    std::string name_;
};

/// What was established about the client at the other end of a connection. The connection owns its session, from accept on;
/// authentication will replace it, on the connection's reactor and between two requests. So a request sees one session as long as
/// it is served. What outlives that call (a fetch that waits) keeps the principal.
struct Session {
    /// Never null.
    PrincipalPointer principal = Principal::anonymous();
};

}  // namespace partita::access
