#include "broker/runtime/fences/fence_files.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/memory_file_system.h"

namespace partita::runtime {
namespace {

constexpr TimestampMs kOpened{1'000'000};

TopicId id(std::uint8_t last) {
    TopicId id;
    id.bytes[15] = last;
    return id;
}

std::string encoded(std::int32_t epoch) {
    insight::Fence fence;
    fence.open(epoch, 2, 4, kOpened, {}, kOpened);
    return fence.encode();
}

class FenceFilesTest : public ::testing::Test {
  protected:
    FenceFilesTest() {
        // The data directory exists and is durable before a fence is stored in it.
        EXPECT_TRUE(system_.make_directories("/data").has_value());
        EXPECT_TRUE(system_.sync_directory("/").has_value());
    }
    [[nodiscard]] static std::string path_of(const TopicId& topic) { return "/data/partita-fences/" + topic.to_string(); }

    test::MemoryFileSystem system_;
    FenceFiles files_{system_, "/data"};
};

TEST_F(FenceFilesTest, ABrokerThatNeverHadAFenceHasNoFiles) { EXPECT_TRUE(files_.load(kOpened).empty()); }

TEST_F(FenceFilesTest, WhatIsStoredLastIsLoaded) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), false).has_value());
    ASSERT_TRUE(files_.store(id(1), encoded(2), false).has_value());
    ASSERT_TRUE(files_.store(id(2), encoded(7), false).has_value());
    const auto loaded = files_.load(kOpened);
    ASSERT_EQ(loaded.size(), 2u);
    EXPECT_EQ(loaded.at(id(1)).window_epoch(), 2);
    EXPECT_EQ(loaded.at(id(2)).window_epoch(), 7);
}

TEST_F(FenceFilesTest, WhatIsStoredDurablySurvivesAPowerFailure) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), true).has_value());
    system_.crash_power(1);
    EXPECT_EQ(FenceFiles(system_, "/data").load(kOpened).size(), 1u);
}

TEST_F(FenceFilesTest, ARemovedFenceIsNotLoadedAndMayBeRemovedAgain) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), false).has_value());
    EXPECT_TRUE(files_.remove(id(1)).has_value());
    EXPECT_TRUE(files_.remove(id(1)).has_value());
    EXPECT_TRUE(files_.load(kOpened).empty());
}

TEST_F(FenceFilesTest, ADamagedFileCostsItsOwnTopicAlone) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), false).has_value());
    ASSERT_TRUE(files_.store(id(2), encoded(1), false).has_value());
    auto content = read_whole_file(system_, path_of(id(1)), FenceFiles::kBytesMax);
    ASSERT_TRUE(content.has_value());
    content->back() = static_cast<char>(content->back() ^ 1);
    ASSERT_TRUE(replace_file(system_, path_of(id(1)), as_bytes(*content), false).has_value());
    // The file is too short for a checksum.
    ASSERT_TRUE(replace_file(system_, path_of(id(3)), as_bytes("abc"), false).has_value());
    const auto loaded = files_.load(kOpened);
    EXPECT_EQ(loaded.size(), 1u);
    EXPECT_TRUE(loaded.contains(id(2)));
}

TEST_F(FenceFilesTest, AFileThatIsNoTopicsIsLeftAlone) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), false).has_value());
    ASSERT_TRUE(replace_file(system_, "/data/partita-fences/notes.txt", as_bytes("abc"), false).has_value());
    EXPECT_EQ(files_.load(kOpened).size(), 1u);
    EXPECT_TRUE(*system_.exists("/data/partita-fences/notes.txt"));
}

TEST_F(FenceFilesTest, AFailureToStoreIsTold) {
    ASSERT_TRUE(files_.store(id(1), encoded(1), false).has_value());
    system_.fail_call(1, ENOSPC, true);
    EXPECT_FALSE(files_.store(id(1), encoded(2), false).has_value());
    system_.heal();
    EXPECT_EQ(files_.load(kOpened).at(id(1)).window_epoch(), 1) << "the fence before stays";
}

}  // namespace
}  // namespace partita::runtime
