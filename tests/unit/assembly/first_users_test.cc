// Tests that a start makes the users of a file, and writes only those that are missing or changed.

#include "broker/assembly/first_users.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "broker/authentication/scram_users.h"
#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/catalog.h"
#include "tests/simulation/broker_world_caller.h"

namespace partita::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FirstUsers : public ::testing::Test {
  protected:
    FirstUsers() {
        std::string pattern = (std::filesystem::temp_directory_path() / "first-users-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
        write("SCRAM-SHA-256=[name=alice,password=one]\nSCRAM-SHA-512=[name=alice,password=one]\n");
    }
    ~FirstUsers() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string path() const { return directory_ + "/scram-users"; }
    void write(const std::string& text) const { std::ofstream(path()) << text; }
    /// Returns what the broker keeps of a user's password; empty when it keeps nothing.
    static std::string kept(CalledBroker& called, const std::string& user, const std::string& mechanism) {
        const auto table = called.broker().services().topics.table();
        const auto& all = table->catalog->all_scram_credentials();
        const auto found = all.find(user);
        if (found == all.end() || !found->second.contains(mechanism)) {
            return {};
        }
        return found->second.find(mechanism)->second;
    }
    static bool is_password(CalledBroker& called, const std::string& user, const std::string& password) {
        return authentication::is_credential_of(
            {.hash = authentication::Hash::sha_512, .name = user, .password = password, .iterations = 4096},
            kept(called, user, "SCRAM-SHA-512"));
    }
    std::expected<void, runtime::StartError> again(CalledBroker& called) {
        auto& services = called.broker().services();
        return assembly::make_first_users(*services.config.get(), services.catalog, called.now());
    }

    std::string directory_;
};

TEST_F(FirstUsers, AreThereWhenTheBrokerHasStarted) {
    CalledBroker called(1, {"partita.scram.users.file=" + path()});
    EXPECT_TRUE(is_password(called, "alice", "one"));
    EXPECT_FALSE(is_password(called, "alice", "two"));
    EXPECT_THAT(kept(called, "alice", "SCRAM-SHA-256"), HasSubstr("iterations=4096"));
    EXPECT_THAT(kept(called, "alice", "SCRAM-SHA-256"), Not(HasSubstr("one")));
}

TEST_F(FirstUsers, KeepWhatTheyHaveUntilTheFileSaysOtherwise) {
    CalledBroker called(1, {"partita.scram.users.file=" + path()});
    const std::string sha_256 = kept(called, "alice", "SCRAM-SHA-256");
    const std::string sha_512 = kept(called, "alice", "SCRAM-SHA-512");
    ASSERT_TRUE(again(called).has_value());
    EXPECT_EQ(kept(called, "alice", "SCRAM-SHA-256"), sha_256) << "it was salted anew, so it was written again";
    write("SCRAM-SHA-512=[name=alice,password=two]\nSCRAM-SHA-512=[name=bob,password=three]\n");
    ASSERT_TRUE(again(called).has_value());
    EXPECT_TRUE(is_password(called, "alice", "two"));
    EXPECT_TRUE(is_password(called, "bob", "three"));
    EXPECT_NE(kept(called, "alice", "SCRAM-SHA-512"), sha_512);
    EXPECT_EQ(kept(called, "alice", "SCRAM-SHA-256"), sha_256) << "nobody spoke of it";
}

TEST_F(FirstUsers, OfAFileThatCannotBeReadAreRefusedWithItsPlace) {
    CalledBroker called(1, {"partita.scram.users.file=" + path()});
    write("\nSCRAM-SHA-512=[name=alice,password=hush");
    const auto broken = again(called);
    ASSERT_FALSE(broken.has_value());
    EXPECT_THAT(broken.error().message, HasSubstr("partita.scram.users.file: " + path() + ", line 2: "));
    EXPECT_THAT(broken.error().message, Not(HasSubstr("hush")));
    std::filesystem::remove(path());
    const auto missing = again(called);
    ASSERT_FALSE(missing.has_value());
    EXPECT_THAT(missing.error().message, HasSubstr("cannot read partita.scram.users.file: "));
    EXPECT_TRUE(is_password(called, "alice", "one"));
}

TEST_F(FirstUsers, MayStandInTheSettingItself) {
    CalledBroker called(1,
                        {"partita.scram.users=SCRAM-SHA-512=[name=alice,password=one]\nSCRAM-SHA-512=[name=bob,password=two]\n"});
    EXPECT_TRUE(is_password(called, "alice", "one"));
    EXPECT_TRUE(is_password(called, "bob", "two"));
}

TEST_F(FirstUsers, AreNobodyWithoutTheSetting) {
    CalledBroker called(1, {});
    EXPECT_EQ(kept(called, "alice", "SCRAM-SHA-512"), "");
}

}  // namespace
}  // namespace partita::test
