#include "broker/addons/faults/shell/failing_disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "tests/support/memory_file_system.h"

namespace partita::faults {
namespace {

/// Refuses the chosen operations, and remembers the paths that it was asked about.
class ChosenGate final : public DiskGate {
  public:
    bool fails(DiskOperation operation, const std::string& path) override {
        asked.insert(path);
        return refused.contains(operation);
    }
    std::set<DiskOperation> refused;
    std::set<std::string> asked;
};

class FailingDiskTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(disk.make_directories("/data/orders-0"));
        auto opened = disk.open(kPath, OpenMode::create);
        ASSERT_TRUE(opened);
        file = *opened;
        ASSERT_TRUE(write(*file, "kept"));
        disk.set_gate(gate);
    }
    static StorageResult<void> write(File& file, std::string_view text) {
        const Bytes piece = as_bytes(text);
        PARTITA_TRY_ASSIGN(const auto end, file.size());
        return file.write_at(end, {&piece, 1});
    }
    std::string content() {
        auto text = read_whole_file(disk, kPath, 1024);
        return text ? *text : "unreadable";
    }
    static constexpr const char* kPath = "/data/orders-0/0.log";

    test::MemoryFileSystem real;
    FailingDisk disk{real};
    std::shared_ptr<ChosenGate> gate = std::make_shared<ChosenGate>();
    std::shared_ptr<File> file;
};

TEST_F(FailingDiskTest, OnAFullDiskNothingIsWrittenOrCreatedAndReadsGoOn) {
    gate->refused = {DiskOperation::write};
    const auto refused = write(*file, "lost");
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is_out_of_space());
    EXPECT_NE(refused.error().message.find("No space left on device"), std::string::npos);
    EXPECT_FALSE(disk.open("/data/orders-0/1.log", OpenMode::create));
    EXPECT_FALSE(disk.open("/data/orders-0/1.log", OpenMode::create_empty));
    EXPECT_FALSE(*real.exists("/data/orders-0/1.log"));
    EXPECT_FALSE(disk.make_directories("/data/orders-1"));
    EXPECT_FALSE(file->reserve(0, 4096));
    EXPECT_EQ(content(), "kept");
    EXPECT_TRUE(disk.open(kPath, OpenMode::create)) << "it exists, and opening it needs no space";
    EXPECT_TRUE(disk.make_directories("/data/orders-0"));
    EXPECT_TRUE(file->truncate(2)) << "a full disk allows cuts, renames and removals";
    EXPECT_TRUE(file->sync_data()) << "what is written can be synced";
}

TEST_F(FailingDiskTest, AFailedSyncIsOneThatNobodyRetries) {
    gate->refused = {DiskOperation::sync};
    for (const StorageResult<void>& refused :
         {file->sync_data(), file->write_back(0, 4), disk.sync_directory("/data/orders-0")}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, StorageError::Kind::sync_failed);
        EXPECT_EQ(refused.error().error_number, EIO);
    }
    EXPECT_TRUE(write(*file, " more"));
    EXPECT_EQ(content(), "kept more");
}

TEST_F(FailingDiskTest, TheGateIsAskedAboutTheFileAndOnlyWhileThereIsOne) {
    ASSERT_TRUE(write(*file, "."));
    EXPECT_EQ(gate->asked, std::set<std::string>{kPath});
    gate->refused = {DiskOperation::write, DiskOperation::sync};
    disk.set_gate(nullptr);
    EXPECT_TRUE(write(*file, "."));
    EXPECT_TRUE(file->sync_data());
    EXPECT_EQ(content(), "kept..");
}

TEST_F(FailingDiskTest, AWindowAndAVolumeFailAsTheirFileDoes) {
    const std::string directory = ::testing::TempDir() + "failing_disk_test";
    PosixFileSystem posix;
    FailingDisk on_posix(posix);
    on_posix.set_gate(gate);
    ASSERT_TRUE(on_posix.make_directories(directory));
    const auto opened = on_posix.open(directory + "/0.log", OpenMode::create_empty);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(write(**opened, "0123456789"));
    const auto window = (*opened)->open_window(0, 4096);
    ASSERT_TRUE(window);
    const Bytes piece = as_bytes("ab");
    gate->refused = {DiskOperation::write, DiskOperation::sync};
    if (*window != nullptr) {  // Null where the file system cannot be trusted with windows.
        EXPECT_FALSE((*window)->write_at(2, {&piece, 1}));
        gate->refused = {DiskOperation::sync};
        EXPECT_TRUE((*window)->write_at(2, {&piece, 1}));
    }
    const auto volume = on_posix.open_volume(directory);
    ASSERT_TRUE(volume);
    if (*volume != nullptr) {
        const auto synced = (*volume)->sync();
        ASSERT_FALSE(synced);
        EXPECT_EQ(synced.error().kind, StorageError::Kind::sync_failed);
    }
    ASSERT_TRUE(on_posix.remove(directory + "/0.log"));
    ASSERT_TRUE(on_posix.remove(directory));
}

}  // namespace
}  // namespace partita::faults
