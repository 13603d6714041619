#include "broker/insight/shell/reader_memory.h"

#include <gmock/gmock.h>

#include <string>

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Instant kStart{1'000'000};
constexpr TimestampMs kGrown{50'000};

ReaderNote growth(const TopicId& topic, std::int64_t sequence = 7, std::vector<std::pair<std::string, std::string>> joins = {}) {
    ReaderNote::Grown grown;
    grown.growths = {{2, 4, kGrown, {Offset{10}, Offset{10}}}};
    grown.sequence = sequence;
    grown.joins = std::move(joins);
    return {.topic = topic, .what = std::move(grown), .name = "t"};
}

ReaderNote listed(const TopicId& topic) {
    return {.topic = topic,
            .what = ReaderNote::OffsetsListed{{"client", "/127.0.0.1"}, PartitionIndex{0}, -1, Offset{5}},
            .name = {}};
}

ReaderNote deleted(const std::string& group) { return {.topic = {}, .what = ReaderNote::GroupDeleted{group}, .name = {}}; }

GroupFacts group_of(const std::string& id, std::vector<GroupFacts::OtherTopic> others, bool reads_others = true) {
    GroupFacts group;
    group.group_id = id;
    group.other_topics = std::move(others);
    group.reads_others = reads_others;
    return group;
}

TEST(ReaderCircumstances, AreOthersOnceTheTransactionsOfALogAreDecided) {
    ReaderCircumstances undecided;
    undecided.add_log({0}, {5}, {7});
    ReaderCircumstances decided;
    decided.add_log({0}, {7}, {7});
    EXPECT_NE(undecided, decided);
    ReaderCircumstances same;
    same.add_log({0}, {7}, {7});
    EXPECT_EQ(decided, same);
}

TEST(RememberedJoins, AreThoseThatWereSeenSinceTheGrowth) {
    RememberedJoins joins;
    std::vector groups{group_of("g", {{"other", 2, true}})};
    joins.keep(groups);
    EXPECT_THAT(joins.all(), ElementsAre(Pair("g", "other")));
    groups = {group_of("g", {{"other", 2, false}, {"stranger", 2, false}})};
    joins.keep(groups);
    EXPECT_TRUE(groups[0].other_topics[0].is_aligned) << "the next assignment looks different; the join is broken nevertheless";
    EXPECT_FALSE(groups[0].other_topics[1].is_aligned);
}

TEST(RememberedJoins, EndWithTheGroupOrWhenItReadsTheOtherTopicNoMore) {
    RememberedJoins joins;
    joins.add({"g", "other"});
    joins.add({"gone", "other"});
    std::vector groups{group_of("g", {}, false), group_of("h", {})};
    joins.keep(groups);
    EXPECT_THAT(joins.all(), ElementsAre(Pair("g", "other"))) << "without any subscription the group restarts";
    groups = {group_of("g", {{"third", 2, false}})};
    joins.keep(groups);
    EXPECT_THAT(joins.all(), IsEmpty());
}

TEST(RememberedJoins, AreNoMoreThanTheirLimit) {
    RememberedJoins joins;
    for (std::size_t number = 0; number <= RememberedJoins::kJoinsMax; ++number) {
        joins.add({"g", std::to_string(number)});
    }
    EXPECT_EQ(joins.all().size(), RememberedJoins::kJoinsMax);
    EXPECT_FALSE(joins.all().contains({"g", std::to_string(RememberedJoins::kJoinsMax)}));
}

class ReaderMemoryTest : public ::testing::Test {
  protected:
    ReaderMemoryTest() { memory_.take(growth(topic_)); }
    [[nodiscard]] Now at(std::int64_t later_ms) const {
        return {.monotonic = kStart + later_ms, .wall = {kGrown.value + later_ms}};
    }
    [[nodiscard]] ReaderCircumstances present() const { return {.state = 1, .requests = memory_.requests()}; }
    void look(std::int64_t later_ms) { memory_.note_look(present(), {}, at(later_ms)); }

    const TopicId topic_{{1, 2, 3}};
    ReaderMemory memory_{"t", kStart};
};

TEST_F(ReaderMemoryTest, IsDueUntilItWasLookedAtAndWhenSomethingChanged) {
    EXPECT_TRUE(memory_.is_due(present(), at(0).monotonic));
    look(0);
    EXPECT_FALSE(memory_.is_due(present(), at(1).monotonic));
    ReaderCircumstances others = present();
    others.logs = 1;
    EXPECT_TRUE(memory_.is_due(others, at(1).monotonic));
    memory_.take(listed(topic_));
    EXPECT_TRUE(memory_.is_due(present(), at(1).monotonic));
}

TEST_F(ReaderMemoryTest, IsDueAMinuteAfterTheLastLookAtTheLatest) {
    look(0);
    EXPECT_FALSE(memory_.is_due(present(), at(ReaderMemory::kLookAgainMs - 1).monotonic));
    EXPECT_TRUE(memory_.is_due(present(), at(ReaderMemory::kLookAgainMs).monotonic));
}

TEST_F(ReaderMemoryTest, ComesFirstWhenReadersAskedAndBeforeThemWhenItWaitedForAMinute) {
    look(0);
    ReaderMemory asked("asked", at(0).monotonic);
    asked.take(growth(topic_));
    asked.note_look({}, {}, at(30'000));
    asked.take(listed(topic_));
    EXPECT_LT(asked.order(), memory_.order());
    asked.note_look({}, {}, at(ReaderMemory::kLookAgainMs + 1));
    asked.take(listed(topic_));
    EXPECT_GT(asked.order(), memory_.order());
}

TEST_F(ReaderMemoryTest, IsNotAskedForByAGroupThatIsDeleted) {
    look(0);
    const Instant unasked = memory_.order();
    memory_.take(deleted("g"));
    EXPECT_EQ(memory_.order(), unasked);
    EXPECT_TRUE(memory_.is_due(present(), at(1).monotonic)) << "its findings may end";
}

TEST_F(ReaderMemoryTest, IsOfNoCatalogFromBeforeTheNewestGrowth) {
    memory_.take(growth(topic_, 9));
    memory_.take(growth(topic_, 8));
    EXPECT_FALSE(memory_.is_in(8));
    EXPECT_TRUE(memory_.is_in(9));
}

TEST(ReaderMemories, WatchATopicFromTheNoteOfItsGrowthOn) {
    const TopicId grown{{1}};
    const TopicId other{{2}};
    ReaderMemories memories;
    memories.take({.notes = {listed(grown), deleted("g"), growth(grown, 7, {{"g", "joined"}}), listed(grown), listed(other)}},
                  kStart);
    ASSERT_EQ(memories.topics().size(), 1u);
    const ReaderMemory& memory = memories.topics().at(grown);
    EXPECT_EQ(memory.requests(), 2u) << "the growth, and what came after it";
    EXPECT_THAT(memory.joins().all(), ElementsAre(Pair("g", "joined")));
    memories.take({.notes = {deleted("g")}}, kStart);
    EXPECT_EQ(memory.requests(), 3u) << "a deleted group is about every topic";
}

TEST(ReaderMemories, TakeDeliveriesInTheirPlaceAmongTheNotes) {
    const TopicId grown{{1}};
    ReaderMemories memories;
    memories.take({.notes = {growth(grown), deleted("g")},
                   .notes_before = 5,
                   .deliveries = {{.topic = grown, .delivery = {}, .notes_before = 5},
                                  {.topic = grown, .delivery = {}, .notes_before = 6},
                                  {.topic = grown, .delivery = {}, .notes_before = 7}}},
                  kStart);
    EXPECT_EQ(memories.topics().at(grown).requests(), 4u) << "the first one came before the growth";
}

class NoConnections final : public ConnectionDirectory {
  public:
    std::optional<ConnectionFacts> find(ConnectionId) const override { return std::nullopt; }
    std::optional<ConnectionFacts> coordinator_of(std::string_view, std::string_view) const override { return std::nullopt; }
    bool is_looking_for(ConnectionId) const override { return false; }
};

// The group holds no new partition, though records wait in them: ten seconds after the growth this becomes a finding.
TEST(ReaderMemories, ChangeByTimeWithTheFirstOfTheirTopics) {
    constexpr std::int64_t kLaterMs = 1000;
    ReaderMemories memories;
    memories.take({.notes = {growth(TopicId{{1}}), growth(TopicId{{2}})}}, kStart);
    EXPECT_EQ(memories.changes_at(), std::nullopt) << "not looked at yet";
    const Now now{.monotonic = kStart + kLaterMs, .wall = {kGrown.value + kLaterMs}};
    memories.topics().at(TopicId{{1}}).note_look({}, {}, now);
    EXPECT_EQ(memories.changes_at(), std::nullopt) << "nothing is known that would change";
    const std::vector<EarlierExpansion> growths = {{2, 4, kGrown, {Offset{10}, Offset{10}}}};
    const std::vector<Offset> starts(4, Offset{0});
    const std::vector<Offset> ends = {Offset{10}, Offset{10}, Offset{1}, Offset{0}};
    std::vector groups{group_of("g", {})};
    groups[0].protocol_type = "consumer";
    groups[0].members = {{"client", "/127.0.0.1", {{0}, {1}}, "member"}};
    groups[0].committed.assign(4, kNoOffset);
    const NoConnections connections;
    ReaderMemory& second = memories.topics().at(TopicId{{2}});
    (void)second.readers().findings({.growths = growths,
                                     .log_starts = starts,
                                     .log_ends = ends,
                                     .groups = groups,
                                     .moved_keys = {},
                                     .stale_writers = {},
                                     .connections = &connections},
                                    now.wall);
    second.note_look({}, {}, now);
    EXPECT_EQ(memories.changes_at(), kStart + BlindGroups::kBlindMs);
    EXPECT_TRUE(second.is_due({}, kStart + BlindGroups::kBlindMs));
    EXPECT_FALSE(second.is_due({}, kStart + (BlindGroups::kBlindMs - 1)));
}

}  // namespace
}  // namespace partita::insight
