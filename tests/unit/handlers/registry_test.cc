#include "broker/handlers/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/tests_directory.h"

namespace partita::handlers {
namespace {

TEST(Registry, EveryServedApiHasAHandlerVersionsAndAnOperation) {
    // Handshakes come before authentication; for tokens, their owners decide.
    const std::set<ApiKey> without{ApiKey::sasl_handshake, ApiKey::api_versions, ApiKey::sasl_authenticate,
                                   ApiKey::renew_delegation_token, ApiKey::expire_delegation_token};
    EXPECT_FALSE(served_apis().empty());
    for (const ServedApi* served : served_apis()) {
        const ServedApi& row = *served;
        ASSERT_NE(find_api(row.key), nullptr) << static_cast<int>(row.key);
        EXPECT_NE(row.handler, nullptr) << row.api().name;
        EXPECT_LE(row.api().versions.first, row.api().latest_version(false)) << row.api().name;
        EXPECT_EQ(row.needs.empty(), without.contains(row.key)) << row.api().name;
        EXPECT_EQ(find_served_api(row.key), served);
    }
    EXPECT_TRUE(std::ranges::is_sorted(served_apis(), {}, &ServedApi::key));
    EXPECT_EQ(find_served_api(ApiKey::leader_and_isr), nullptr);
    EXPECT_EQ(find_served_api(ApiKey{-1}), nullptr);
    EXPECT_EQ(find_served_api(ApiKey{128}), nullptr);
}

TEST(Registry, NoRowAsksForAnOperationThatItsResourceDoesNotKnow) {
    const auto is_known = [](const access::Permission& permission) {
        return std::ranges::count(access::operations_of(permission.resource), permission.operation) == 1;
    };
    for (const ServedApi* served : served_apis()) {
        const ServedApi& row = *served;
        std::set<std::string> seen;
        for (const access::Need& need : row.needs) {
            EXPECT_TRUE(is_known(need.permission)) << row.api().name << " " << to_text(need);
            // Kafka asks for DELETE on the cluster, which no ACL can grant by that name: only ALL and `super.users` do.
            const bool is_delete_of_cluster = need.or_on_cluster && need.or_on_cluster->operation == access::Operation::erase;
            EXPECT_EQ(is_delete_of_cluster, need.or_on_cluster && row.key == ApiKey::delete_topics) << row.api().name;
            EXPECT_TRUE(!need.or_on_cluster || is_delete_of_cluster || is_known(*need.or_on_cluster))
                << row.api().name << " " << to_text(need);
            EXPECT_TRUE(!need.or_on_cluster || need.or_on_cluster->resource == access::ResourceType::cluster) << row.api().name;
            EXPECT_TRUE(seen.insert(to_text(need)).second) << row.api().name << " says twice " << to_text(need);
        }
    }
}

std::string table_of_rows() {
    std::ostringstream table;
    table << "| key | API | versions | the client needs |\n|--:|---|---|---|\n";
    for (const ServedApi* served : served_apis()) {
        const ServedApi& row = *served;
        const ApiInfo& api = row.api();
        table << "| " << static_cast<int>(row.key) << " | " << api.name << " | " << api.versions.first;
        if (api.latest_version(false) != api.versions.first) {
            table << "-" << api.latest_version(false);
        }
        if (api.latest_unstable) {
            table << " (" << api.versions.last << " unstable)";
        }
        table << " |";
        for (const access::Need& need : row.needs) {
            table << (&need == row.needs.begin() ? " " : "; ") << to_text(need);
        }
        table << (row.needs.empty() ? " nothing |\n" : " |\n");
    }
    return table.str();
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Registry, TheTableInTheDocsHasTheSameRows) {
    const auto path = test::tests_directory().parent_path() / "docs" / "apis.md";
    const std::string text = content(path);
    const std::size_t begin = text.find("| key |");
    ASSERT_NE(begin, std::string::npos) << path;
    const std::size_t end = text.find("\n\n", begin);
    const std::string behind = end == std::string::npos ? "" : text.substr(end + 1);
    const std::string page = text.substr(0, begin) + table_of_rows() + behind;
    if (std::getenv("PARTITA_WRITE_DOCS") != nullptr) {
        std::ofstream(path) << page;
    }
    EXPECT_EQ(content(path), page) << "write it anew: PARTITA_WRITE_DOCS=1 handlers_test";
}

}  // namespace
}  // namespace partita::handlers
