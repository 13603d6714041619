#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace partita::access {

class Principal;

/// What a key may be good for: writing, reading, and everything else that changes something. Looking is for every key.
enum class KeyRight : std::uint8_t { send, listen, manage };

/// All of them, unless somebody says less.
struct KeyRights {
    bool send = true;
    bool listen = true;
    bool manage = true;

    [[nodiscard]] bool has(KeyRight right) const {
        return right == KeyRight::send ? send : right == KeyRight::listen ? listen : manage;
    }

    friend bool operator==(const KeyRights&, const KeyRights&) = default;
};

/// What a key allows whoever logged in with it, by itself: what it has the right to, everywhere or with one topic.
struct KeyGrant {
    std::optional<std::string> only_topic;
    KeyRights rights = {};

    friend bool operator==(const KeyGrant&, const KeyGrant&) = default;
};

/// Never null, unless a header says so.
using PrincipalPointer = std::shared_ptr<const Principal>;

/// What all clients of one principal did since the start. Any thread adds.
struct Usage {
    std::atomic<std::uint64_t> requests = 0;
    /// Of record batches: those that were appended, and those that were sent.
    std::atomic<std::uint64_t> produced_bytes = 0;
    std::atomic<std::uint64_t> fetched_bytes = 0;
    /// Resources that a request was refused.
    std::atomic<std::uint64_t> denials = 0;
    /// For how long it was told to wait because of quotas.
    std::atomic<std::uint64_t> throttled_ms = 0;
};

/// Who a client is; immutable. Whoever checks the client's identity (TLS or SASL) makes one, for all requests of the
/// connection; only `anonymous` needs no check. So a name in a Principal was proven, or is Kafka's name for clients
/// that proved none.
class Principal {
  public:
    Principal(std::string type, std::string name, std::optional<KeyGrant> grant = std::nullopt)
        : type_(std::move(type)), name_(std::move(name)), text_(type_ + ":" + name_), grant_(std::move(grant)) {}
    /// The same, and what it does is counted there.
    Principal(Principal proven, std::shared_ptr<Usage> usage) : Principal(std::move(proven)) { usage_ = std::move(usage); }

    /// Kafka's User:ANONYMOUS, for clients that were not asked who they are. Lives as long as the program; copying the
    /// pointer counts no reference.
    [[nodiscard]] static PrincipalPointer anonymous();

    /// "User".
    [[nodiscard]] const std::string& type() const { return type_; }
    /// The name that quotas go by: "alice".
    [[nodiscard]] const std::string& name() const { return name_; }
    /// "User:alice".
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Mostly null: then it is for rules alone to say what it may do. Rules that know of grants look (profile::ServiceRules).
    [[nodiscard]] const std::optional<KeyGrant>& grant() const { return grant_; }
    /// Null where nothing is counted: of who was not asked who it is, and of who comes over HTTP.
    [[nodiscard]] Usage* usage() const { return usage_.get(); }

  private:
    std::string type_;
    std::string name_;
    std::string text_;
    std::optional<KeyGrant> grant_;
    std::shared_ptr<Usage> usage_;
};

/// What was established about the client at the other end of a connection. The connection owns its session, from accept
/// on; authentication will replace it, on the connection's reactor and between two requests. So a request sees one
/// session as long as it is served. Work that outlives the request, such as a fetch that waits, keeps the principal.
struct Session {
    /// Never null.
    PrincipalPointer principal = Principal::anonymous();
    /// True when the client logged in by a delegation token: it may do what the token's owner may, but not with tokens.
    bool is_by_token = false;

    /// False for a client that was not asked who it is. (A user may have that name, too.)
    [[nodiscard]] bool is_known() const { return principal.get() != Principal::anonymous().get(); }
};

}  // namespace partita::access
