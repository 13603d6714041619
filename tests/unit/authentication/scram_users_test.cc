// Users with passwords as text, as `kafka-storage format --add-scram` takes them.

#include "broker/authentication/scram_users.h"

#include <gmock/gmock.h>

#include <string>

namespace partita::authentication {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ScramUsers, AreReadFromLinesOfKafkaStorage) {
    const auto users = parse_scram_users(
        "# people\n\nSCRAM-SHA-256=[name=alice,password=alice-secret]\r\n"
        "SCRAM-SHA-512 = [ name = \"bob\" , password = \"a,b]=c\" , iterations=8192 ]");
    ASSERT_TRUE(users.has_value()) << users.error();
    ASSERT_EQ(users->size(), 2u);
    EXPECT_EQ(users->at(0).hash, Hash::sha_256);
    EXPECT_EQ(users->at(0).name, "alice");
    EXPECT_EQ(users->at(0).password, "alice-secret");
    EXPECT_EQ(users->at(0).iterations, 4096);
    EXPECT_EQ(users->at(1).hash, Hash::sha_512);
    EXPECT_EQ(users->at(1).name, "bob");
    EXPECT_EQ(users->at(1).password, "a,b]=c");
    EXPECT_EQ(users->at(1).iterations, 8192);
}

TEST(ScramUsers, ALineThatMakesNoUserIsNamedAndItsPasswordIsNot) {
    const std::string_view lines[] = {"PLAIN=[name=a,password=hush]",
                                      "SCRAM-SHA-256",
                                      "SCRAM-SHA-256=name=a,password=hush",
                                      "SCRAM-SHA-256=[name=a]",
                                      "SCRAM-SHA-256=[password=hush]",
                                      "SCRAM-SHA-256=[name=a,password=hush,]",
                                      "SCRAM-SHA-256=[name=a,password=\"hush]",
                                      "SCRAM-SHA-256=[name=a,password=\"hush\"x]",
                                      "SCRAM-SHA-256=[name=a,password=hush,salt=c2FsdA==]",
                                      "SCRAM-SHA-256=[name=a,password=hush,iterations=4095]",
                                      "SCRAM-SHA-256=[name=a,password=hush,iterations=16385]",
                                      "SCRAM-SHA-256=[name=a,password=hush,iterations=9999999999]",
                                      "SCRAM-SHA-256=[name=a,password=hush,iterations=x]",
                                      "SCRAM-SHA-256=[,]",
                                      "SCRAM-SHA-256=[]"};
    for (const std::string_view line : lines) {
        const auto users = parse_scram_users("\n" + std::string(line) + "\n");
        ASSERT_FALSE(users.has_value()) << line;
        EXPECT_THAT(users.error(), StartsWith("line 2: ")) << line;
        EXPECT_THAT(users.error(), Not(HasSubstr("hush"))) << line;
    }
}

TEST(ScramUsers, AUserHasOneCredentialOfAKind) {
    EXPECT_TRUE(parse_scram_users("SCRAM-SHA-256=[name=a,password=b]\nSCRAM-SHA-512=[name=a,password=b]\n").has_value());
    const auto twice = parse_scram_users("SCRAM-SHA-256=[name=a,password=b]\nSCRAM-SHA-256=[name=a,password=c]\n");
    ASSERT_FALSE(twice.has_value());
    EXPECT_EQ(twice.error(), "line 2: the user already has a credential of this mechanism");
}

TEST(ScramUsers, AreLimitedInNumberAndInBytes) {
    std::string text;
    for (std::size_t user = 0; user < kScramUsersMax; ++user) {
        text += "SCRAM-SHA-256=[name=u" + std::to_string(user) + ",password=p]\n";
    }
    const auto most = parse_scram_users(text);
    ASSERT_TRUE(most.has_value());
    EXPECT_EQ(most->size(), kScramUsersMax);
    const auto one_more = parse_scram_users(text + "SCRAM-SHA-256=[name=one,password=p]\n");
    ASSERT_FALSE(one_more.has_value());
    EXPECT_THAT(one_more.error(), HasSubstr("more than 1000"));
    EXPECT_TRUE(parse_scram_users(std::string(kScramUsersBytesMax, '#')).has_value());
    EXPECT_FALSE(parse_scram_users(std::string(kScramUsersBytesMax + 1, '#')).has_value());
}

TEST(ScramUsers, AKeptCredentialIsOfThePasswordHoweverItIsSalted) {
    const ScramUser user{.hash = Hash::sha_512, .name = "alice", .password = "alice-secret", .iterations = 4096};
    const auto text = [&](std::string_view password, std::int32_t iterations) {
        const ScramCredential made = make_scram_credential(Hash::sha_512, password, "some salt", iterations);
        return "salt=" + to_base64(made.salt) + ",stored_key=" + to_base64(made.stored_key) +
               ",server_key=" + to_base64(made.server_key) + ",iterations=" + std::to_string(iterations);
    };
    EXPECT_TRUE(is_credential_of(user, text("alice-secret", 4096)));
    EXPECT_FALSE(is_credential_of(user, text("bob-secret", 4096)));
    EXPECT_FALSE(is_credential_of(user, text("alice-secret", 8192))) << "the file asks for fewer iterations";
    EXPECT_FALSE(is_credential_of(user, "no credential"));
}

}  // namespace
}  // namespace partita::authentication
