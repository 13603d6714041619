#include <poll.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/14_sync_group.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::int16_t kJoinVersion = 5;
constexpr std::int16_t kSyncVersion = 3;
constexpr std::int16_t kHeartbeatVersion = 3;
/// After a silence of this length, members that are done ask whether the group is still the same.
constexpr int kHeartbeatMs = 2;
constexpr std::int32_t kSessionTimeoutMs = 30'000;
constexpr std::int32_t kRebalanceTimeoutMs = 60'000;
constexpr std::size_t kAssignmentBytes = 64;
/// Groups that are formed, each new to the broker; the last one rebalances.
constexpr std::size_t kFormations = 5;

/// A member's phase in the measured rebalance.
enum class Phase { joining, syncing, settled, asking };

struct Member {
    Connection connection;
    std::string id;
    Phase phase = Phase::settled;
    std::int32_t generation = -1;
};

/// A ConsumerProtocolSubscription, version 0, without topics: Kafka never answers a member whose subscription it cannot read. The
/// bytes differ in every round: a coordinator answers a member without news without a rebalance.
std::array<std::byte, 14> subscription(std::int32_t round) {
    std::array<std::byte, 14> bytes{};                        // int16 version and int32 count of topics are 0
    store_big_endian(&bytes[6], std::int32_t{sizeof round});  // length of user data
    store_big_endian(&bytes[10], round);
    return bytes;
}

/// A group whose members have separate connections. Each member goes on as soon as its answer comes. It joins again when another
/// member is in a later generation, or when a heartbeat says so. A broker may complete a generation with the members that came
/// first, and the others then wait for these to come again.
class Group {
  public:
    Group(const Settings& settings, std::string id) : id_(std::move(id)), assignment_(kAssignmentBytes, std::byte{1}) {
        for (int i = 0; i < settings.members; ++i) {
            members_.push_back({.connection = Connection(settings.port), .id = {}});
            waits_.push_back({members_.back().connection.descriptor(), POLLIN, 0});
        }
    }

    /// The first contact: every member gets an id (KIP-394). This is not measured.
    void get_ids() {
        for (Member& member : members_) {
            send_join(member);
        }
        for (Member& member : members_) {
            const auto& answer = member.connection.read<JoinGroupResponse, JoinGroupRequest>(kJoinVersion);
            if (answer.error_code != ErrorCode::member_id_required) {
                give_up("JoinGroup gave no member id");
            }
            member.id = answer.member_id;
        }
    }

    /// All members join at once; returns when all have an assignment of one generation.
    void rebalance() {
        ++round_;
        for (Member& member : members_) {
            send_join(member);
        }
        while (!is_settled()) {
            const int ready = ::poll(waits_.data(), waits_.size(), kHeartbeatMs);
            if (ready < 0) {
                give_up("poll failed");
            }
            for (std::size_t i = 0; i < members_.size(); ++i) {
                if ((waits_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                    read_answer(members_[i]);
                }
            }
            for (Member& member : members_) {
                if (member.phase != Phase::settled) {
                    continue;
                }
                if (member.generation < newest_generation_) {
                    send_join(member);
                } else if (ready == 0) {
                    send_heartbeat(member);
                }
            }
        }
    }

  private:
    [[nodiscard]] bool is_settled() const {
        return std::all_of(members_.begin(), members_.end(), [&](const Member& member) {
            return member.phase == Phase::settled && member.generation == newest_generation_;
        });
    }

    void send_join(Member& member) {
        const auto metadata = subscription(round_);
        JoinGroupRequest::Protocol protocol{.name = "bench", .metadata = metadata};
        const JoinGroupRequest request{.group_id = id_,
                                       .session_timeout_ms = kSessionTimeoutMs,
                                       .rebalance_timeout_ms = kRebalanceTimeoutMs,
                                       .member_id = member.id,
                                       .protocol_type = "consumer",
                                       .protocols = {&protocol, 1}};
        member.connection.send(request_frame(kJoinVersion, request));
        member.phase = Phase::joining;
    }

    void send_heartbeat(Member& member) {
        const HeartbeatRequest request{.group_id = id_, .generation_id = member.generation, .member_id = member.id};
        member.connection.send(request_frame(kHeartbeatVersion, request));
        member.phase = Phase::asking;
    }

    void read_answer(Member& member) {
        switch (member.phase) {
            case Phase::joining:
                return read_join(member);
            case Phase::syncing:
                return read_sync(member);
            case Phase::asking:
                return read_heartbeat(member);
            case Phase::settled:
                give_up("an answer that nobody asked for");
        }
    }

    void read_heartbeat(Member& member) {
        const auto& answer = member.connection.read<HeartbeatResponse, HeartbeatRequest>(kHeartbeatVersion);
        member.phase = Phase::settled;
        if (answer.error_code == ErrorCode::rebalance_in_progress || answer.error_code == ErrorCode::illegal_generation) {
            return send_join(member);
        }
        if (answer.error_code != ErrorCode::none) {
            give_up("Heartbeat answered error " + std::to_string(static_cast<int>(answer.error_code)));
        }
    }

    void read_join(Member& member) {
        const auto& answer = member.connection.read<JoinGroupResponse, JoinGroupRequest>(kJoinVersion);
        if (answer.error_code == ErrorCode::rebalance_in_progress) {
            return send_join(member);
        }
        if (answer.error_code != ErrorCode::none) {
            give_up("JoinGroup answered error " + std::to_string(static_cast<int>(answer.error_code)));
        }
        member.generation = answer.generation_id;
        newest_generation_ = std::max(newest_generation_, answer.generation_id);
        std::vector<SyncGroupRequest::Assignment> assignments;
        if (answer.leader == answer.member_id) {
            for (const auto& other : answer.members) {
                assignments.push_back({other.member_id, assignment_});
            }
        }
        const SyncGroupRequest request{
            .group_id = id_, .generation_id = answer.generation_id, .member_id = member.id, .assignments = assignments};
        member.connection.send(request_frame(kSyncVersion, request));
        member.phase = Phase::syncing;
    }

    void read_sync(Member& member) {
        const auto& answer = member.connection.read<SyncGroupResponse, SyncGroupRequest>(kSyncVersion);
        if (answer.error_code == ErrorCode::rebalance_in_progress || answer.error_code == ErrorCode::illegal_generation) {
            return send_join(member);
        }
        if (answer.error_code != ErrorCode::none) {
            give_up("SyncGroup answered error " + std::to_string(static_cast<int>(answer.error_code)));
        }
        if (answer.assignment.size() != kAssignmentBytes) {
            give_up("SyncGroup answered another assignment");
        }
        member.phase = Phase::settled;
    }

    std::string id_;
    std::vector<std::byte> assignment_;
    std::vector<Member> members_;
    std::vector<pollfd> waits_;
    std::int32_t newest_generation_ = -1;
    std::int32_t round_ = 0;
};

}  // namespace

void rejoin(const Settings& settings) {
    // A single formation would measure chance: the broker makes the coordinator's log with it, and creating files waits for other
    // work of the file system.
    Latencies formations(kFormations);
    std::optional<Group> group;
    for (std::size_t i = 0; i < kFormations; ++i) {
        const std::string id = "bench-" + std::to_string(now_ns());
        Connection asking(settings.port);
        wait_for_coordinator(asking, id);
        group.emplace(settings, id);
        group->get_ids();
        const std::int64_t began_ns = now_ns();
        group->rebalance();
        formations.add(now_ns() - began_ns);
    }
    Latencies latencies(static_cast<std::size_t>(settings.rounds));
    const Usage before = Usage::of(settings.pid);
    for (int round = 0; round < settings.rounds; ++round) {
        const std::int64_t round_began_ns = now_ns();
        group->rebalance();
        latencies.add(now_ns() - round_began_ns);
    }
    Report report("rejoin");
    report.add("members", settings.members);
    report.add("form_ms", formations.percentile_us(0.5) / 1000);
    report.add("rejoin_ms", latencies.percentile_us(0.5) / 1000);
    report.add("rejoin_worst_ms", latencies.percentile_us(1) / 1000);
    report.add_usage(before, settings.pid, 0);
    report.print();
}

}  // namespace partita::bench
