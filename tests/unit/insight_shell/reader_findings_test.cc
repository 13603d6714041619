#include "broker/insight/shell/reader_findings.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace partita::insight {
namespace {

Finding finding(HazardId id, const std::string& group) {
    Finding finding;
    finding.id = id;
    finding.subject.group = group;
    finding.condition = "as it was";
    return finding;
}

TEST(ReaderFindings, BacklogsOfGroupsThatTheFenceWaitsForAreToldAsHeld) {
    std::vector findings = {finding(HazardId::backlog_inversion, "held"), finding(HazardId::backlog_inversion, "released"),
                            finding(HazardId::group_blind, "held")};
    const std::vector before = findings;
    EXPECT_TRUE(has_backlog(findings));
    EXPECT_TRUE(tell_of_fence({"released"}, findings));
    EXPECT_NE(findings[0], before[0]);
    EXPECT_EQ(findings[1], before[1]);
    EXPECT_EQ(findings[2], before[2]);
}

TEST(ReaderFindings, OfGroupsThatTheFenceReleasedNoneIsHeld) {
    std::vector findings = {finding(HazardId::backlog_inversion, "released")};
    EXPECT_FALSE(tell_of_fence({"released"}, findings));
    EXPECT_FALSE(has_backlog({finding(HazardId::group_blind, "g")}));
}

/// A topic that grew from 2 to 4 partitions, with a group of one member that holds `held` of them.
PlannedTopic grown_topic(std::int32_t held) {
    PlannedTopic facts;
    facts.name = "t";
    facts.old_count = 2;
    facts.new_count = 4;
    facts.partitions.resize(4);
    GroupFacts group;
    group.group_id = "g";
    group.state = "Stable";
    group.protocol_type = "consumer";
    group.protocol = "range";
    group.members = {{"client", "/127.0.0.1", {}, "member"}};
    for (std::int32_t partition = 0; partition < held; ++partition) {
        group.members[0].assigned.push_back({partition});
    }
    group.committed.assign(4, kNoOffset);
    facts.groups = {group};
    return facts;
}

std::size_t count_of(HazardId id, const std::vector<Finding>& findings) {
    return static_cast<std::size_t>(std::ranges::count(findings, id, &Finding::id));
}

TEST(ReaderFindings, ARebalanceStandsUntilTheGroupHoldsNewPartitions) {
    EXPECT_EQ(count_of(HazardId::rebalance, standing_findings(grown_topic(2))), 1u);
    EXPECT_EQ(count_of(HazardId::rebalance, standing_findings(grown_topic(4))), 0u);
}

TEST(ReaderFindings, AJoinThatTheGrowthBrokeStandsAndWhatIsOverDoesNot) {
    PlannedTopic facts = grown_topic(4);
    facts.groups[0].other_topics = {{"other", 2, true}};
    facts.groups[0].reads_others = true;
    const std::vector<Finding> standing = standing_findings(facts);
    EXPECT_EQ(count_of(HazardId::copartition_breaks, standing), 1u);
    EXPECT_EQ(count_of(HazardId::irreversible, standing), 0u);
    EXPECT_GT(count_of(HazardId::irreversible, make_plan_without_scan(facts).findings), 0u);
}

}  // namespace
}  // namespace partita::insight
