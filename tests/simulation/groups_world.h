#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/simulation/coordinator_world.h"

/// A world around one coordinator. Clients behave like real ones (join, sync, heartbeat, commit), and a network loses requests
/// and replies. A log gets records late, and crashes come before, in the middle of and after every call. Everything follows from
/// the seed.

namespace partita::groups::simulation {

/// Errors that the harness can make on purpose, to show that the invariants notice.
enum class Sabotage {
    none,
    lose_commit_records,     ///< acknowledges offsets whose records were not written
    lose_group_records,      ///< answers SyncGroup although the group was not written
    reply_before_writing,    ///< sends replies although the records were lost in a crash
    stop_the_clock_of_core,  ///< never calls tick
    change_without_record,   ///< hides records from the follower, as if the core had changed without them
};

struct Options {
    std::uint64_t seed = 0;
    std::int64_t faulty_ms = 90'000;
    Sabotage sabotage = Sabotage::none;
};

struct Statistics {
    std::uint64_t calls = 0;
    std::uint64_t crashes = 0;
    std::uint64_t generations = 0;
    std::uint64_t acknowledged_commits = 0;
    std::uint64_t fenced = 0;
    std::uint64_t static_rejoins = 0;
    std::int64_t settled_after_ms = 0;
};

class World : CoordinatorWorld {
  public:
    explicit World(const Options& options);

    /// Runs to the end. Returns the first violation, or nothing.
    std::optional<std::string> run();
    [[nodiscard]] const Statistics& statistics() const { return statistics_; }
    using CoordinatorWorld::readers_seen;

  private:
    static constexpr std::int32_t kSlots = 12;
    static constexpr std::int32_t kPartitions = 4;
    static constexpr std::int64_t kSettleLimitMs = 30 * 60'000;

    enum class Phase { off, joining, syncing, stable };
    struct Client {
        std::size_t index = 0;
        std::string group;
        std::optional<std::string> instance;
        std::int16_t join_version = 9;
        std::int32_t session_ms = 10'000;
        std::int32_t rebalance_ms = 20'000;
        std::string metadata = "v0";
        std::vector<std::string> protocols;

        Phase phase = Phase::off;
        /// Events and replies of an earlier try find another number here and are void.
        std::uint64_t attempt = 0;
        std::string id;
        std::int32_t generation = -1;
    };
    enum class Kind { join, sync, heartbeat, leave, commit, other };
    struct Request {
        Kind kind = Kind::other;
        std::size_t client = 0;
        std::uint64_t attempt = 0;
        std::string group;
        std::string identity;  ///< instance id, or member id
        std::int32_t generation = -1;
        std::int32_t partition = -1;
        std::int64_t number = -1;
    };

    // Time
    void run_until(std::int64_t end);
    void run_core_timers(std::int64_t until);

    // Shell
    void start_coordinator();
    template <class Call>
    void deliver(Call&& call);
    void flush();
    void write(const Record& record);
    void release(const Reply& reply);
    void crash(const std::optional<std::string>& dump_before);
    void check_record(const Record& record);
    void check_offsets();

    // Clients
    [[nodiscard]] static std::string subscription_of(const Client& client);
    void start_client(Client& client);
    void stop_client(Client& client);
    void send_join(Client& client);
    void send_sync(Client& client, const JoinResult& joined);
    void send_heartbeat(Client& client);
    void send_commit(Client& client);
    void send_admin_commit();
    void send_leave(Client& client);
    void rejoin(Client& client, std::int64_t delay_ms);
    void forget_id_and_rejoin(Client& client);
    void on_reply(const Request& request, const Result& result);
    void on_joined(Client& client, const JoinResult& result);
    void on_synced(Client& client, const SyncResult& result);
    void on_heartbeat(Client& client, ErrorCode error);
    ReplyToken remember(Request request);
    void expect_answer(Client& client, std::int64_t timeout_ms);
    void random_event();

    [[nodiscard]] std::optional<std::string> unsettled();
    DescribeGroupsResult::Group describe(const std::string& group);

    Options options_;
    int late_write_percent_ = 0;

    std::uint64_t life_ = 0;
    Effects pending_;
    /// The durable state at the time when `pending_` began to hold unwritten records.
    std::optional<std::string> dump_before_pending_;

    std::vector<Client> clients_;
    std::map<std::uint64_t, Request> requests_;
    std::uint64_t tokens_ = 0;
    std::uint64_t suffixes_ = 0;

    // Observations.
    std::map<std::string, std::int32_t> written_generation_;
    std::map<std::pair<std::uint64_t, std::string>, std::int32_t> announced_generation_;
    std::map<std::tuple<std::uint64_t, std::string, std::int32_t>, std::set<std::string>> leaders_;
    std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::string> slot_owner_;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> acknowledged_;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> removed_up_to_;
    std::int64_t commit_numbers_ = 0;
    Statistics statistics_;
};

}  // namespace partita::groups::simulation
