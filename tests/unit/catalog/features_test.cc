#include "broker/catalog/features.h"

#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

constexpr std::string_view kPrefix =
    "The update failed for all features since the following feature had an error: Invalid update version ";

class Features : public ::testing::Test {
  protected:
    Features() { catalog_.carry_out(Initialise{"MkU3OEVBNTcwNTJENDM2Qk", started_features({})}); }
    UpdateFeaturesResult update(std::vector<FeatureUpdate> updates, bool validate_only = false) {
        return catalog_.carry_out(UpdateFeatures{std::move(updates), validate_only, BrokerId{1}});
    }
    std::string refusal(FeatureUpdate wanted) {
        const UpdateFeaturesResult reply = update({wanted});
        EXPECT_EQ(reply.error.code, ErrorCode::invalid_update_version);
        return reply.error.message.value_or("");
    }
    std::int16_t level(std::string_view name) { return feature_level(*catalog_.core().snapshot(), name); }

    TestCatalog catalog_;
};

TEST_F(Features, ThatWereBroughtDownStayDownAfterARestart) {
    EXPECT_FALSE(update({{kEligibleLeaderReplicasVersion, 0, 2}}).error.failed());
    catalog_.restart();
    EXPECT_EQ(level(kEligibleLeaderReplicasVersion), 0);
    const FeatureLevels started = started_features(catalog_.core().snapshot()->finalized_features());
    EXPECT_EQ(started.find(kEligibleLeaderReplicasVersion)->second, 0);
}

TEST_F(Features, NewToADataDirectoryStartAtTheirInitialLevel) {
    const FeatureLevels started = started_features({{"metadata.version", 25}});
    EXPECT_EQ(started.size(), served_features().size());
    EXPECT_EQ(started.find("metadata.version")->second, 25);
    EXPECT_EQ(started.find(kKraftVersion)->second, 1);
}

TEST_F(Features, OfOneRequestChangeTogetherOrNotAtAll) {
    EXPECT_TRUE(update({{kEligibleLeaderReplicasVersion, 0, 2}, {"nope", 1, 1}}).error.failed());
    EXPECT_EQ(level(kEligibleLeaderReplicasVersion), 1);
}

TEST_F(Features, OfValidateOnlyDoNotChange) {
    const UpdateFeaturesResult reply = update({{kEligibleLeaderReplicasVersion, 0, 3}}, true);
    EXPECT_FALSE(reply.error.failed());
    EXPECT_EQ(reply.updated, std::vector<std::string>{std::string(kEligibleLeaderReplicasVersion)});
    EXPECT_EQ(level(kEligibleLeaderReplicasVersion), 1);
}

TEST_F(Features, AreRefusedWithKafkasTexts) {
    const std::string prefix(kPrefix);
    EXPECT_EQ(refusal({"nope", 1, 1}), prefix + "1 for feature nope. Local controller 1 does not support this feature.");
    EXPECT_EQ(refusal({"nope", 0, 1}), prefix + "0 for feature nope. Feature nope not found.");
    EXPECT_EQ(refusal({kMetadataVersion, 31, 1}),
              prefix + "31 for feature metadata.version. Local controller 1 only supports versions 7-30");
    EXPECT_EQ(refusal({kMetadataVersion, -1, 2}),
              prefix + "-1 for feature metadata.version. A feature version cannot be less than 0.");
    EXPECT_EQ(refusal({kMetadataVersion, 29, 0}),
              prefix + "29 for feature metadata.version. The controller does not support the given upgrade type.");
    EXPECT_EQ(refusal({kMetadataVersion, 29, 1}),
              prefix +
                  "29 for feature metadata.version. Can't downgrade the version of this feature without setting the "
                  "upgrade type to either safe or unsafe downgrade.");
    EXPECT_EQ(refusal({kKraftVersion, 0, 2}),
              prefix + "0 for feature kraft.version. Can't downgrade the version of this feature.");
    const std::string failed = prefix.substr(0, prefix.find("Invalid"));
    EXPECT_EQ(refusal({kMetadataVersion, 29, 2}),
              failed +
                  "Unsupported metadata.version downgrade from 30 to 29. Refusing to perform the requested downgrade "
                  "because it might delete metadata information.");
    EXPECT_EQ(refusal({kMetadataVersion, 29, 3}),
              failed +
                  "Unsupported metadata.version downgrade from 30 to 29. Unsafe metadata downgrade is not supported in "
                  "this version.");
}

TEST_F(Features, AtTheLevelTheyHaveAreAcceptedAndWriteNothing) {
    EXPECT_FALSE(update({{kMetadataVersion, 30, 1}}).error.failed());
    EXPECT_TRUE(catalog_.last_effects.records.empty());
}

}  // namespace
}  // namespace partita::catalog
