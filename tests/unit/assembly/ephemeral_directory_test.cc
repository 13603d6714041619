#include "broker/assembly/ephemeral_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace partita::assembly {
namespace {

class EphemeralDirectories : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_NE(::mkdtemp(parent_.data()), nullptr); }
    void TearDown() override { std::filesystem::remove_all(parent_); }

    /// A directory with a file below a directory, as a broker that is gone left it.
    std::string abandoned(const std::string& name) {
        std::filesystem::create_directories(parent_ + "/" + name + "/orders-0");
        std::ofstream(parent_ + "/" + name + "/orders-0/00000000000000000000.log") << "records";
        return parent_ + "/" + name;
    }

    std::string parent_ = "/tmp/partita-unit-XXXXXX";
};

TEST_F(EphemeralDirectories, GoWithEverythingInThem) {
    std::string path;
    {
        const auto created = EphemeralDirectory::create(std::span(&parent_, 1));
        ASSERT_TRUE(created.has_value());
        path = created->directory.path();
        std::filesystem::create_directory(path + "/orders-0");
        std::ofstream(path + "/orders-0/00000000000000000000.log") << "records";
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(EphemeralDirectories, OfNobodyAreRemovedByTheNext) {
    const std::string left = abandoned("partita-ephemeral-000001");
    const auto created = EphemeralDirectory::create(std::span(&parent_, 1));
    ASSERT_TRUE(created.has_value());
    EXPECT_EQ(created->swept, 1u);
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(EphemeralDirectories, OfTheLivingStay) {
    const auto first = EphemeralDirectory::create(std::span(&parent_, 1));
    const auto second = EphemeralDirectory::create(std::span(&parent_, 1));
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(second->swept, 0u);
    EXPECT_TRUE(std::filesystem::exists(first->directory.path()));
}

TEST_F(EphemeralDirectories, OtherNamesFilesAndLinksAreLeftAlone) {
    const std::string other = abandoned("partita-scenario-000001");
    const std::string target = abandoned("target");
    std::ofstream(parent_ + "/partita-ephemeral-a-file") << "x";
    std::filesystem::create_directory_symlink(target, parent_ + "/partita-ephemeral-a-link");
    const auto created = EphemeralDirectory::create(std::span(&parent_, 1));
    ASSERT_TRUE(created.has_value());
    EXPECT_EQ(created->swept, 0u);
    for (const std::string& path :
         {other, target + "/orders-0", parent_ + "/partita-ephemeral-a-file", parent_ + "/partita-ephemeral-a-link"}) {
        EXPECT_TRUE(std::filesystem::exists(path)) << path;
    }
}

TEST_F(EphemeralDirectories, AreMadeInTheFirstParentThatHasRoom) {
    const std::string parents[] = {parent_ + "/missing", parent_};
    const auto created = EphemeralDirectory::create(parents);
    ASSERT_TRUE(created.has_value());
    EXPECT_TRUE(created->directory.path().starts_with(parent_ + "/partita-ephemeral-"));
    EXPECT_FALSE(EphemeralDirectory::create(std::span(parents, 1)).has_value());
}

}  // namespace
}  // namespace partita::assembly
