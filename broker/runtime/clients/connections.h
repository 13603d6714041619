#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/identity/member_connections.h"
#include "broker/runtime/clients/process_finder.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::runtime {

struct ClientConnection;
struct ClientSoftware;

/// Hears when the broker learns more about the clients behind connections.
class IdentityListener {
  public:
    virtual ~IdentityListener() = default;
    /// Called on the thread that asked the kernel, without a lock.
    virtual void identities_changed() = 0;
};

/// The known facts about open connections that produce, read, or speak for group members. For connections from this machine it
/// also finds the processes behind them, if a caller wants to know. A worker asks the kernel for these; it starts at the first
/// wish.
///
/// Thread-safe. Its lock is the innermost: it calls nothing while it holds the lock.
class Connections {
  public:
    /// The maximum number of known connections. Nothing is said about further ones, so their absence excludes no client.
    static constexpr std::size_t kKnownMax = 16'384;
    /// The worker may use 1/kRestFactor of the time. It may spend saved time at once, up to `kBurstNs`, because fetches may wait
    /// for it.
    static constexpr std::int64_t kRestFactor = 20;
    static constexpr std::int64_t kBurstNs = 500'000'000;
    /// How many kinds of software connections share. Beyond that, each connection has its own object.
    static constexpr std::size_t kSoftwareMax = 64;
    /// The maximum number of connections per look at the machine's processes.
    static constexpr std::size_t kWantedMax = 1024;

    explicit Connections(const Schedule& schedule);
    ~Connections();
    /// Sets the listener, once, before the first connection.
    void set_listener(IdentityListener& listener) { listener_ = &listener; }
    void stop();

    /// A new id, for a connection that was accepted.
    [[nodiscard]] insight::ConnectionId next_id() { return {next_id_.fetch_add(1, std::memory_order_relaxed)}; }
    /// Returns the software that a client reports. Open connections with the same software share one object, as long as there are
    /// at most `kSoftwareMax` kinds. The object lives as long as its holders. Never null.
    [[nodiscard]] std::shared_ptr<const ClientSoftware> software(std::string_view name, std::string_view version);
    /// Makes the connection known, because its client produces or reads. One call per connection is enough.
    void note(const ClientConnection& client, std::string_view client_id);
    /// Notes that the connection speaks for a group member, and makes the connection known.
    void note_member(const ClientConnection& client, std::string_view client_id, std::string_view group,
                     std::string_view member_id);
    void closed(insight::ConnectionId connection);

    /// The facts about an open connection that was noted.
    [[nodiscard]] std::optional<insight::ConnectionFacts> find(insight::ConnectionId connection) const;
    /// The facts about the noted connections, at most `most`. The oldest connections come first.
    [[nodiscard]] std::vector<insight::ConnectionFacts> first(std::size_t most) const;
    /// The noted connections of clients with this client id, at most `most`. The oldest connections come first.
    [[nodiscard]] std::vector<insight::SpeakingConnection> called(std::string_view client_id, std::size_t most) const;
    /// False if there was no room for a connection, or for a member that one speaks for. Such a connection may be open and
    /// unknown.
    [[nodiscard]] bool knows_all() const;
    /// The facts about the connection over which the member speaks to its coordinator.
    [[nodiscard]] std::optional<insight::ConnectionFacts> coordinator_of(std::string_view group,
                                                                         std::string_view member_id) const;

    /// Has the worker look up the process behind the connection soon, once. True if the caller need not wait: the process is
    /// known, or it will not become known. The latter means that the client is on another machine, the connection is not noted,
    /// or the kernel did not tell. When answers have come, the worker's thread tells the listener.
    bool want_process(insight::ConnectionId connection);

    [[nodiscard]] std::size_t size() const;

    /// Finds the processes behind connections by asking the kernel (`ProcessFinder`), or by a test's replacement. Called on the
    /// worker's thread without a lock.
    using Lookup = std::function<std::vector<std::optional<insight::ProcessIdentity>>(std::span<const LocalConnection>)>;
    /// Replaces the lookup. For tests, before the first `want_process`.
    void look_up_by(Lookup lookup);

  private:
    enum class Search : std::uint8_t { not_wanted, wanted, done };
    struct Known {
        insight::ConnectionFacts facts;
        /// Empty for a client on another machine.
        std::optional<LocalConnection> local;
        Search search = Search::not_wanted;
    };

    using Wanted = std::vector<std::pair<insight::ConnectionId, LocalConnection>>;

    [[nodiscard]] Instant step();
    [[nodiscard]] Wanted take_wanted();
    void note_found(const Wanted& wanted, const std::vector<std::optional<insight::ProcessIdentity>>& found);
    void note_locked(const ClientConnection& client, std::string_view client_id) REQUIRES(mutex_);

    const Schedule schedule_;
    IdentityListener* listener_ = nullptr;
    std::atomic<std::uint64_t> next_id_ = 1;

    mutable Mutex mutex_{LockRank::connections};
    std::map<insight::ConnectionId, Known> known_ GUARDED_BY(mutex_);
    insight::MemberConnections members_ GUARDED_BY(mutex_);
    std::vector<insight::ConnectionId> wanted_ GUARDED_BY(mutex_);
    std::vector<std::weak_ptr<const ClientSoftware>> software_ GUARDED_BY(mutex_);
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);
    Lookup lookup_ GUARDED_BY(mutex_) = [](std::span<const LocalConnection> connections) {
        return ProcessFinder().find(connections);
    };
    bool stopping_ GUARDED_BY(mutex_) = false;
    /// See `knows_all`. It stays true, because a connection that was not noted is not noted later.
    bool has_left_out_ GUARDED_BY(mutex_) = false;

    // Only the worker's steps use these: the processor time left before the worker rests, and the end of its rest.
    std::int64_t credit_ns_ = kBurstNs;
    std::optional<std::int64_t> counted_ns_;
    Instant rests_until_{};
};

}  // namespace partita::runtime
