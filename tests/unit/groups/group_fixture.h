#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "tests/support/classic_member.h"
#include "tests/support/declared_settings.h"
#include "tests/support/record_follower.h"
#include "tests/support/test_cluster.h"

namespace partita {
inline void PrintTo(ErrorCode error, std::ostream* out) { *out << (error == ErrorCode::none ? "NONE" : error_name(error)); }
namespace groups {
inline void PrintTo(GroupState state, std::ostream* out) { *out << state_name(state); }
}  // namespace groups
}  // namespace partita

namespace partita::groups::testing {

using test::assignment_of;
using test::subscription_to;
using test::TestCluster;

inline OwnedBytes bytes_of(std::string_view text) {
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}
inline std::string text_of(const OwnedBytes& bytes) { return std::string(as_text(bytes)); }

inline TopicId topic_id(std::uint8_t number) {
    TopicId id;
    id.bytes[15] = number;
    return id;
}

/// A record that owns its data, so that it outlives the effects: the "log".
class StoredRecord {
  public:
    explicit StoredRecord(const Record& record) : record_(record) {
        std::visit([this](auto& one) { own(one); }, record_);
    }
    [[nodiscard]] const Record& view() const { return record_; }

  private:
    std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }
    void own(OffsetCommitRecord& one) {
        one.group_id = keep(one.group_id);
        one.topic = keep(one.topic);
        one.metadata = keep(one.metadata);
    }
    void own(PendingOffsetRecord& one) { own(one.offset); }
    void own(OffsetTombstone& one) {
        one.group_id = keep(one.group_id);
        one.topic = keep(one.topic);
    }
    void own(GroupTombstone& one) { one.group_id = keep(one.group_id); }
    void own(GroupMetadataRecord& one) {
        one.group_id = keep(one.group_id);
        one.protocol_type = keep(one.protocol_type);
        if (one.protocol) {
            one.protocol = keep(*one.protocol);
        }
        if (one.leader) {
            one.leader = keep(*one.leader);
        }
        for (MemberRecord& member : one.members) {
            member.member_id = keep(member.member_id);
            if (member.group_instance_id) {
                member.group_instance_id = keep(*member.group_instance_id);
            }
            member.client_id = keep(member.client_id);
            member.client_host = keep(member.client_host);
            member.subscription = as_bytes(keep(as_text(member.subscription)));
            member.assignment = as_bytes(keep(as_text(member.assignment)));
        }
    }

    /// The records of consumer groups own everything but their keys.
    template <class R>
    void own(R& one) {
        one.group_id = keep(one.group_id);
        if constexpr (requires { one.member_id; }) {
            one.member_id = keep(one.member_id);
        } else if constexpr (requires { one.regex; }) {
            one.regex = keep(one.regex);
        } else if constexpr (requires { one.name; }) {
            one.name = keep(one.name);
        }
    }

    std::deque<std::string> texts_;
    Record record_;
};

/// A client's request to join. The defaults are those of an ordinary consumer.
struct Joining {
    std::string group = "g";
    std::string id;
    std::optional<std::string> instance;
    std::string type = "consumer";
    std::vector<std::pair<std::string, std::string>> protocols = {{"range", subscription_to({"topic"})}};
    std::int32_t session_ms = 10'000;
    std::int32_t rebalance_ms = 60'000;
    std::int16_t version = 9;
    std::string client = "client";
    const TopicFilter* may_describe = nullptr;
};

/// A coordinator with a stepped clock. Its records go to a log, and its replies wait until a test takes them.
class GroupFixture : public ::testing::Test {
  protected:
    explicit GroupFixture(GroupConfig config = declared_group_config()) : config_(config) { start(); }

    void start() {
        coordinator_.emplace(config_);
        coordinator_->cluster_changed(cluster_, false);
        follower_.start(config_);
        for (const auto& record : log_) {
            coordinator_->replay(record->view());
            follower_.hear(record->view());
        }
        Effects effects;
        coordinator_->loaded(now_, effects);
        take(effects);
    }
    /// Drops everything that was not written.
    void crash_and_restart() {
        replies_.clear();
        start();
    }

    // Requests. Each returns its token; `joined(token)` and the like take the reply.

    ReplyToken join(const Joining& joining) {
        std::vector<JoinGroup::Protocol> protocols;
        for (const auto& [name, metadata] : joining.protocols) {
            protocols.push_back({name, as_bytes(metadata)});
        }
        const std::string suffix = "uuid" + std::to_string(++suffixes_);
        JoinGroup command{.group_id = joining.group,
                          .member_id = joining.id,
                          .protocol_type = joining.type,
                          .protocols = protocols,
                          .session_timeout_ms = joining.session_ms,
                          .rebalance_timeout_ms = joining.rebalance_ms,
                          .client_id = joining.client,
                          .client_host = "/127.0.0.1",
                          .api_version = joining.version,
                          .fresh_member_suffix = suffix,
                          .may_describe = joining.may_describe,
                          .reply_to = fresh_token()};
        if (joining.instance) {
            command.group_instance_id = *joining.instance;
        }
        return run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
    }

    ReplyToken sync(std::string_view member, std::int32_t generation,
                    const std::vector<std::pair<std::string, std::string>>& assignments = {},
                    std::optional<std::string> instance = std::nullopt, std::string_view group = "g") {
        std::vector<SyncGroup::Assignment> given;
        for (const auto& [id, bytes] : assignments) {
            given.push_back({id, as_bytes(bytes)});
        }
        SyncGroup command{.group_id = group,
                          .generation = {generation},
                          .member_id = member,
                          .protocol_type = sync_protocol_type_,
                          .protocol_name = sync_protocol_name_,
                          .assignments = given,
                          .reply_to = fresh_token()};
        if (instance) {
            command.group_instance_id = *instance;
        }
        return run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
    }

    ErrorCode heartbeat(std::string_view member, std::int32_t generation, std::optional<std::string> instance = std::nullopt,
                        std::string_view group = "g") {
        Heartbeat command{.group_id = group, .generation = {generation}, .member_id = member, .reply_to = fresh_token()};
        if (instance) {
            command.group_instance_id = *instance;
        }
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<HeartbeatResult>(command.reply_to).error;
    }

    LeaveResult leave(const std::vector<std::pair<std::string, std::optional<std::string>>>& who, std::string_view group = "g") {
        std::vector<LeaveGroup::Member> members;
        for (const auto& [id, instance] : who) {
            members.push_back({id, instance ? std::optional<std::string_view>(*instance) : std::nullopt});
        }
        LeaveGroup command{.group_id = group, .members = members, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<LeaveResult>(command.reply_to);
    }
    ErrorCode leave(std::string_view member) { return leave({{std::string(member), std::nullopt}}).members.at(0).error; }

    struct Committing {
        std::string group = "g";
        std::string member;
        std::int32_t generation = -1;
        std::optional<std::string> instance;
        std::string topic = "topic";
        TopicId topic_id;
        std::vector<std::pair<std::int32_t, std::int64_t>> offsets = {{0, 7}};
        std::string metadata;
        std::int64_t retention_ms = -1;
        std::int16_t version = 9;
    };
    OffsetCommitResult commit(const Committing& committing) {
        std::vector<OffsetCommit::Partition> partitions;
        for (const auto& [partition, offset] : committing.offsets) {
            partitions.push_back({{partition}, {offset}, {3}, committing.metadata});
        }
        const OffsetCommit::Topic topic{committing.topic, committing.topic_id, partitions};
        OffsetCommit command{.group_id = committing.group,
                             .generation = {committing.generation},
                             .member_id = committing.member,
                             .retention_time_ms = committing.retention_ms,
                             .topics = {&topic, 1},
                             .api_version = committing.version,
                             .reply_to = fresh_token()};
        if (committing.instance) {
            command.group_instance_id = *committing.instance;
        }
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<OffsetCommitResult>(command.reply_to);
    }

    /// Commits as part of the producer's transaction.
    OffsetCommitResult commit_in_transaction(std::int64_t producer_id, const Committing& committing) {
        std::vector<OffsetCommit::Partition> partitions;
        for (const auto& [partition, offset] : committing.offsets) {
            partitions.push_back({{partition}, {offset}, {3}, committing.metadata});
        }
        const OffsetCommit::Topic topic{committing.topic, committing.topic_id, partitions};
        TransactionalOffsetCommit command{.offsets = {.group_id = committing.group,
                                                      .generation = {committing.generation},
                                                      .member_id = committing.member,
                                                      .topics = {&topic, 1},
                                                      .api_version = committing.version},
                                          .producer_id = {producer_id},
                                          .producer_epoch = {5},
                                          .reply_to = fresh_token()};
        if (committing.instance) {
            command.offsets.group_instance_id = *committing.instance;
        }
        run(
            [&](Effects& effects) {
                coordinator_->decide(command, now_, effects);
                EXPECT_EQ(effects.transaction.has_value(), !effects.records.empty());
                if (effects.transaction) {
                    EXPECT_EQ(effects.transaction->producer_id.value, producer_id);
                    EXPECT_EQ(effects.transaction->producer_epoch.value, 5);
                }
            },
            command.reply_to);
        return take_reply<OffsetCommitResult>(command.reply_to);
    }
    /// The marker stands in the log. A later reader finds the offsets where they were written when it is a commit, and does not
    /// find them otherwise.
    std::vector<TransactionCommit> end_transaction(std::int64_t producer_id, bool is_commit) {
        std::vector<std::unique_ptr<StoredRecord>> log;
        for (auto& record : log_) {
            const auto* pending = std::get_if<PendingOffsetRecord>(&record->view());
            if (pending == nullptr || pending->producer_id.value != producer_id) {
                log.push_back(std::move(record));
            } else if (is_commit) {
                log.push_back(std::make_unique<StoredRecord>(pending->offset));
            }
        }
        log_ = std::move(log);
        std::vector<TransactionCommit> commits = coordinator_->transaction_ended({producer_id}, is_commit);
        follower_.start(config_);
        for (const auto& record : log_) {
            follower_.hear(record->view());
        }
        EXPECT_EQ(follower_.difference(*coordinator_), std::nullopt);
        return commits;
    }

    OffsetFetchResult::Group fetch(std::string_view group, std::string_view topic, std::vector<std::int32_t> partitions,
                                   TopicId topic_id = {}) {
        std::vector<PartitionIndex> indexes;
        for (const std::int32_t partition : partitions) {
            indexes.push_back({partition});
        }
        const OffsetFetch::Topic wanted{topic, topic_id, indexes};
        const OffsetFetch::Group one{.group_id = group, .topics = std::span<const OffsetFetch::Topic>(&wanted, 1)};
        return fetch_groups({&one, 1}).groups.at(0);
    }
    OffsetFetchResult::Group fetch_all(std::string_view group) {
        const OffsetFetch::Group one{.group_id = group};
        return fetch_groups({&one, 1}).groups.at(0);
    }
    OffsetFetchResult fetch_groups(std::span<const OffsetFetch::Group> groups) {
        const OffsetFetch command{.groups = groups, .require_stable = require_stable_, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<OffsetFetchResult>(command.reply_to);
    }
    /// -1 when nothing is committed.
    std::int64_t committed(std::string_view topic, std::int32_t partition, std::string_view group = "g") {
        return fetch(group, topic, {partition}).topics.at(0).partitions.at(0).offset.value;
    }

    OffsetDeleteResult delete_offsets(std::string_view group, std::string_view topic, std::vector<std::int32_t> partitions) {
        std::vector<PartitionIndex> indexes;
        for (const std::int32_t partition : partitions) {
            indexes.push_back({partition});
        }
        const OffsetDelete::Topic wanted{topic, indexes};
        const OffsetDelete command{.group_id = group, .topics = {&wanted, 1}, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<OffsetDeleteResult>(command.reply_to);
    }

    DescribeGroupsResult::Group describe(std::string_view group, std::int16_t version = 6) {
        const DescribeGroups command{.group_ids = {&group, 1}, .api_version = version, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<DescribeGroupsResult>(command.reply_to).groups.at(0);
    }
    GroupState state(std::string_view group = "g") { return describe(group).state; }

    std::vector<std::string> list(std::vector<std::string_view> states = {}, std::vector<std::string_view> types = {}) {
        const ListGroups command{.states = states, .types = types, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        std::vector<std::string> lines;
        for (const auto& group : take_reply<ListGroupsResult>(command.reply_to).groups) {
            lines.push_back(group.group_id + " " + group.protocol_type + " " + group.state + " " +
                            std::string(to_string(group.type)));
        }
        return lines;
    }

    ErrorCode delete_group(std::string_view group) {
        const DeleteGroups command{.group_ids = {&group, 1}, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<DeleteGroupsResult>(command.reply_to).groups.at(0).error;
    }

    void delete_topic(std::string_view name, TopicId topic_id) {
        run([&](Effects& effects) { coordinator_->topic_deleted({name, topic_id}, now_, effects); }, {});
    }

    /// Lets time pass, stopping at each deadline on the way.
    void advance_ms(std::int64_t duration_ms) {
        const Instant end = now_.monotonic + duration_ms;
        while (true) {
            const auto deadline = coordinator_->next_deadline();
            if (!deadline || *deadline > end) {
                break;
            }
            step_to(std::max(*deadline, now_.monotonic));
        }
        step_to(end);
    }

    // Replies

    [[nodiscard]] bool is_waiting(ReplyToken token) const { return !replies_.contains(token.value); }
    template <class R>
    R take_reply(ReplyToken token) {
        const auto found = replies_.find(token.value);
        if (found == replies_.end()) {
            ADD_FAILURE() << "request " << token.value << " was not answered";
            return R{};
        }
        Result result = std::move(found->second);
        replies_.erase(found);
        if (!std::holds_alternative<R>(result)) {
            ADD_FAILURE() << "request " << token.value << " was answered with another kind of result";
            return R{};
        }
        return std::get<R>(std::move(result));
    }
    JoinResult joined(ReplyToken token) { return take_reply<JoinResult>(token); }
    SyncResult synced(ReplyToken token) { return take_reply<SyncResult>(token); }

    // Shortcuts for groups in a certain state

    /// A member id for a dynamic member, as KIP-394 gives it out.
    std::string fresh_id(Joining joining = {}) {
        joining.id.clear();
        const JoinResult result = joined(join(joining));
        EXPECT_EQ(result.error, ErrorCode::member_id_required);
        return result.member_id;
    }

    /// A stable group of `count` dynamic members; the first id is the leader's. Assignments are the ids.
    std::vector<std::string> stable_group(std::size_t count, Joining joining = {}) {
        std::vector<std::string> ids;
        std::vector<ReplyToken> joins;
        for (std::size_t index = 0; index < count; ++index) {
            joining.id = fresh_id(joining);
            ids.push_back(joining.id);
            joins.push_back(join(joining));
        }
        advance_ms(config_.initial_rebalance_delay_ms);
        for (int extended = 0; extended < 1000 && is_waiting(joins.back()); ++extended) {
            advance_ms(config_.initial_rebalance_delay_ms);
        }
        std::int32_t generation = 0;
        for (const ReplyToken token : joins) {
            generation = joined(token).generation.value;
        }
        sync_all(ids, generation);
        return ids;
    }
    /// Lets the followers sync, and then the leader (the first).
    void sync_all(const std::vector<std::string>& ids, std::int32_t generation) {
        std::vector<std::pair<std::string, std::string>> assignments;
        for (const std::string& id : ids) {
            assignments.emplace_back(id, "for " + id);
        }
        std::vector<ReplyToken> tokens;
        for (std::size_t index = 1; index < ids.size(); ++index) {
            tokens.push_back(sync(ids[index], generation));
        }
        tokens.push_back(sync(ids.at(0), generation, assignments));
        for (const ReplyToken token : tokens) {
            EXPECT_EQ(synced(token).error, ErrorCode::none);
        }
        EXPECT_EQ(state(), GroupState::stable);
    }

    ReplyToken fresh_token() { return {++tokens_}; }

    template <class Call>
    ReplyToken run(Call&& call, ReplyToken token) {
        Effects effects;
        call(effects);
        take(effects);
        return token;
    }
    void take(Effects& effects) {
        for (const Record& record : effects.records) {
            log_.push_back(std::make_unique<StoredRecord>(record));
            follower_.hear(record);
        }
        if (follows_records_) {
            EXPECT_EQ(follower_.difference(*coordinator_), std::nullopt);
        }
        for (Reply& reply : effects.replies) {
            EXPECT_TRUE(replies_.emplace(reply.token.value, std::move(reply.result)).second)
                << "request " << reply.token.value << " was answered twice";
        }
    }
    void step_to(Instant instant) {
        now_.wall.value += instant - now_.monotonic;
        now_.monotonic = instant;
        run([&](Effects& effects) { coordinator_->tick(now_, effects); }, {});
    }

    [[nodiscard]] std::size_t group_records() const {
        std::size_t count = 0;
        for (const auto& record : log_) {
            count += std::holds_alternative<GroupMetadataRecord>(record->view()) ? 1 : 0;
        }
        return count;
    }
    template <class R>
    [[nodiscard]] const R& last_record() const {
        return std::get<R>(log_.back()->view());
    }

    GroupConfig config_ = declared_group_config();
    ClusterPointer cluster_ = std::make_shared<TestCluster>();
    Now now_{{1'000}, {1'700'000'000'000}};
    std::optional<GroupCoordinator> coordinator_;
    std::vector<std::unique_ptr<StoredRecord>> log_;
    test::RecordFollower follower_;
    /// After every call the durable state must follow from the records. Tests with groups so large that this takes long turn it
    /// off.
    bool follows_records_ = true;
    std::map<std::uint64_t, Result> replies_;
    /// The flag that fetches ask for.
    bool require_stable_ = false;
    std::uint64_t tokens_ = 0;
    std::uint64_t suffixes_ = 0;
    std::optional<std::string_view> sync_protocol_type_;
    std::optional<std::string_view> sync_protocol_name_;
};

}  // namespace partita::groups::testing
