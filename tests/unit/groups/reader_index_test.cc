// Tests the index of the groups that read each topic: random lives of groups, and the index's bounds.

#include "broker/groups/reader_index.h"
#include "broker/groups/group_queries.h"

#include <algorithm>
#include <random>

#include "broker/groups/group.h"
#include "tests/support/declared_settings.h"
#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

GroupConfig quick_config() {
    GroupConfig config = declared_group_config();
    config.initial_rebalance_delay_ms = 50;
    config.offsets_retention_ms = 120'000;
    config.offsets_retention_check_interval_ms = 10'000;
    config.consumer_assignment_interval_ms = 2'000;
    config.consumer_regex_refresh_interval_ms = 10'000;
    return config;
}

/// Groups of both protocols, which change from one to the other, and everything that can happen to them, step by step. After each
/// step the test asks the index and compares, so that every change meets an index that is up to date.
class ReaderIndexHistories : public ConsumerFixture, public ::testing::WithParamInterface<unsigned> {
  protected:
    static constexpr int kSteps = 500;
    static constexpr int kGroups = 3;
    static constexpr int kTopics = 5;

    struct Known {
        std::string group;
        std::string id;
        std::optional<std::string> instance;
        /// Generation, or member epoch.
        std::int32_t epoch = 0;
        bool is_leader = false;
        bool is_consumer = false;
        std::optional<ReplyToken> joining;
        Assignment assigned;
    };

    ReaderIndexHistories() : ConsumerFixture(quick_config()), dice_(GetParam()) {}

    [[nodiscard]] int roll(int sides) { return static_cast<int>(dice_() % static_cast<std::uint64_t>(sides)); }
    [[nodiscard]] std::string some_group() { return "g" + std::to_string(roll(kGroups)); }
    [[nodiscard]] std::string some_topic() { return topic_name(roll(kTopics)); }
    [[nodiscard]] static std::string topic_name(int number) { return "topic-" + std::to_string(number); }
    [[nodiscard]] std::vector<std::string> some_topics() {
        std::vector<std::string> names;
        for (int number = 0; number < kTopics; ++number) {
            if (roll(3) == 0) {
                names.push_back(topic_name(number));
            }
        }
        return names;
    }
    [[nodiscard]] TopicId known_id(const std::string& topic) const {
        const auto found = cluster_->find(topic);
        return found ? found->topic_id : TopicId{};
    }
    [[nodiscard]] Known* some_member(bool is_consumer, bool may_wait = false) {
        std::vector<Known*> able;
        for (Known& member : members_) {
            const bool is_ready = !member.joining || (may_wait && !member.id.empty());
            if (member.is_consumer == is_consumer && is_ready) {
                able.push_back(&member);
            }
        }
        return able.empty() ? nullptr : able[static_cast<std::size_t>(roll(static_cast<int>(able.size())))];
    }
    void forget(const Known& gone) {
        std::erase_if(members_, [&](const Known& member) { return &member == &gone; });
    }

    // Classic members -----------------------------------------------------------------------------

    void send_join(Known& member) {
        Joining joining{.group = member.group,
                        .id = member.id,
                        .instance = member.instance,
                        .protocols = {},
                        .session_ms = 6'000 + 1'000 * roll(30),
                        .rebalance_ms = 1'000 * (1 + roll(10)),
                        .version = static_cast<std::int16_t>(member.instance ? 5 : 3)};
        // The chosen protocol may name other topics than the protocol before it.
        for (const char* protocol : {"range", "roundrobin"}) {
            if (joining.protocols.empty() || roll(2) == 0) {
                joining.protocols.emplace_back(protocol, subscription_to(some_topics()));
            }
        }
        if (roll(2) == 0) {
            std::ranges::reverse(joining.protocols);
        }
        if (roll(12) == 0) {
            joining.type = "connect";
        }
        if (roll(20) == 0) {
            joining.protocols.front().second = "no subscription";
        }
        member.joining = join(joining);
    }
    void take_joins() {
        for (std::size_t index = 0; index < members_.size();) {
            Known& member = members_[index];
            if (!member.joining || is_waiting(*member.joining)) {
                ++index;
                continue;
            }
            const JoinResult result = joined(*member.joining);
            member.joining.reset();
            if (result.error != ErrorCode::none) {
                forget(member);
                continue;
            }
            member.id = result.member_id;
            member.epoch = result.generation.value;
            member.is_leader = result.leader == result.member_id;
            ++index;
        }
    }
    void send_sync(const Known& member) {
        std::vector<std::pair<std::string, std::string>> assignments;
        for (const Known& other : members_) {
            if (!member.is_leader || other.group != member.group || other.is_consumer) {
                continue;
            }
            test::HeldPartitions held;
            for (const std::string& topic : some_topics()) {
                held.emplace_back(topic, std::vector<std::int32_t>{roll(4)});
            }
            assignments.emplace_back(other.id, assignment_of(held));
        }
        (void)sync(member.id, member.epoch, assignments, member.instance, member.group);
    }

    // Members of consumer groups ------------------------------------------------------------------

    void send_beat(Known& member, bool is_new_subscription) {
        Beat next = owning(member.id, member.epoch, member.assigned);
        next.group = member.group;
        if (member.epoch == 0) {
            next.rebalance_ms = 5'000;
        }
        if (is_new_subscription) {
            next.topics = some_topics();
            if (roll(3) == 0) {
                next.regex = "topic-[" + std::to_string(roll(3)) + "-" + std::to_string(2 + roll(3)) + "]";
            }
        }
        const ConsumerHeartbeatResult result = beat(next);
        if (result.error != ErrorCode::none || next.epoch < 0) {
            forget(member);
            return;
        }
        member.epoch = result.member_epoch;
        if (result.assignment) {
            member.assigned = *result.assignment;
        }
    }

    // Events -----------------------------------------------------------------------------------------

    void happen() {
        switch (roll(20)) {
            case 0:
            case 1:
                if (members_.size() < 12) {
                    members_.push_back({.group = some_group()});
                    if (roll(3) == 0) {
                        members_.back().instance = "instance-" + std::to_string(roll(3));
                    }
                    send_join(members_.back());
                }
                break;
            case 2:
            case 3:
                // A member that waits for an answer may ask again, with other content.
                if (Known* member = some_member(false, true)) {
                    send_join(*member);
                }
                break;
            case 4:
            case 5:
            case 6:
                if (const Known* member = some_member(false)) {
                    send_sync(*member);
                }
                break;
            case 7:
                if (const Known* member = some_member(false)) {
                    (void)leave({{member->id, member->instance}}, member->group);
                    forget(*member);
                }
                break;
            case 8:
            case 9:
                (void)commit({.group = some_group(),
                              .topic = some_topic(),
                              .topic_id = known_id(some_topic()),
                              .offsets = {{roll(4), roll(100)}}});
                break;
            case 10:
                (void)delete_offsets(some_group(), some_topic(), {roll(4)});
                break;
            case 11:
                if (roll(4) == 0) {
                    (void)delete_group(some_group());
                }
                break;
            case 12:
                change_a_topic();
                break;
            case 13:
                seed_or_take_back();
                break;
            case 14:
                if (members_.size() < 12) {
                    members_.push_back({.group = some_group(), .id = "m" + std::to_string(++ids_), .is_consumer = true});
                    send_beat(members_.back(), true);
                }
                break;
            case 15:
            case 16:
                if (Known* member = some_member(true)) {
                    send_beat(*member, roll(3) == 0);
                }
                break;
            case 17:
                if (Known* member = some_member(true); member != nullptr && roll(2) == 0) {
                    member->epoch = -1;
                    send_beat(*member, false);
                }
                break;
            case 18:
                advance_ms(roll(8) == 0 ? 60'000 : 20 + roll(2'000));
                break;
            default:
                if (roll(6) != 0) {
                    advance_ms(60);
                    break;
                }
                crash_and_restart();
                std::erase_if(members_, [](const Known& member) { return member.joining.has_value(); });
        }
        take_joins();
    }
    void change_a_topic() {
        const std::string name = some_topic();
        const auto known = cluster_->find(name);
        if (!known) {
            set_topic(name, 1 + roll(3));
        } else if (roll(2) == 0) {
            set_topic(name, known->partition_count + 1);
        } else {
            const TopicId id = known->topic_id;
            drop_topic(name);
            delete_topic(name, id);
        }
    }
    void seed_or_take_back() {
        const std::string topic = some_topic();
        const std::string group = some_group();
        const std::string metadata = seed_metadata(1);
        const SeedOffsets seeds{group, topic, known_id(topic), {2}, {4}, metadata};
        run(
            [&](Effects& effects) {
                if (roll(2) == 0) {
                    coordinator_->seed_offsets(seeds, now_, effects);
                } else {
                    (void)coordinator_->remove_seeds(seeds, effects);
                }
            },
            {});
    }

    /// True when the index says about all topics what the groups say about themselves.
    [[nodiscard]] bool agrees() {
        std::vector<std::string> names;
        for (int number = 0; number < kTopics; ++number) {
            names.push_back(topic_name(number));
        }
        std::vector<TopicQuestion> questions;
        for (const std::string& name : names) {
            questions.push_back(
                {.topic = name, .topic_id = known_id(name), .others = TopicQuestion::Others::all, .partition_count = 2});
        }
        const auto by_index = coordinator_->queries().readers_of(questions);
        for (const auto& readers : by_index) {
            for (const TopicReader& reader : readers) {
                ++told_;
                told_by_members_ += reader.members.empty() ? 0 : 1;
            }
        }
        return by_index == coordinator_->queries().readers_by_asking_all(questions);
    }

    std::mt19937_64 dice_;
    std::vector<Known> members_;
    int ids_ = 0;
    int told_ = 0;
    int told_by_members_ = 0;
};

TEST_P(ReaderIndexHistories, AfterEachStepItSaysWhatEveryGroupSaysOfItself) {
    for (int number = 0; number < kTopics - 1; ++number) {
        set_topic(topic_name(number), 2);
    }
    for (int step = 0; step < kSteps; ++step) {
        happen();
        ASSERT_TRUE(agrees()) << "after step " << step << " of the history from seed " << GetParam();
    }
    EXPECT_GT(told_, kSteps) << "there was something to say";
    EXPECT_GT(told_by_members_, kSteps / 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReaderIndexHistories, ::testing::Range(1U, 161U));

TEST(ReaderIndexBounds, MoreGroupsThanCanBeCountedEndTheProcess) {
    ReaderIndex index(2);
    const Group one(index, "one", TimestampMs{0});
    const Group two(index, "two", TimestampMs{0});
    EXPECT_DEATH(Group(index, "three", TimestampMs{0}), "groups of a coordinator are counted in 32 bits");
}

TEST(ReaderIndexBounds, MoreTopicsOfAGroupOrGroupsOfATopicThanCanBeCountedEndTheProcess) {
    ReaderIndex index(2);
    Group one(index, "one", TimestampMs{0});
    Group two(index, "two", TimestampMs{0});
    index.update([](ReaderListing&) {});
    one.listing.add_members("a");
    one.listing.add_members("b");
    two.listing.add_members("a");
    EXPECT_DEATH(one.listing.add_members("c"), "topics of a group and groups of a topic are counted in 32 bits");
    Group three(index, "three", TimestampMs{0});
    EXPECT_DEATH(three.listing.add_members("a"), "topics of a group and groups of a topic are counted in 32 bits");
    std::vector<std::string> readers;
    index.for_each("a", TopicId{}, [&](const ListedReader& listed) { readers.push_back(listed.group->id); });
    EXPECT_EQ(readers, (std::vector<std::string>{"one", "two"})) << "up to the bound all are told";
}

}  // namespace
}  // namespace partita::groups::testing
