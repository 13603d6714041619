#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/coordinator_world.h"
#include "tests/support/test_cluster.h"

/// A world around one coordinator with a consumer group of KIP-848, whose members may speak either protocol. Members come, leave,
/// die, are slow to give partitions up, and lose requests and replies. Topics grow, vanish and come. The coordinator crashes
/// before a call is written, and between writing and answering. Everything follows from the seed.

namespace partita::groups::simulation {

struct ConsumersOptions {
    std::uint64_t seed = 0;
    std::int64_t faulty_ms = 240'000;
    std::int32_t members = 8;
    std::int32_t topics = 3;
    std::int32_t most_partitions = 12;
    /// Members say that they gave partitions up while they still work on them. The world must notice this.
    bool greedy = false;
    /// Writes are lost although they were answered.
    bool lose_writes = false;
};

struct ConsumersStatistics {
    std::uint64_t heartbeats = 0;
    std::uint64_t crashes = 0;
    std::uint64_t fenced = 0;
    std::uint64_t moves = 0;
    std::uint64_t classic_joins = 0;
    /// Members that came to a settled group and took their share without any other move.
    std::uint64_t newcomers = 0;
    std::int32_t last_epoch = 0;
    std::int64_t settled_after_ms = 0;
};

class ConsumersWorld : CoordinatorWorld {
  public:
    explicit ConsumersWorld(const ConsumersOptions& options);

    /// Runs to the end. Returns the first violation, or nothing.
    std::optional<std::string> run();
    [[nodiscard]] const ConsumersStatistics& statistics() const { return statistics_; }
    using CoordinatorWorld::readers_seen;

  private:
    static constexpr std::int64_t kSettleLimitMs = 10 * 60'000;
    using Partition = std::pair<TopicId, std::int32_t>;

    struct Member {
        std::size_t index = 0;
        std::optional<std::string> instance;
        std::vector<std::string> topics;
        std::string regex;
        std::int64_t revocation_ms = 0;
        /// The member speaks the classic protocol, eagerly: it gives up everything before it rejoins.
        bool speaks_classic = false;
        /// Its JoinGroup or SyncGroup was not answered yet.
        bool is_waiting = false;

        bool is_on = false;
        /// Events of an earlier life find another number here and are void.
        std::uint64_t life = 0;
        std::string id;
        std::int32_t epoch = 0;
        /// The partitions that the member works on now.
        std::set<Partition> owned;
        /// The partitions that the coordinator told it to work on.
        std::set<Partition> told;
        /// The member says everything with its next heartbeat: at first, and when it missed an answer.
        bool says_all = true;
        bool is_revoking = false;
        /// Its instance id is still in use by its former life.
        bool waits_for_place = false;
    };

    void run_until(std::int64_t end);
    void move_clock(std::int64_t to);

    void start_coordinator();
    void crash();
    /// Runs the call; the replies in `effects` may leave afterwards. False when the coordinator crashed, and with it the
    /// replies.
    bool deliver(const std::function<void(Effects&)>& call, Effects& effects);
    void write(const Record& record);

    /// Hands the replies to members that still wait for them.
    void dispatch(const Effects& effects);

    // Members that speak the classic protocol
    void classic_join(Member& member);
    void classic_sync(Member& member, const JoinResult& joined);
    void classic_beat(Member& member);
    void on_joined(Member& member, const JoinResult& result);
    void on_synced(Member& member, const SyncResult& result);
    void rejoin_classic(Member& member, ErrorCode error);
    void ask(Member& member, const std::function<void(ReplyToken, Effects&)>& call);
    [[nodiscard]] std::string subscription(const Member& member) const;

    void start(Member& member);
    void stop(Member& member, std::int32_t farewell);
    void beat(Member& member, std::int32_t epoch);
    void on_answer(Member& member, const ConsumerHeartbeatResult& result);
    void next_beat(Member& member, std::int64_t delay_ms);
    void rejoin(Member& member);
    void revoke(Member& member);
    void random_event();
    void change_topics();
    void set_cluster(std::shared_ptr<test::TestCluster> cluster, bool has_new_topics);
    void check_owners();
    [[nodiscard]] std::optional<std::string> unsettled();
    /// Runs until the group is settled; returns what is missing when it never settles.
    [[nodiscard]] std::optional<std::string> settle();
    /// All members that are on want the same and share it out evenly.
    [[nodiscard]] bool is_uniform() const;
    void check_stickiness();
    [[nodiscard]] ConsumerGroupDescribeResult::Group describe();

    ConsumersOptions options_;
    std::shared_ptr<test::TestCluster> cluster_ = std::make_shared<test::TestCluster>();
    std::vector<Member> members_;
    /// The member that waits for each reply: its index and life.
    std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> waiting_;
    std::uint64_t tokens_ = 0;
    std::uint64_t ids_ = 0;
    std::uint64_t created_topics_ = 0;
    ConsumersStatistics statistics_;
};

}  // namespace partita::groups::simulation
