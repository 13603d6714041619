#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace partita::access {

class Principal;

/// The rights of a key: to write, to read, and to make any other change. Every key may describe topics and configs.
enum class KeyRight : std::uint8_t { send, listen, manage };

/// All rights by default.
struct KeyRights {
    bool send = true;
    bool listen = true;
    bool manage = true;

    [[nodiscard]] bool has(KeyRight right) const {
        return right == KeyRight::send ? send : right == KeyRight::listen ? listen : manage;
    }

    friend bool operator==(const KeyRights&, const KeyRights&) = default;
};

/// The permissions that a key itself gives its bearer: its rights, everywhere or for one topic.
struct KeyGrant {
    std::optional<std::string> only_topic;
    KeyRights rights = {};

    friend bool operator==(const KeyGrant&, const KeyGrant&) = default;
};

/// Never null, unless a header states otherwise.
using PrincipalPointer = std::shared_ptr<const Principal>;

/// Activity of all clients of one principal since the start. Any thread adds to it.
struct Usage {
    std::atomic<std::uint64_t> requests = 0;
    /// Bytes of record batches, appended and sent.
    std::atomic<std::uint64_t> produced_bytes = 0;
    std::atomic<std::uint64_t> fetched_bytes = 0;
    /// Resources that the broker refused to a request.
    std::atomic<std::uint64_t> denials = 0;
    /// How long quotas made it wait.
    std::atomic<std::uint64_t> throttled_ms = 0;
};

/// The identity of a client; immutable. The code that authenticates the client (TLS or SASL) creates it, for all requests of the
/// connection; only `anonymous` needs no authentication. So a name in a Principal was proven, or is Kafka's name for clients that
/// proved none.
class Principal {
  public:
    Principal(std::string type, std::string name, std::optional<KeyGrant> grant = std::nullopt)
        : type_(std::move(type)), name_(std::move(name)), text_(type_ + ":" + name_), grant_(std::move(grant)) {}
    /// The same with a counter of its activity.
    Principal(Principal proven, std::shared_ptr<Usage> usage) : Principal(std::move(proven)) { usage_ = std::move(usage); }

    /// Kafka's User:ANONYMOUS, for clients that did not have to authenticate. Lives as long as the program; copying the pointer
    /// counts no reference.
    [[nodiscard]] static PrincipalPointer anonymous();

    /// "User".
    [[nodiscard]] const std::string& type() const { return type_; }
    /// The name for quotas: "alice".
    [[nodiscard]] const std::string& name() const { return name_; }
    /// "User:alice".
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Mostly null: then only rules decide. Rules that know of grants check them (profile::ServiceRules).
    [[nodiscard]] const std::optional<KeyGrant>& grant() const { return grant_; }
    /// Null if nothing is counted: for clients without authentication, and for clients over HTTP.
    [[nodiscard]] Usage* usage() const { return usage_.get(); }

  private:
    std::string type_;
    std::string name_;
    std::string text_;
    std::optional<KeyGrant> grant_;
    std::shared_ptr<Usage> usage_;
};

/// The facts about the client of a connection. The connection owns its session from accept on. Authentication
/// replaces it on the connection's reactor, between two requests, so a request sees one session throughout. Work that outlives
/// the request, such as a waiting fetch, keeps the principal.
struct Session {
    /// Never null.
    PrincipalPointer principal = Principal::anonymous();
    /// True if the client logged in by a delegation token: it may do whatever the token's owner may, but not manage tokens.
    bool is_by_token = false;

    /// False for a client that did not have to authenticate. (A user may have the name ANONYMOUS, too.)
    [[nodiscard]] bool is_known() const { return principal.get() != Principal::anonymous().get(); }
};

}  // namespace partita::access
