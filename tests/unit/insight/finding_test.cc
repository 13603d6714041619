#include "broker/insight/findings/finding.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "broker/insight/findings/finding_json.h"

namespace partita::insight {
namespace {

TEST(HazardCatalogue, IdsArePrintedWithTwoDigitsAndReadBack) {
    EXPECT_EQ(to_string(HazardId::backlog_inversion), "H03");
    EXPECT_EQ(to_string(HazardId::compacted_orphans), "H40");
    EXPECT_EQ(to_string(HazardId::two_owners), "G01");
    EXPECT_EQ(to_string(HazardId::capacity_changed), "C01");
    for (const Hazard& line : hazards()) {
        EXPECT_EQ(parse_hazard_id(to_string(line.id)), line.id);
        EXPECT_EQ(&hazard(line.id), &line);
    }
}

TEST(HazardCatalogue, FamiliesAreToldByTheirIds) {
    EXPECT_EQ(family_of(HazardId::keys_move), HazardFamily::expansion);
    EXPECT_EQ(family_of(HazardId::findings_overflow), HazardFamily::expansion);
    EXPECT_EQ(family_of(HazardId::two_owners), HazardFamily::group);
    EXPECT_EQ(family_of(HazardId::partitions_flap), HazardFamily::group);
    EXPECT_EQ(family_of(HazardId::capacity_changed), HazardFamily::capacity);
    // Scripts store the numbers: an id that moves to another hazard is an error.
    EXPECT_EQ(static_cast<int>(HazardId::held_reader), 52);
    EXPECT_EQ(static_cast<int>(HazardId::partitions_flap), 104);
    EXPECT_EQ(static_cast<int>(HazardId::capacity_changed), 201);
}

TEST(HazardCatalogue, RefusesIdsThatAreNotInIt) {
    for (const char* text :
         {"", "H", "H3", "H00", "H13", "h03", "H003", "H99", "H-1", "H 3", "G00", "G05", "G03 ", "C00", "C02", "I01"}) {
        EXPECT_EQ(parse_hazard_id(text), std::nullopt) << text;
    }
}

TEST(HazardCatalogue, EveryLineHasItsOwnTitleAndOneSentenceOfAdvice) {
    std::set<std::string_view> titles;
    for (const Hazard& line : hazards()) {
        EXPECT_TRUE(titles.insert(line.title).second) << line.title;
        EXPECT_TRUE(line.advice.ends_with('.')) << line.advice;
    }
    EXPECT_EQ(hazards().size(), 43u);
}

TEST(Finding, KeepsTenExamplesAndCutsLongKeys) {
    Finding finding = make_finding(HazardId::keys_move, {.topic = "orders"}, "x", 20);
    const std::string huge(1 << 20, 'k');
    for (int index = 0; index < 20; ++index) {
        finding.add_example(huge, PartitionIndex{1}, PartitionIndex{7});
    }
    EXPECT_EQ(finding.examples.size(), Finding::kExamplesMax);
    EXPECT_EQ(finding.examples[0].key.size(), Finding::kExampleKeyBytesMax);
    EXPECT_EQ(finding.severity, Severity::warn);
}

TEST(Finding, EvidenceIsTheLastRecordOfEachPartitionAndBounded) {
    Finding finding = make_finding(HazardId::inversion_delivered, {.topic = "orders"}, "x");
    finding.add_evidence(PartitionIndex{1}, Offset{7});
    finding.add_evidence(PartitionIndex{1}, Offset{9});
    finding.add_evidence(PartitionIndex{1}, Offset{8});
    EXPECT_EQ(finding.evidence, (std::vector<RecordPlace>{{PartitionIndex{1}, Offset{9}}}));
    for (std::int32_t partition = 2; partition < 1000; ++partition) {
        finding.add_evidence(PartitionIndex{partition}, Offset{1});
    }
    EXPECT_EQ(finding.evidence.size(), Finding::kEvidenceMax);
}

TEST(Finding, TheWorstSeverityOfNoneIsNone) {
    EXPECT_EQ(worst_severity({}), std::nullopt);
    const std::vector<Finding> findings = {make_finding(HazardId::irreversible, {}, ""),
                                           make_finding(HazardId::backlog_inversion, {}, ""),
                                           make_finding(HazardId::keys_move, {}, "")};
    EXPECT_EQ(worst_severity(findings), Severity::block);
}

TEST(FindingJson, HasTheDocumentedMembers) {
    Finding finding = make_finding(HazardId::backlog_inversion, {.topic = "orders", .group = "billing"}, "late", 1200);
    finding.numbers.push_back({"backlog_records", 1200});
    finding.add_example("user-42", PartitionIndex{3}, PartitionIndex{9});
    EXPECT_EQ(finding_json(finding, KeyStyle::text).dump(),
              R"({"id":"H03","title":"newer records will overtake a backlog","severity":"block",)"
              R"("kind":"danger","subject":{"topic":"orders","group":"billing"},"condition":"late","count":1200,)"
              R"("numbers":{"backlog_records":1200},"examples":[{"key":"user-42","from":3,"to":9}],)"
              R"("advice":"Let the groups read up to the end first, or expand in fenced mode."})");
}

TEST(FindingJson, HarmSaysWhichRecordsItLastsFor) {
    Finding finding = make_finding(HazardId::inversion_delivered, {.topic = "orders"}, "late");
    finding.add_evidence(PartitionIndex{3}, Offset{811});
    finding.is_restored = true;
    const auto object = finding_json(finding, KeyStyle::text);
    EXPECT_EQ(object.at("kind"), "harm");
    EXPECT_EQ(object.at("evidence").dump(), R"([{"partition":3,"offset":811}])");
    EXPECT_EQ(object.at("restored"), true);
}

TEST(FindingJson, ShowsKeysThatAreNoTextInHexAndHashesOnRequest) {
    nlohmann::ordered_json object;
    add_key(object, std::string_view("\0\xff", 2), KeyStyle::text);
    add_key(object, "abc", KeyStyle::hashed);
    // The SHA-256 of "abc" (FIPS 180-2, appendix B.1) begins with these digits.
    EXPECT_EQ(object.dump(), R"({"key_hex":"00ff","key_hash":"ba7816bf8f01cfea"})");
}

TEST(Utf8, IsJudgedAsRfc3629Does) {
    for (const std::string_view good : {"", "abc", "\u017c\u00f3\u0142\u0107", "\xf0\x9f\x8e\xb5", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(is_valid_utf8(good)) << good;
    }
    // A lone continuation, overlong forms, a surrogate, above the last code point, cut off.
    for (const std::string_view bad : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "\xff"}) {
        EXPECT_FALSE(is_valid_utf8(bad)) << to_hex(bad);
    }
}

}  // namespace
}  // namespace partita::insight
