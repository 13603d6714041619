#include <array>
#include <utility>

#include "broker/groups/consumer_protocol.h"
#include "protocol/big_endian.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "tests/simulation/broker_world_clients.h"

namespace partita::test {
namespace {

/// Kafka's ConsumerProtocol, version 0.
class ProtocolWriter {
  public:
    ProtocolWriter() { put<std::int16_t>(0); }
    template <class Integer>
    void put(Integer value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof value);
        store_big_endian(bytes_.data() + at, value);
    }
    void put(const std::string& text) {
        put(static_cast<std::int16_t>(text.size()));
        for (const char letter : text) {
            bytes_.push_back(static_cast<std::byte>(letter));
        }
    }
    std::vector<std::byte> end() {
        put<std::int32_t>(-1);  // No user data.
        return std::move(bytes_);
    }

  private:
    std::vector<std::byte> bytes_;
};

std::vector<std::byte> subscription(const std::vector<std::string>& topics) {
    ProtocolWriter writer;
    writer.put(static_cast<std::int32_t>(topics.size()));
    for (const std::string& topic : topics) {
        writer.put(topic);
    }
    return writer.end();
}

std::vector<std::byte> assignment(const std::map<std::string, std::vector<std::int32_t>>& topics) {
    ProtocolWriter writer;
    writer.put(static_cast<std::int32_t>(topics.size()));
    for (const auto& [topic, partitions] : topics) {
        writer.put(topic);
        writer.put(static_cast<std::int32_t>(partitions.size()));
        for (const std::int32_t partition : partitions) {
            writer.put(partition);
        }
    }
    return writer.end();
}

}  // namespace

void SimulatedMember::act() {
    constexpr std::int64_t kHeartbeatMs = 3'000;
    if (waits()) {
        return;
    }
    if (!knows_coordinator_) {
        knows_coordinator_ = true;
        return find_coordinator(group_);
    }
    if (state_ != State::stable) {
        return join();
    }
    if (world_.one_in(60)) {
        return leave();
    }
    if (next_heartbeat_ <= now()) {
        next_heartbeat_ = now() + kHeartbeatMs;
        return heartbeat();
    }
    work();
}

void SimulatedMember::work() {
    if (owned_.empty()) {
        return;
    }
    if (world_.one_in(6)) {
        return look_at_commits();
    }
    if (!world_.one_in(3)) {
        return;
    }
    commit(owned_[world_.below(owned_.size())], world_.ledger.fresh_offset());
}

void SimulatedMember::join() {
    state_ = State::joining;
    owned_.clear();
    const std::vector<std::byte> metadata = subscription(topics_);
    std::array protocols{JoinGroupRequest::Protocol{.name = "range", .metadata = metadata}};
    const JoinGroupRequest request{.group_id = group_,
                                   .session_timeout_ms = kSessionTimeoutMs,
                                   .rebalance_timeout_ms = 20'000,
                                   .member_id = member_id_,
                                   .protocol_type = "consumer",
                                   .protocols = protocols};
    ask<JoinGroupResponse>(5, request, [this](const auto& joined) {
        if (joined.error_code == ErrorCode::member_id_required) {
            member_id_ = joined.member_id;
            state_ = State::outside;
            return;
        }
        if (joined.error_code != ErrorCode::none) {
            return rejoin(joined.error_code);
        }
        member_id_ = joined.member_id;
        generation_ = joined.generation_id;
        sync(joined);
    });
}

void SimulatedMember::sync(const JoinGroupResponse& joined) {
    state_ = State::syncing;
    std::vector<std::vector<std::byte>> given;
    std::vector<SyncGroupRequest::Assignment> assignments;
    if (joined.leader == joined.member_id) {
        std::vector<std::map<std::string, std::vector<std::int32_t>>> shares(joined.members.count());
        std::size_t next = 0;
        for (const std::string& topic : topics_) {
            for (std::int32_t partition = 0; partition < world_.ledger.count_of(topic); ++partition) {
                shares[next++ % shares.size()][topic].push_back(partition);
            }
        }
        for (const auto& share : shares) {
            given.push_back(assignment(share));
        }
        for (std::size_t index = 0; index < shares.size(); ++index) {
            assignments.push_back({.member_id = joined.members[index].member_id, .assignment = given[index]});
        }
    }
    const SyncGroupRequest request{
        .group_id = group_, .generation_id = generation_, .member_id = member_id_, .assignments = assignments};
    ask<SyncGroupResponse>(3, request, [this](const auto& synced) {
        if (synced.error_code != ErrorCode::none) {
            return rejoin(synced.error_code);
        }
        groups::Holdings holdings;
        groups::read_holdings(synced.assignment, holdings);
        for (const groups::Holdings::Topic& topic : holdings.topics()) {
            for (const PartitionIndex partition : holdings.partitions_of(topic)) {
                owned_.emplace_back(std::string(topic.name), partition.value);
                world_.ledger.note_owner(group_, generation_, owned_.back(), member_id_);
            }
        }
        state_ = State::stable;
        next_heartbeat_ = now();
        on_assigned();
    });
}

void SimulatedMember::heartbeat() {
    const HeartbeatRequest request{.group_id = group_, .generation_id = generation_, .member_id = member_id_};
    ask<HeartbeatResponse>(3, request, [this](const auto& response) {
        if (response.error_code != ErrorCode::none) {
            rejoin(response.error_code);
        }
    });
}

void SimulatedMember::commit(const Ledger::Place& place, std::int64_t offset) {
    world_.ledger.note_commit_wanted(group_, place, offset);
    std::array partitions{OffsetCommitRequest::Partition{.partition_index = place.second, .committed_offset = offset}};
    std::array topics{OffsetCommitRequest::Topic{.name = place.first, .partitions = partitions}};
    const OffsetCommitRequest request{
        .group_id = group_, .generation_id_or_member_epoch = generation_, .member_id = member_id_, .topics = topics};
    ask<OffsetCommitResponse>(7, request, [this, place, offset](const auto& response) {
        const ErrorCode error = response.topics[0].partitions[0].error_code;
        if (error == ErrorCode::none) {
            world_.ledger.note_committed(group_, place, offset);
        } else {
            rejoin(error);
        }
    });
}

void SimulatedMember::look_at_commits(std::function<void(const Ledger::Place&, std::int64_t)> on_found) {
    std::map<std::string, std::vector<std::int32_t>> partitions;
    std::map<Ledger::Place, std::int64_t> acknowledged;
    for (const Ledger::Place& place : owned_) {
        partitions[place.first].push_back(place.second);
        acknowledged[place] = world_.ledger.committed(group_, place);
    }
    std::vector<OffsetFetchRequest::Topic> topics;
    for (auto& [topic, indexes] : partitions) {
        topics.push_back({.name = topic, .partition_indexes = indexes});
    }
    ask<OffsetFetchResponse>(
        7, OffsetFetchRequest{.group_id = group_, .topics = topics},
        [this, acknowledged = std::move(acknowledged), on_found = std::move(on_found)](const auto& response) {
            if (response.error_code != ErrorCode::none) {
                return;  // The coordinator loads.
            }
            for (const OffsetFetchResponse::Topic& topic : response.topics) {
                for (const OffsetFetchResponse::Partition& found : topic.partitions) {
                    if (found.error_code != ErrorCode::none) {
                        continue;
                    }
                    const Ledger::Place place{topic.name, found.partition_index};
                    world_.ledger.check_committed(group_, place, acknowledged.at(place), found.committed_offset);
                    if (on_found) {
                        on_found(place, found.committed_offset);
                    }
                }
            }
        });
}

void SimulatedMember::leave() {
    std::array members{LeaveGroupRequest::MemberIdentity{.member_id = member_id_}};
    ask<LeaveGroupResponse>(3, LeaveGroupRequest{.group_id = group_, .members = members}, [this](const auto&) {
        member_id_.clear();
        state_ = State::outside;
    });
}

void SimulatedMember::rejoin(ErrorCode error) {
    if (is_no_coordinator(error)) {
        knows_coordinator_ = false;
    }
    if (error == ErrorCode::unknown_member_id || error == ErrorCode::fenced_instance_id) {
        member_id_.clear();
    }
    state_ = State::outside;
}

void SimulatedMember::on_lost() {
    // A member without an answer asks again; a member with partitions keeps them as long as its session lasts.
    if (state_ != State::stable) {
        state_ = State::outside;
    }
}

}  // namespace partita::test
