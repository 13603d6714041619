// Tests what a new kind of groups has to bring, and that it needs nothing else, with a kind that the broker does not have. Its
// members are lodgers, who come by a separate command, hold one partition of a topic and stay for as long as they paid.

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/groups/consumer_rules.h"
#include "broker/groups/group_core.h"
#include "broker/groups/group_migration.h"
#include "broker/groups/reader_collector.h"
#include "tests/support/declared_settings.h"
#include "tests/support/test_cluster.h"

namespace partita::groups::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTopic = "rooms";

// The records of the kind. The test's kind keeps them for itself; one of the broker's adds them to `Record` and to the codec.

class LodgerGroup;

struct LodgerRecord {
    using Of = LodgerGroup;
    std::string_view group_id;
    std::string_view member_id;
    std::int32_t room = 0;
};
struct LodgerGone {
    using Of = LodgerGroup;
    std::string_view group_id;
    std::string_view member_id;
};
struct LodgingClosed {
    using Of = LodgerGroup;
    std::string_view group_id;
};

/// The state.
class LodgerGroup final : public GroupKind {
  public:
    static constexpr GroupType kType = GroupType::share;

    struct Lodger {
        Lodger(Group& group, std::string_view member_id) : id(member_id), paid_until(&group) {}
        std::string id;
        std::int32_t room = 0;
        Timer paid_until;
    };

    LodgerGroup(Group& group, TimestampMs since) : GroupKind(group, kType), since_(since) {}

    void apply(const LodgerRecord& record) {
        group().listing.note_change();
        lodgers_.try_emplace(std::string(record.member_id), group(), record.member_id).first->second.room = record.room;
    }
    void apply(const LodgerGone& record) {
        group().listing.note_change();
        if (const auto known = lodgers_.find(record.member_id); known != lodgers_.end()) {
            lodgers_.erase(known);
        }
    }
    bool apply(const LodgingClosed&) { return true; }

    std::map<std::string, Lodger, std::less<>>& lodgers() { return lodgers_; }

    std::string_view state_text() const override { return lodgers_.empty() ? "Vacant" : "Inhabited"; }
    std::string_view protocol_type_text() const override { return "lodging"; }
    std::string_view assignor() const override { return "landlord"; }
    std::size_t size() const override { return lodgers_.size(); }
    bool empty() const override { return lodgers_.empty(); }
    bool has_member(std::string_view member_id) const override { return lodgers_.contains(member_id); }
    std::optional<MemberHoldings> holdings_of(std::string_view member_id, const ClusterView&) const override {
        const auto known = lodgers_.find(member_id);
        if (known == lodgers_.end()) {
            return std::nullopt;
        }
        return MemberHoldings{
            .client_id = "lodger", .client_host = "/", .topics = {{std::string(kTopic), {{known->second.room}}}}};
    }
    bool is_subscribed_to(std::string_view topic) const override { return !lodgers_.empty() && topic == kTopic; }
    bool knows_subscriptions() const override { return true; }
    void list_topics(ReaderListing& listing) const override { listing.add_members(kTopic); }
    void tell_readers(ReaderCollector& collector) const override {
        for (const auto& [id, lodger] : lodgers_) {
            Holdings& holdings = collector.begin_member();
            holdings.clear();
            holdings.begin_topic(kTopic);
            holdings.add({lodger.room});
            holdings.end_topic();
            collector.add_member({.member_id = id, .client_id = "lodger", .client_host = "/", .assigned = {}}, holdings);
        }
    }
    ErrorCode refuse_commit(const OffsetCommit& command, CommitKind) const override {
        return lodgers_.empty() || has_member(command.member_id) ? ErrorCode::none : ErrorCode::unknown_member_id;
    }
    ErrorCode refuse_fetch(const OffsetFetch::Group&) const override { return ErrorCode::none; }
    void committed(std::string_view member_id, TimerQueue& timers, Now now) override {
        if (const auto known = lodgers_.find(member_id); known != lodgers_.end()) {
            timers.schedule(known->second.paid_until, now.monotonic + 1000);
        }
    }
    OffsetUse offset_use() const override { return {.is_everything_used = !lodgers_.empty(), .unused_since = since_}; }
    void end(GroupTable& table, Effects&) const override { table.apply(LodgingClosed{id()}); }
    std::string dump() const override {
        std::string out = " lodging\n";
        for (const auto& [id, lodger] : lodgers_) {
            out += "  lodger " + id + " room=" + std::to_string(lodger.room) + "\n";
        }
        return out;
    }
    GroupPhase phase() const override { return {.type = type(), .members = size(), .protocol = assignor()}; }
    void begin_history(GroupHistory& history, const ClusterView&) const override {
        for (const auto& [id, lodger] : lodgers_) {
            history.know({id, std::nullopt, "lodger", "/"});
        }
    }

  private:
    const TimestampMs since_;
    std::map<std::string, Lodger, std::less<>> lodgers_;
};

/// A separate command, answered by an existing result.
struct Lodge {
    std::string_view group_id;
    std::string_view member_id;
    std::int32_t room = 0;
    ReplyToken reply_to;
};

class LodgerRules {
  public:
    using Kind = LodgerGroup;

    explicit LodgerRules(const KindParts& parts) : table_(parts.table) {}

    void decide(const Lodge& command, Now now, Effects& effects) {
        HeartbeatResult result;
        if (const Group* group = table_.find(command.group_id);
            group != nullptr && !group->has_no_members() && group->as<LodgerGroup>() == nullptr) {
            result.error = ErrorCode::inconsistent_group_protocol;
        } else {
            table_.apply(LodgerRecord{command.group_id, command.member_id, command.room});
            LodgerGroup& lodging = *table_.find_as<LodgerGroup>(command.group_id);
            table_.timers().schedule(lodging.lodgers().find(command.member_id)->second.paid_until, now.monotonic + 1000);
            table_.notes().note(lodging.group(), RebalanceCause::joined, MemberNames{command.member_id, {}, "lodger", "/"});
        }
        reply(effects, command.reply_to, std::move(result));
    }

    void join(const JoinGroup& command, LodgerGroup&, Now, Effects& effects) {
        reply(effects, command.reply_to, join_error(ErrorCode::inconsistent_group_protocol, command.member_id));
    }
    void sync(const SyncGroup& command, LodgerGroup&, Now, Effects& effects) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::unknown_member_id});
    }
    ErrorCode heartbeat(const Heartbeat& command, LodgerGroup& group, Now) {
        return group.has_member(command.member_id) ? ErrorCode::none : ErrorCode::unknown_member_id;
    }
    void leave(const LeaveGroup& command, LodgerGroup& group, Now, Effects& effects) {
        for (const LeaveGroup::Member& leaving : command.members) {
            table_.apply(LodgerGone{group.id(), leaving.member_id});
        }
        reply(effects, command.reply_to, LeaveResult{});
    }
    void loaded(LodgerGroup& group, Now now, Effects&) {
        for (auto& [id, lodger] : group.lodgers()) {
            table_.timers().schedule(lodger.paid_until, now.monotonic + 1000);
        }
    }
    void timer_over(const Timer& timer, LodgerGroup& group, Now, Effects&) {
        for (auto& [id, lodger] : group.lodgers()) {
            if (&lodger.paid_until == &timer) {
                const std::string gone = id;
                table_.notes().note(group.group(), RebalanceCause::session_expired, MemberNames{gone, {}, "lodger", "/"});
                table_.apply(LodgerGone{group.id(), gone});
                return;
            }
        }
    }
    void fail_waiting(LodgerGroup&, ErrorCode, Effects&) {}

  private:
    GroupTable& table_;
};

class ThirdKind : public ::testing::Test {
  protected:
    ThirdKind() : core_(declared_group_config()) {
        core_.environment.cluster = cluster_;
        Effects effects;
        core_.loaded(now_, effects);
    }
    template <class Command>
    typename Command::Result ask(const Command& command) {
        Effects effects;
        core_.decide(command, now_, effects);
        return std::get<typename Command::Result>(effects.replies.at(0).result);
    }
    ErrorCode lodge(std::string_view group, std::string_view member, std::int32_t room) {
        Effects effects;
        core_.decide(Lodge{.group_id = group, .member_id = member, .room = room}, now_, effects);
        return std::get<HeartbeatResult>(effects.replies.at(0).result).error;
    }
    ErrorCode commit(std::string_view group, std::string_view member) {
        const OffsetCommit::Partition partition{{3}, {7}};
        const OffsetCommit::Topic topic{kTopic, topic_id_, {&partition, 1}};
        return ask(OffsetCommit{.group_id = group, .member_id = member, .topics = {&topic, 1}}).error;
    }
    std::vector<std::string> list(std::vector<std::string_view> types = {}) {
        std::vector<std::string> lines;
        for (const auto& group : ask(ListGroups{.types = types}).groups) {
            lines.push_back(group.group_id + " " + group.protocol_type + " " + group.state + " " +
                            std::string(to_string(group.type)));
        }
        return lines;
    }
    void advance_ms(std::int64_t ms) {
        now_.monotonic = now_.monotonic + ms;
        now_.wall.value += ms;
        Effects effects;
        core_.tick(now_, effects);
    }

    ClusterPointer cluster_ = test::TestCluster().with(std::string(kTopic), 8);
    const TopicId topic_id_ = cluster_->find(kTopic)->topic_id;
    Now now_{{1'000}, {1'700'000'000'000}};
    GroupCore<ConsumerRules, LodgerRules> core_;
};

TEST_F(ThirdKind, IsJoinedAndListedBesideTheOthers) {
    EXPECT_EQ(lodge("inn", "ann", 3), ErrorCode::none);
    EXPECT_EQ(commit("shelf", ""), ErrorCode::none);
    EXPECT_THAT(list(), ElementsAre("inn lodging Inhabited share", "shelf  Empty classic"));
    EXPECT_THAT(list({"SHARE"}), ElementsAre("inn lodging Inhabited share"));
    EXPECT_THAT(list({"consumer"}), IsEmpty());
}

TEST_F(ThirdKind, IsNoGroupOfAnotherKindToThoseWhoDescribeIt) {
    lodge("inn", "ann", 3);
    std::string_view id = "inn";
    EXPECT_EQ(ask(DescribeGroups{.group_ids = {&id, 1}, .api_version = 6}).groups.at(0).error_message,
              "Group inn is not a classic group.");
    EXPECT_EQ(ask(ConsumerGroupDescribe{.group_ids = {&id, 1}}).groups.at(0).error_message, "Group inn is not a consumer group.");
}

TEST_F(ThirdKind, IsDescribedToWhoeverAsksForReadersAndHoldings) {
    lodge("inn", "ann", 3);
    commit("inn", "ann");
    TopicQuestion question{.topic = kTopic, .topic_id = topic_id_};
    const TopicReader reader = core_.queries.readers_of({&question, 1}).front().at(0);
    EXPECT_EQ(reader.protocol_type, "lodging");
    EXPECT_EQ(reader.members.at(0).member_id, "ann");
    EXPECT_THAT(reader.members.at(0).assigned, ElementsAre(PartitionIndex{3}));
    EXPECT_EQ(reader.committed.at({3}), Offset{7});
    EXPECT_EQ(core_.queries.holdings_of("inn", "ann")->topics.at(0).partitions, std::vector{PartitionIndex{3}});
    EXPECT_EQ(core_.queries.protocol_of("inn"), "landlord");
}

TEST_F(ThirdKind, IsDumped) {
    lodge("inn", "ann", 3);
    commit("inn", "ann");
    EXPECT_THAT(core_.table.dump(), HasSubstr("group inn lodging\n  lodger ann room=3\n  offset inn/rooms-3 7"));
}

TEST_F(ThirdKind, AnswersRequestsOfTheClassicProtocolItself) {
    lodge("inn", "ann", 3);
    EXPECT_EQ(ask(JoinGroup{.group_id = "inn", .session_timeout_ms = 10'000}).error, ErrorCode::inconsistent_group_protocol);
    EXPECT_EQ(ask(SyncGroup{.group_id = "inn"}).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(ask(Heartbeat{.group_id = "inn", .member_id = "ann"}).error, ErrorCode::none);
    EXPECT_EQ(ask(Heartbeat{.group_id = "inn", .member_id = "bob"}).error, ErrorCode::unknown_member_id);
    const LeaveGroup::Member leaving{.member_id = "ann", .group_instance_id = {}};
    EXPECT_EQ(ask(LeaveGroup{.group_id = "inn", .members = {&leaving, 1}}).error, ErrorCode::none);
    EXPECT_THAT(list(), ElementsAre("inn lodging Vacant share"));
}

TEST_F(ThirdKind, IsNotTakenOverByConsumers) {
    lodge("inn", "ann", 3);
    const std::vector<std::string_view> topics = {kTopic};
    const auto result = ask(ConsumerGroupHeartbeat{.group_id = "inn",
                                                   .member_id = "c",
                                                   .rebalance_timeout_ms = 60'000,
                                                   .topic_names = topics,
                                                   .owned = std::span<const assignors::TopicPartitions>(),
                                                   .api_version = 1});
    EXPECT_EQ(result.error, ErrorCode::group_id_not_found);
    EXPECT_EQ(result.error_message, "Group inn is not a consumer group.");
}

TEST_F(ThirdKind, SaysItselfWhoMayCommitAndWhatKeepsAMember) {
    lodge("inn", "ann", 3);
    EXPECT_EQ(commit("inn", "bob"), ErrorCode::unknown_member_id);
    advance_ms(900);
    EXPECT_EQ(commit("inn", "ann"), ErrorCode::none);
    advance_ms(900);
    EXPECT_THAT(list(), ElementsAre("inn lodging Inhabited share"));
    advance_ms(100);
    EXPECT_THAT(list(), ElementsAre("inn lodging Vacant share"));
}

TEST_F(ThirdKind, IsInTheHistory) {
    lodge("inn", "ann", 3);
    advance_ms(1000);
    const GroupHistory history = core_.table.notes().history(*core_.table.find("inn"), *cluster_);
    ASSERT_EQ(history.rebalances().size(), 2U);
    EXPECT_EQ(history.rebalances().front().type, GroupType::share);
    EXPECT_EQ(history.rebalances().back().events.at(0).cause, RebalanceCause::session_expired);
}

TEST_F(ThirdKind, ExpiresWithItsOffsets) {
    lodge("inn", "ann", 3);
    commit("inn", "ann");
    const std::int64_t retention_ms = core_.environment.config.offsets_retention_ms;
    advance_ms(1000);
    EXPECT_THAT(list(), ElementsAre("inn lodging Vacant share"));
    advance_ms(retention_ms + core_.environment.config.offsets_retention_check_interval_ms);
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(ThirdKind, IsDeletedByAnAdministratorOnceItIsEmpty) {
    lodge("inn", "ann", 3);
    std::string_view id = "inn";
    EXPECT_EQ(ask(DeleteGroups{.group_ids = {&id, 1}}).groups.at(0).error, ErrorCode::non_empty_group);
    advance_ms(1000);
    EXPECT_EQ(ask(DeleteGroups{.group_ids = {&id, 1}}).groups.at(0).error, ErrorCode::none);
    EXPECT_THAT(list(), IsEmpty());
}

}  // namespace
}  // namespace partita::groups::testing
