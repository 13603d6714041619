#include "broker/catalog/acls.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "broker/access/acl_index.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

constexpr AclToCreate kReadT{
    .resource = 2, .pattern = 3, .name = "t", .principal = "User:a", .host = "*", .operation = 3, .effect = 3};

AclToCreate with(AclToCreate acl, auto change) {
    change(acl);
    return acl;
}

class Acls : public ::testing::Test {
  protected:
    std::vector<CatalogError> create(std::vector<AclToCreate> acls) {
        return catalog_.carry_out(CreateAcls{.acls = std::move(acls)}).results;
    }
    std::vector<DeletedAcls> erase(std::vector<access::AclFilter> filters) {
        return catalog_.carry_out(DeleteAcls{.filters = std::move(filters)}).results;
    }
    std::vector<std::string> present() {
        std::vector<std::string> texts;
        for (const access::AclPointer& acl : catalog_.core().snapshot()->acls().acls()) {
            texts.push_back(to_text(*acl));
        }
        return texts;
    }
    /// Makes that many ACLs, in requests as large as they may be.
    void fill(std::size_t count) {
        std::vector<std::string> names;
        names.reserve(count);
        for (std::size_t number = 0; number < count; ++number) {
            names.push_back("n" + std::to_string(number));
        }
        for (std::size_t begin = 0; begin < count; begin += kMaxAclsPerRequest) {
            std::vector<AclToCreate> acls;
            for (std::size_t number = begin; number < std::min(count, begin + kMaxAclsPerRequest); ++number) {
                acls.push_back(with(kReadT, [&](AclToCreate& acl) { acl.name = names[number]; }));
            }
            ASSERT_TRUE(std::ranges::all_of(create(std::move(acls)), [](const CatalogError& each) { return !each.failed(); }));
        }
    }

    TestCatalog catalog_;
};

TEST_F(Acls, AreThereAfterARestartUntilTheyAreDeleted) {
    const auto deny = with(kReadT, [](AclToCreate& acl) {
        acl.pattern = 4;
        acl.effect = 2;
        acl.operation = 2;
        acl.host = "10.0.0.1";
        acl.name = "né";
    });
    EXPECT_EQ(create({kReadT, deny}), (std::vector<CatalogError>{{}, {}}));
    const std::vector<std::string> both = {
        "(principal=User:a, host=*, operation=READ, permissionType=ALLOW) on LITERAL TOPIC t",
        "(principal=User:a, host=10.0.0.1, operation=ALL, permissionType=DENY) on PREFIXED TOPIC né"};
    EXPECT_EQ(present(), both);
    catalog_.restart();
    EXPECT_EQ(present(), both);
    const auto deleted = erase({{.effect = 2}});
    ASSERT_EQ(deleted[0].acls.size(), 1u);
    EXPECT_EQ(to_text(*deleted[0].acls[0]), both[1]);
    EXPECT_EQ(present(), std::vector{both[0]});
    catalog_.restart();
    EXPECT_EQ(present(), std::vector{both[0]});
}

TEST_F(Acls, ThatAreThereAreNoFailureAndNoChange) {
    create({kReadT, kReadT});
    EXPECT_EQ(present().size(), 1u);
    const auto sequence = catalog_.core().snapshot()->sequence();
    EXPECT_EQ(create({kReadT}), std::vector<CatalogError>{{}});
    EXPECT_EQ(catalog_.core().snapshot()->sequence(), sequence);
    EXPECT_TRUE(erase({{.name = "u"}})[0].acls.empty());
    EXPECT_EQ(catalog_.core().snapshot()->sequence(), sequence);
}

TEST_F(Acls, AreRefusedOneByOneInKafkasWords) {
    const auto refused = [&](auto change) {
        const auto results = create({with(kReadT, change), kReadT});
        EXPECT_FALSE(results[1].failed());
        EXPECT_EQ(results[0].code, ErrorCode::invalid_request);
        return results[0].message.value_or("");
    };
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.resource = 4; }),
              "The only valid name for the CLUSTER resource is kafka-cluster");
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.name = ""; }), "Invalid empty resource name");
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.resource = 99; }), "Invalid resourceType UNKNOWN");
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.pattern = -1; }), "Invalid patternType UNKNOWN");
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.operation = 16; }), "Invalid operation UNKNOWN");
    EXPECT_EQ(refused([](AclToCreate& acl) { acl.effect = 4; }), "Invalid permissionType UNKNOWN");
    EXPECT_EQ(
        refused([](AclToCreate& acl) { acl.principal = "alice"; }),
        "Could not parse principal from `alice` (no colon is present separating the principal type from the principal name)");
    EXPECT_EQ(present().size(), 1u);
}

// Kafka makes no binding of such an ACL, and the whole request fails.
TEST_F(Acls, ThatSayWhatIsForFiltersSpoilTheWholeRequest) {
    const auto spoil = [&](auto change) { return create({kReadT, with(kReadT, change)}); };
    const std::vector<CatalogError> both(2, CatalogError{ErrorCode::unknown_server_error, std::nullopt});
    EXPECT_EQ(spoil([](AclToCreate& acl) { acl.resource = 1; }), both);
    EXPECT_EQ(spoil([](AclToCreate& acl) { acl.pattern = 1; }), both);
    EXPECT_EQ(spoil([](AclToCreate& acl) { acl.pattern = 2; }), both);
    EXPECT_EQ(spoil([](AclToCreate& acl) { acl.operation = 1; }), both);
    EXPECT_EQ(spoil([](AclToCreate& acl) { acl.effect = 1; }), both);
    EXPECT_TRUE(present().empty());
}

TEST_F(Acls, AreNotDeletedByAFilterOfAnUnknownKind) {
    create({kReadT});
    const auto deleted = erase({{.resource = 99}, {.pattern = 99}, {.operation = 99}, {.effect = 99}});
    EXPECT_EQ(deleted[0].error, error(ErrorCode::invalid_request, "Unknown patternFilter."));
    EXPECT_EQ(deleted[1].error, deleted[0].error);
    EXPECT_EQ(deleted[2].error, error(ErrorCode::invalid_request, "Unknown entryFilter."));
    EXPECT_EQ(deleted[3].error, deleted[2].error);
    EXPECT_EQ(present().size(), 1u);
}

TEST_F(Acls, OfTwoFiltersAreToldToBothAndDeletedOnce) {
    create({kReadT, with(kReadT, [](AclToCreate& acl) { acl.name = "u"; })});
    const auto deleted = erase({{.name = "t"}, {}});
    EXPECT_EQ(deleted[0].acls.size(), 1u);
    EXPECT_EQ(deleted[1].acls.size(), 2u);
    EXPECT_TRUE(present().empty());
}

TEST_F(Acls, AreAddedAndRemovedByTenThousandAtMost) {
    fill(kMaxAclsPerRequest);
    std::vector<std::string> names;
    for (std::size_t number = 0; number <= kMaxAclsPerRequest; ++number) {
        names.push_back("m" + std::to_string(number));
    }
    std::vector<AclToCreate> acls;
    for (const std::string& name : names) {
        acls.push_back(with(kReadT, [&](AclToCreate& acl) { acl.name = name; }));
    }
    const auto results = create(acls);
    EXPECT_EQ(results.front(), error(ErrorCode::policy_violation, "Unable to perform excessively large batch operation."));
    EXPECT_EQ(results.back(), results.front());
    EXPECT_EQ(present().size(), kMaxAclsPerRequest);

    create({kReadT});
    const auto deleted = erase({{.name = "t"}, {}});
    for (const DeletedAcls& each : deleted) {
        EXPECT_EQ(each.error,
                  error(ErrorCode::invalid_request, "Cannot remove more than 10000 acls in a single delete operation."));
        EXPECT_TRUE(each.acls.empty());
    }
    EXPECT_EQ(present().size(), kMaxAclsPerRequest + 1);
}

TEST_F(Acls, AreRefusedWhenThereAreTooMany) {
    fill(access::AclIndex::kAclsMax);
    EXPECT_EQ(create({kReadT})[0], error(ErrorCode::policy_violation, "There can be no more than 100000 ACLs."));
    EXPECT_FALSE(create({with(kReadT, [](AclToCreate& acl) { acl.name = "n0"; })})[0].failed()) << "it is there already";
    erase({{.name = "n0"}});
    EXPECT_FALSE(create({kReadT})[0].failed());
}

TEST_F(Acls, OfDamagedOrNewerRecordsEndTheReplay) {
    create({kReadT});
    const auto found = std::ranges::find_if(catalog_.persisted, [](const auto& record) { return record.first[1] == 7; });
    ASSERT_NE(found, catalog_.persisted.end());
    const auto [key, value] = *found;
    TestConfigRules rules;
    const auto failure = [&](std::string changed_key, std::string changed_value) {
        const auto replayed = CatalogCore(rules).replay(as_bytes(changed_key), as_bytes(changed_value));
        return replayed ? std::nullopt : std::optional(replayed.error().kind);
    };
    EXPECT_EQ(failure(key, value), std::nullopt);
    EXPECT_EQ(failure(key.substr(0, 8), value), CatalogReplayError::Kind::corrupt);
    EXPECT_EQ(failure(key.substr(0, 12), value), CatalogReplayError::Kind::corrupt);
    EXPECT_EQ(failure(key, ""), CatalogReplayError::Kind::corrupt);
    EXPECT_EQ(failure(key, std::string("\0\1", 2)), CatalogReplayError::Kind::newer_version);
    std::string unknown = key;
    unknown[2] = 99;
    EXPECT_EQ(failure(unknown, value), CatalogReplayError::Kind::newer_version);
}

}  // namespace
}  // namespace partita::catalog
