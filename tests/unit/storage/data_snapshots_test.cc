#include "storage/data_snapshots.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace partita {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFirstSegment = "orders-0/00000000000000000000.log";
constexpr const char* kActiveSegment = "orders-0/00000000000000000100.log";

class DataSnapshotsTest : public ::testing::Test {
  protected:
    DataSnapshotsTest() {
        char name[] = "/tmp/partita-snapshots-test-XXXXXX";
        root_ = ::mkdtemp(name);
        data_ = root_ + "/data";
        fs::create_directories(data_ + "/orders-0");
        write(kFirstSegment, "sealed");
        write(kActiveSegment, "active");
        write("orders-0/00000000000000000000.index", "index");
        write("partita.properties", "version=1");
        write(".lock", "holder");
    }
    ~DataSnapshotsTest() override { fs::remove_all(root_); }

    void write(const std::string& name, const std::string& text) { std::ofstream(data_ + "/" + name, std::ios::trunc) << text; }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(data_ + "/" + name).rdbuf();
        return text.str();
    }
    [[nodiscard]] ino_t inode(const std::string& name) const {
        struct stat status{};
        EXPECT_EQ(::stat((data_ + "/" + name).c_str(), &status), 0) << name;
        return status.st_ino;
    }
    [[nodiscard]] std::string in_snapshot(const std::string& name) const { return "partita-snapshots/one/" + name; }
    DataSnapshots snapshots() { return DataSnapshots(data_); }

    std::string root_;
    std::string data_;
};

TEST_F(DataSnapshotsTest, ARestoreBringsBackEveryFileAndRemovesLaterOnes) {
    ASSERT_TRUE(snapshots().take("one"));
    write(kActiveSegment, "active and more");
    fs::create_directories(data_ + "/later-0");
    write("later-0/00000000000000000000.log", "later");
    fs::remove(data_ + "/partita.properties");
    ASSERT_TRUE(snapshots().restore("one"));
    EXPECT_EQ(read(kFirstSegment), "sealed");
    EXPECT_EQ(read(kActiveSegment), "active");
    EXPECT_EQ(read("partita.properties"), "version=1");
    EXPECT_FALSE(fs::exists(data_ + "/later-0"));
}

TEST_F(DataSnapshotsTest, OnlySegmentsThatTakeNoMoreRecordsAreShared) {
    ASSERT_TRUE(snapshots().take("one"));
    EXPECT_EQ(inode(kFirstSegment), inode(in_snapshot(kFirstSegment)));
    EXPECT_NE(inode(kActiveSegment), inode(in_snapshot(kActiveSegment)));
    EXPECT_NE(inode("orders-0/00000000000000000000.index"), inode(in_snapshot("orders-0/00000000000000000000.index")));
    ASSERT_TRUE(snapshots().restore("one"));
    // An append of today does not reach the snapshot.
    std::ofstream(data_ + "/" + kActiveSegment, std::ios::app) << " and more";
    ASSERT_TRUE(snapshots().restore("one"));
    EXPECT_EQ(read(kActiveSegment), "active");
}

TEST_F(DataSnapshotsTest, ACopyKeepsHolesAndTheTimeOfTheLastChange) {
    const std::string path = data_ + "/" + kActiveSegment;
    ASSERT_EQ(::truncate(path.c_str(), 64 << 20), 0);
    const timespec times[] = {{1000, 0}, {2000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    ASSERT_TRUE(snapshots().take("one"));
    struct stat status{};
    ASSERT_EQ(::stat((data_ + "/" + in_snapshot(kActiveSegment)).c_str(), &status), 0);
    EXPECT_EQ(status.st_size, 64 << 20);
    EXPECT_LT(status.st_blocks * 512, 1 << 20);
    EXPECT_EQ(status.st_mtim.tv_sec, 2000);
}

TEST_F(DataSnapshotsTest, ASnapshotOfTheSameNameIsReplaced) {
    ASSERT_TRUE(snapshots().take("one"));
    write(kActiveSegment, "second");
    ASSERT_TRUE(snapshots().take("one"));
    write(kActiveSegment, "third");
    ASSERT_TRUE(snapshots().restore("one"));
    EXPECT_EQ(read(kActiveSegment), "second");
}

TEST_F(DataSnapshotsTest, ARestoreThatACrashInterruptedIsCompleted) {
    ASSERT_TRUE(snapshots().take("one"));
    write(kActiveSegment, "later");
    const std::string folder = data_ + "/partita-snapshots/";
    // A copy that is not complete does not matter.
    fs::copy(folder + "one", folder + ".staging", fs::copy_options::recursive);
    EXPECT_FALSE(snapshots().is_unfinished());
    ASSERT_TRUE(snapshots().finish());
    EXPECT_EQ(read(kActiveSegment), "later");
    // It is complete, and a part of the old data was set aside.
    fs::rename(folder + ".staging", folder + ".staged");
    fs::remove(data_ + "/partita.properties");
    EXPECT_TRUE(snapshots().is_unfinished());
    ASSERT_TRUE(snapshots().finish());
    EXPECT_EQ(read(kFirstSegment), "sealed");
    EXPECT_EQ(read(kActiveSegment), "active");
    EXPECT_EQ(read("partita.properties"), "version=1");
    // A part of it is in its place.
    fs::create_directories(folder + ".placing");
    fs::rename(data_ + "/orders-0", folder + ".placing/orders-0");
    ASSERT_TRUE(snapshots().finish());
    EXPECT_EQ(read(kActiveSegment), "active");
    EXPECT_EQ(read("partita.properties"), "version=1");
    write(kActiveSegment, "goes on");
    ASSERT_TRUE(snapshots().finish()) << "nothing is interrupted any more";
    EXPECT_EQ(read(kActiveSegment), "goes on");
}

TEST_F(DataSnapshotsTest, ADirectoryInUseIsLeftAlone) {
    ASSERT_TRUE(snapshots().take("one"));
    PosixFileSystem file_system;
    const auto held = file_system.lock(data_ + "/.lock", "another process");
    ASSERT_TRUE(held);
    EXPECT_EQ(snapshots().take("two").error().kind, StorageError::Kind::locked);
    EXPECT_EQ(snapshots().restore("one").error().kind, StorageError::Kind::locked);
    EXPECT_TRUE(snapshots().list()) << "a broker that runs lists its snapshots";
}

TEST_F(DataSnapshotsTest, APartitionOnAnotherDiskBelongsToTheSnapshot) {
    fs::create_directories(root_ + "/elsewhere/moved-0");
    std::ofstream(root_ + "/elsewhere/moved-0/00000000000000000000.log") << "far";
    fs::create_directory_symlink(root_ + "/elsewhere/moved-0", data_ + "/moved-0");
    ASSERT_TRUE(snapshots().take("one"));
    fs::remove(data_ + "/moved-0");
    ASSERT_TRUE(snapshots().restore("one"));
    EXPECT_EQ(read("moved-0/00000000000000000000.log"), "far");
}

TEST_F(DataSnapshotsTest, SnapshotsAreListedFoundAndRemoved) {
    EXPECT_THAT(snapshots().list().value(), IsEmpty());
    ASSERT_TRUE(snapshots().take("two"));
    const auto taken = snapshots().take("one");
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->files, 4U) << "without the lock, and without other snapshots";
    EXPECT_EQ(taken->size_bytes, 26U);
    const auto all = snapshots().list();
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 2U);
    EXPECT_EQ((*all)[0].name, "one");
    EXPECT_EQ((*all)[1].name, "two");
    ASSERT_TRUE(snapshots().remove("one"));
    EXPECT_TRUE(snapshots().find("one").error().is_not_found());
    EXPECT_TRUE(snapshots().restore("one").error().is_not_found());
    EXPECT_EQ(read(kActiveSegment), "active") << "a restore of what is not there changes nothing";
    snapshots().purge();
    EXPECT_EQ(std::distance(fs::directory_iterator(data_ + "/partita-snapshots"), fs::directory_iterator()), 1);
}

TEST_F(DataSnapshotsTest, AnEmptyDirectoryBeginsWithACopyThatSharesNothing) {
    ASSERT_TRUE(snapshots().take("one"));
    DataSnapshots other(root_ + "/other");
    ASSERT_TRUE(other.begin_from(data_ + "/partita-snapshots/one"));
    struct stat status{};
    ASSERT_EQ(::stat((root_ + "/other/" + kFirstSegment).c_str(), &status), 0);
    EXPECT_NE(status.st_ino, inode(kFirstSegment));
    const auto again = other.begin_from(data_);
    ASSERT_FALSE(again) << "it is not empty any more";
    EXPECT_NE(again.error().message.find("not empty"), std::string::npos) << again.error().message;
}

TEST_F(DataSnapshotsTest, NamesStayInTheFolder) {
    for (const char* name : {"a", "A-1.b_c", "0"}) {
        EXPECT_TRUE(DataSnapshots::is_name(name)) << name;
    }
    for (const char* name : {"", ".", "..", ".trash-1", "a/b", "a b", "-a", "_a", "ä"}) {
        EXPECT_FALSE(DataSnapshots::is_name(name)) << name;
    }
    EXPECT_TRUE(DataSnapshots::is_name(std::string(DataSnapshots::kNameBytesMax, 'a')));
    EXPECT_FALSE(DataSnapshots::is_name(std::string(DataSnapshots::kNameBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace partita
