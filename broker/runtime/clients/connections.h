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

/// Hears when more is known about who is at the other end of connections.
class IdentityListener {
  public:
    virtual ~IdentityListener() = default;
    /// Called on the thread that asked the kernel, without a lock.
    virtual void identities_changed() = 0;
};

/// What is known of open connections that produce, read, or speak for members of groups; and, for those that somebody wants to
/// know it of, the processes behind those from this machine. These are asked of the kernel by a worker of its own, which is there
/// from the first wish on.
///
/// Thread-safe. Its lock is the innermost: nothing is called while it is held.
class Connections {
  public:
    /// How many connections are known. About a further one nothing is said, so that nobody is excluded by it.
    static constexpr std::size_t kKnownMax = 16'384;
    /// The worker works for one part in so many of the time; what it saved it may work at once, up to `kBurstNs`, since fetches
    /// may wait for it.
    static constexpr std::int64_t kRestFactor = 20;
    static constexpr std::int64_t kBurstNs = 500'000'000;
    /// How many kinds of software connections share. Of a further one each connection has its own.
    static constexpr std::size_t kSoftwareMax = 64;
    /// Connections of one look at the machine's processes.
    static constexpr std::size_t kWantedMax = 1024;

    explicit Connections(const Schedule& schedule) : schedule_(schedule) {}
    ~Connections();
    /// Set once, before connections come.
    void set_listener(IdentityListener& listener) { listener_ = &listener; }
    void stop();

    /// A new id, for a connection that was accepted.
    [[nodiscard]] insight::ConnectionId next_id() { return {next_id_.fetch_add(1, std::memory_order_relaxed)}; }
    /// What a client says of its software: one object for all open connections that say the same, while there are no more than
    /// `kSoftwareMax` kinds at a time. It lives as long as somebody holds it. Never null.
    [[nodiscard]] std::shared_ptr<const ClientSoftware> software(std::string_view name, std::string_view version);
    /// Makes the connection known, because its client produces or reads. One call per connection is enough.
    void note(const ClientConnection& client, std::string_view client_id);
    /// Notes that the connection speaks for a member of a group, and makes it known.
    void note_member(const ClientConnection& client, std::string_view client_id, std::string_view group,
                     std::string_view member_id);
    void closed(insight::ConnectionId connection);

    /// The facts about an open connection that was noted.
    [[nodiscard]] std::optional<insight::ConnectionFacts> find(insight::ConnectionId connection) const;
    /// The facts about the noted connections, those that were accepted first before the others: `most` of them.
    [[nodiscard]] std::vector<insight::ConnectionFacts> first(std::size_t most) const;
    /// The noted connections of clients that call themselves so: `most` of them, those that were accepted first before the
    /// others.
    [[nodiscard]] std::vector<insight::SpeakingConnection> called(std::string_view client_id, std::size_t most) const;
    /// False: there was no place for some connection, or for a member that one speaks for, so that it may be there and not be
    /// known.
    [[nodiscard]] bool knows_all() const;
    /// The facts about the connection over which the member speaks to its coordinator.
    [[nodiscard]] std::optional<insight::ConnectionFacts> coordinator_of(std::string_view group,
                                                                         std::string_view member_id) const;

    /// Has the process behind the connection looked up soon, once. True when there is nothing to wait for: the process is
    /// known, or it will not be known (the client is on another machine, the connection is not noted, or the kernel did not
    /// tell). When answers have come, the thread that asked tells the listener.
    bool want_process(insight::ConnectionId connection);

    [[nodiscard]] std::size_t size() const;

    /// Finds the processes behind connections: the kernel (`ProcessFinder`), or what a test puts in its place. Called on the
    /// thread that asks, without a lock.
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
    /// See `knows_all`. It stays: who was not noted once is not noted later.
    bool has_left_out_ GUARDED_BY(mutex_) = false;

    // Only steps of the worker use these: how much processor time they may still use before they rest, and until when they rest.
    std::int64_t credit_ns_ = kBurstNs;
    std::optional<std::int64_t> counted_ns_;
    Instant rests_until_{};
};

}  // namespace partita::runtime
