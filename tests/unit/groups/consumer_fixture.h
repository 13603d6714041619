#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/declared_settings.h"
#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {

using assignors::Assignment;
using assignors::TopicPartitions;

/// A heartbeat of a member of a consumer group. `joining` sets all fields, `silent` only those that show the member is there.
struct Beat {
    std::string group = "g";
    std::string member = "m1";
    std::int32_t epoch = 0;
    std::optional<std::string> instance;
    std::optional<std::string> rack;
    std::int32_t rebalance_ms = 60'000;
    std::optional<std::vector<std::string>> topics = std::vector<std::string>{"t"};
    std::optional<std::string> regex;
    std::optional<std::string> assignor;
    std::optional<Assignment> owned = Assignment();
    std::int16_t version = 1;
    const TopicFilter* may_describe = nullptr;
};

inline Beat joining(std::string member, std::vector<std::string> topics = {"t"}) {
    return {.member = std::move(member), .topics = std::move(topics)};
}
inline Beat silent(std::string member, std::int32_t epoch) {
    return {.member = std::move(member), .epoch = epoch, .rebalance_ms = -1, .topics = std::nullopt, .owned = std::nullopt};
}
inline Beat owning(std::string member, std::int32_t epoch, Assignment owned) {
    Beat beat = silent(std::move(member), epoch);
    beat.owned = std::move(owned);
    return beat;
}

class ConsumerFixture : public GroupFixture {
  protected:
    explicit ConsumerFixture(GroupConfig config = declared_group_config()) : GroupFixture(std::move(config)) {}

    ConsumerHeartbeatResult beat(const Beat& beat) {
        std::vector<std::string_view> names;
        if (beat.topics) {
            names.assign(beat.topics->begin(), beat.topics->end());
        }
        const std::string fresh = "fresh" + std::to_string(++suffixes_);
        ConsumerGroupHeartbeat command{.group_id = beat.group,
                                       .member_id = beat.member,
                                       .member_epoch = beat.epoch,
                                       .rebalance_timeout_ms = beat.rebalance_ms,
                                       .client_id = "client",
                                       .client_host = "/127.0.0.1",
                                       .api_version = beat.version,
                                       .fresh_member_id = fresh,
                                       .may_describe = beat.may_describe,
                                       .reply_to = fresh_token()};
        if (beat.instance) {
            command.instance_id = *beat.instance;
        }
        if (beat.rack) {
            command.rack_id = *beat.rack;
        }
        if (beat.topics) {
            command.topic_names = std::span<const std::string_view>(names);
        }
        if (beat.regex) {
            command.topic_regex = *beat.regex;
        }
        if (beat.assignor) {
            command.server_assignor = *beat.assignor;
        }
        if (beat.owned) {
            command.owned = std::span<const TopicPartitions>(*beat.owned);
        }
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<ConsumerHeartbeatResult>(command.reply_to);
    }

    ConsumerGroupDescribeResult::Group describe_consumer(std::string_view group = "g") {
        const ConsumerGroupDescribe command{.group_ids = {&group, 1}, .reply_to = fresh_token()};
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<ConsumerGroupDescribeResult>(command.reply_to).groups.at(0);
    }

    void set_topic(const std::string& name, std::int32_t partitions) {
        const bool is_new = !test_cluster().topics().contains(name);
        set_cluster(test_cluster().with(name, partitions), is_new);
    }
    void drop_topic(const std::string& name) { set_cluster(test_cluster().without(name), false); }
    void set_cluster(std::shared_ptr<TestCluster> cluster, bool has_new_topics) {
        cluster_ = cluster;
        coordinator_->cluster_changed(cluster_, has_new_topics);
    }
    const TestCluster& test_cluster() const { return static_cast<const TestCluster&>(*cluster_); }
    TopicId id_of(const std::string& topic) const { return test_cluster().topics().at(topic).topic_id; }

    Assignment partitions(const std::string& topic, std::vector<std::int32_t> indexes) const {
        return {{id_of(topic), std::move(indexes)}};
    }

    /// Lets the members send heartbeats, in which each owns what it was told, until nothing changes any more.
    struct Followed {
        std::int32_t epoch = 0;
        Assignment assignment;
    };
    std::map<std::string, Followed> followed_;
    void join_and_follow(const Beat& joining_beat) {
        const auto result = beat(joining_beat);
        ASSERT_EQ(result.error, ErrorCode::none) << result.error_message.value_or("");
        followed_[joining_beat.member] = {result.member_epoch, result.assignment.value_or(Assignment())};
    }
    void settle() {
        for (int round = 0; round < 20; ++round) {
            bool changed = false;
            for (auto& [member, known] : followed_) {
                const auto result = beat(owning(member, known.epoch, known.assignment));
                ASSERT_EQ(result.error, ErrorCode::none) << member << ": " << result.error_message.value_or("");
                changed |= result.member_epoch != known.epoch || result.assignment.has_value();
                known.epoch = result.member_epoch;
                if (result.assignment) {
                    known.assignment = *result.assignment;
                }
            }
            advance_ms(config_.consumer_assignment_interval_ms);
            if (!changed && describe_consumer().state == "Stable") {
                return;
            }
        }
        FAIL() << "the group does not settle: " << coordinator_->dump();
    }
    std::size_t share(const std::string& member) const { return assignors::partition_count(followed_.at(member).assignment); }
};

}  // namespace partita::groups::testing
