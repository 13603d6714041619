#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "storage/log_flusher.h"
#include "storage/mapped_window.h"
#include "storage/segment.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

namespace fs = std::filesystem;

const AppendContext kWindowContext{.leader_epoch = {0}, .now = {1000}};

/// A log that gets writes as from a client that writes to many logs.
class WindowedWritesTest : public ::testing::Test {
  protected:
    static constexpr int kUntilWindow = Segment::kWritesBeforeWindow + 1;

    void append(const TestBatch& batch = {}, WriteBreadth breadth = WriteBreadth::many) {
        std::vector<std::byte> bytes = make_batch(batch);
        const auto staged = world_.log().stage(bytes, kWindowContext);
        ASSERT_TRUE(staged) << staged.error().message;
        world_.log().flush_staged(breadth);
        const auto result = staged->result();
        ASSERT_TRUE(result) << result.error().message;
        written_ += as_text(Bytes(bytes));
    }
    void append_until_window() {
        for (int i = 0; i < kUntilWindow; ++i) {
            append({.content = static_cast<std::uint64_t>(i)});
        }
        ASSERT_GT(file().size(), written_.size()) << "zeros lie behind what is written";
    }
    std::string file(std::string_view name = "00000000000000000000.log") {
        return world_.system.content("/data/t-0/" + std::string(name));
    }
    /// Expects at least the zeros that the contract promises.
    void expect_zeros_behind() {
        EXPECT_GE(file().size(), written_.size());
        EXPECT_LT(file().size(), written_.size() + 2 * Segment::kWindowPaddingBytes);
        EXPECT_TRUE(world_.log().has_window());
    }
    void expect_whole() { EXPECT_EQ(read_all(world_.log(), {0}), written_); }

    StorageWorld world_;
    std::string written_;
};

TEST_F(WindowedWritesTest, TheFirstFewWritesAfterASyncAreMadeWithoutAWindow) {
    for (int i = 0; i < Segment::kWritesBeforeWindow; ++i) {
        append();
    }
    EXPECT_EQ(file(), written_);
    append();
    expect_zeros_behind();
    EXPECT_EQ(file().find_first_not_of('\0', written_.size()), std::string::npos);
    expect_whole();
}

TEST_F(WindowedWritesTest, WhoWritesToFewLogsGetsNoWindow) {
    for (int i = 0; i < 4 * kUntilWindow; ++i) {
        append({}, WriteBreadth::few);
    }
    EXPECT_EQ(file(), written_);
}

TEST_F(WindowedWritesTest, ManyLogsAreSixtyFour) {
    EXPECT_EQ(breadth_of(kManyLogs - 1), WriteBreadth::few);
    EXPECT_EQ(breadth_of(kManyLogs), WriteBreadth::many);
}

TEST_F(WindowedWritesTest, LargeBatchesAndThoseOfOthersAreWrittenBesideTheWindow) {
    append_until_window();
    const std::size_t size = file().size();
    append({.value_bytes = Segment::kLargestWindowedWrite + 1});
    append({}, WriteBreadth::few);
    EXPECT_EQ(file().size(), size) << "they replace zeros";
    append();
    expect_whole();
    append({.value_bytes = 2 * Segment::kWindowBytes});
    EXPECT_EQ(file(), written_) << "behind the window's end there are no zeros";
    append();
    expect_zeros_behind();
    expect_whole();
}

TEST_F(WindowedWritesTest, ALargeBatchThatOvertakesTheZerosIsFollowedByOthers) {
    append_until_window();
    append({.value_bytes = 4 * Segment::kWindowPaddingBytes});
    EXPECT_EQ(file(), written_);
    append();
    expect_zeros_behind();
    expect_whole();
}

TEST_F(WindowedWritesTest, LogsComeToTheEndOfTheirZerosOneAfterTheOther) {
    constexpr int kLogs = 64;
    const std::size_t batch_bytes = make_batch().size();
    std::vector<std::size_t> sizes(kLogs);
    std::size_t most = 0;
    std::size_t grown_in_all = 0;
    for (std::size_t round = 0; round < Segment::kWritesBeforeWindow + 2 * Segment::kWindowPaddingBytes / batch_bytes; ++round) {
        std::size_t grown = 0;
        for (int i = 0; i < kLogs; ++i) {
            std::vector<std::byte> bytes = make_batch();
            const auto staged = world_.log(i).stage(bytes, kWindowContext);
            ASSERT_TRUE(staged);
            world_.log(i).flush_staged(WriteBreadth::many);
            const std::size_t size = world_.system.content("/data/t-" + std::to_string(i) + "/00000000000000000000.log").size();
            if (std::exchange(sizes[static_cast<std::size_t>(i)], size) != size) {
                ++grown;
            }
        }
        if (round <= Segment::kWritesBeforeWindow) {
            continue;
        }
        most = std::max(most, grown);
        grown_in_all += grown;
    }
    EXPECT_GE(grown_in_all, static_cast<std::size_t>(kLogs));
    EXPECT_LE(most, kLogs / 4u);
}

TEST_F(WindowedWritesTest, AFullWindowIsFollowedByTheNext) {
    append_until_window();
    const TestBatch batch{.value_bytes = 2048};
    const std::size_t batches = 2 * Segment::kWindowBytes / make_batch(batch).size();
    for (std::size_t i = 0; i < batches; ++i) {
        append(batch);
        if (i % 100 == 0) {
            expect_zeros_behind();
        }
    }
    EXPECT_TRUE(world_.log().has_window());
    expect_whole();
}

TEST_F(WindowedWritesTest, TheSecondSyncAfterTheLastWriteCutsTheZerosOff) {
    append_until_window();
    EXPECT_TRUE(world_.log().has_window());
    ASSERT_TRUE(world_.log().sync());
    EXPECT_GT(file().size(), written_.size());
    append();
    ASSERT_TRUE(world_.log().sync());
    EXPECT_GT(file().size(), written_.size()) << "somebody goes on";
    EXPECT_EQ(world_.directory->logs_to_sync().size(), 1u) << "nothing is to be synced, but somebody has to look again";
    ASSERT_TRUE(world_.log().sync());
    EXPECT_EQ(file(), written_);
    EXPECT_FALSE(world_.log().has_window());
    EXPECT_TRUE(world_.directory->logs_to_sync().empty());
    append_until_window();
    ASSERT_TRUE(world_.log().checkpoint());
    ASSERT_TRUE(world_.log().checkpoint());
    EXPECT_EQ(file(), written_);
    expect_whole();
}

TEST_F(WindowedWritesTest, AWindowThatWasOvertakenIsClosedWhenNobodyWritesAnyMore) {
    append_until_window();
    const TestBatch last{.value_bytes = 2 * Segment::kWindowBytes};
    // Nothing is reserved behind it.
    world_.config->segment_bytes = static_cast<std::int64_t>(written_.size() + make_batch(last).size());
    append(last, WriteBreadth::few);
    EXPECT_TRUE(world_.log().has_window());
    ASSERT_TRUE(world_.log().sync());
    ASSERT_TRUE(world_.log().sync());
    EXPECT_FALSE(world_.log().has_window());
    EXPECT_TRUE(world_.directory->logs_to_sync().empty()) << "nobody has to look again";
    expect_whole();
}

TEST_F(WindowedWritesTest, AFewWritesBetweenTwoSyncsGetNoWindow) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < Segment::kWritesBeforeWindow; ++j) {
            append();
        }
        ASSERT_TRUE(world_.log().sync());
    }
    EXPECT_EQ(file(), written_);
}

TEST_F(WindowedWritesTest, NoZerosAreLeftAfterAKillAStopAndARoll) {
    append_until_window();
    world_.kill();
    EXPECT_EQ(world_.report().cut_kind, CutKind::zeros);
    EXPECT_EQ(file(), written_);
    append_until_window();
    world_.restart_cleanly();
    EXPECT_EQ(file(), written_);
    append_until_window();
    const std::string sealed = written_;
    world_.config->segment_bytes = 1;
    append();
    EXPECT_EQ(file(), sealed);
    expect_whole();
}

TEST_F(WindowedWritesTest, AWindowReachesNoFurtherThanItsSegment) {
    world_.config->segment_bytes = 1000;
    for (int i = 0; i < kUntilWindow; ++i) {
        append();
    }
    ASSERT_LT(written_.size(), 1000u);
    EXPECT_EQ(file().size(), 1000u);
    for (int i = 0; i < 40; ++i) {
        append();
    }
    EXPECT_GT(world_.log().segments().size(), 3u);
    expect_whole();
}

TEST_F(WindowedWritesTest, PowerLossLosesNothingThatWasSynced) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        append_until_window();
        ASSERT_TRUE(world_.log().sync());
        const std::string synced = written_;
        append_until_window();
        world_.lose_power(seed);
        const std::string after = read_all(world_.log(), {0});
        ASSERT_TRUE(after.starts_with(synced)) << seed;
        ASSERT_TRUE(written_.starts_with(after)) << seed;
        ASSERT_EQ(file(), after) << seed;
        written_ = after;
    }
}

TEST_F(WindowedWritesTest, WhatAWindowCannotTakeIsWrittenWithoutIt) {
    append_until_window();
    world_.system.fail_write("00000000000000000000.log", EIO);
    append();
    ASSERT_TRUE(world_.system.fault_happened());
    EXPECT_EQ(file(), written_) << "and its zeros are cut off";
    for (int i = 0; i < 3 * kUntilWindow; ++i) {
        append();
    }
    expect_whole();
}

TEST_F(WindowedWritesTest, AWindowThatCannotBeHadCostsNobodyARecord) {
    world_.system.has_windows = false;
    for (int i = 0; i < 3 * kUntilWindow; ++i) {
        append();
    }
    EXPECT_EQ(file(), written_);
    expect_whole();
}

TEST_F(WindowedWritesTest, TheNextWindowThatCannotBeHadLeavesNoZerosOfTheOneBefore) {
    append_until_window();
    world_.system.has_windows = false;
    const TestBatch batch{.value_bytes = 2048};
    for (std::size_t i = 0; i <= Segment::kWindowBytes / make_batch(batch).size(); ++i) {
        append(batch);
    }
    EXPECT_FALSE(world_.log().has_window());
    EXPECT_EQ(file(), written_);
    expect_whole();
}

TEST_F(WindowedWritesTest, ZerosThatADiskRefusedToOthersAreNotTakenForThere) {
    append({.value_bytes = Segment::kPaddingBytes}, WriteBreadth::few);
    LogFlusher flusher(real_schedule().executor);
    ASSERT_TRUE(flusher.request_sync(world_.shared_log(), [](const auto& synced) { EXPECT_TRUE(synced); }));
    flusher.drain();
    // A log with frequent syncs has zeros written ahead. The disk refuses these here, and takes the record.
    world_.system.fail_call(1, ENOSPC, false, true);
    append({}, WriteBreadth::few);
    ASSERT_TRUE(world_.system.fault_happened());
    ASSERT_EQ(file(), written_);
    append({.value_bytes = Segment::kLargestPaddedSync + 1}, WriteBreadth::few);
    for (int i = 0; i < 3 * kUntilWindow; ++i) {
        append();
    }
    expect_zeros_behind();
    EXPECT_EQ(file().substr(0, written_.size()), written_);
    expect_whole();
}

TEST_F(WindowedWritesTest, ZerosThatCannotBeHadCostNobodyARecord) {
    for (int i = 0; i < Segment::kWritesBeforeWindow; ++i) {
        append();
    }
    world_.system.fail_call(1, ENOSPC, false, true);
    append();
    ASSERT_TRUE(world_.system.fault_happened());
    EXPECT_EQ(file(), written_) << "what was given of it was given back";
    expect_whole();
}

TEST_F(WindowedWritesTest, AFullDiskFailsTheWriteAndHeals) {
    append_until_window();
    world_.system.fail_call(1, ENOSPC, true, true);
    std::vector<std::byte> bytes = make_batch();
    const auto staged = world_.log().stage(bytes, kWindowContext);
    ASSERT_TRUE(staged);
    world_.log().flush_staged(WriteBreadth::many);
    ASSERT_FALSE(staged->result());
    EXPECT_EQ(staged->result().error().failure, AppendFailure::storage_error);
    EXPECT_EQ(file(), written_) << "what was written of it is cut off, and the zeros with it";
    world_.system.heal();
    append_until_window();
    expect_whole();
}

TEST_F(WindowedWritesTest, ADeletedLogLetsGoOfItsWindow) {
    append_until_window();
    world_.log().mark_deleted();
    std::vector<std::byte> bytes = make_batch();
    EXPECT_EQ(world_.log().append(bytes, kWindowContext).error().failure, AppendFailure::closed);
}

/// A file of the operating system.
class FileWindowTest : public ::testing::Test {
  protected:
    static constexpr std::uint64_t kLength = 32 * 1024;

    void SetUp() override {
        std::string name = ::testing::TempDir() + "partita-window-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory_ = name;
        file_ = open("log");
        auto window = file_->open_window(0, 1);
        ASSERT_TRUE(window) << window.error().message;
        if (*window == nullptr) {
            GTEST_SKIP() << "the file system of " << directory_ << " is not trusted with windows";
        }
    }
    void TearDown() override { fs::remove_all(directory_); }

    std::shared_ptr<File> open(const std::string& name) {
        auto opened = system_.open(directory_ / name, OpenMode::create);
        return opened ? *opened : nullptr;
    }
    static std::string content(File& file) {
        std::string text(*file.size(), '?');
        const auto count = file.read_at(0, std::as_writable_bytes(std::span(text)));
        return count ? text.substr(0, *count) : count.error().message;
    }
    static std::vector<Bytes> pieces(std::initializer_list<std::string_view> texts) {
        std::vector<Bytes> all;
        for (const std::string_view text : texts) {
            all.push_back(as_bytes(text));
        }
        return all;
    }

    PosixFileSystem system_;
    fs::path directory_;
    std::shared_ptr<File> file_;
};

TEST_F(FileWindowTest, WhatItTookIsReadByOthersAndStaysWhenItIsGone) {
    ASSERT_TRUE(file_->write_at(0, pieces({"before ", "-------!"})));
    auto window = file_->open_window(7, kLength);
    ASSERT_TRUE(window);
    EXPECT_EQ((*window)->end(), 7 + kLength);
    ASSERT_TRUE((*window)->write_at(7, pieces({"one ", "two"})));
    EXPECT_EQ(content(*open("log")), "before one two!");
    ASSERT_TRUE(file_->sync_data());
    ASSERT_TRUE(file_->write_at(15, pieces({"------"})));
    (*window)->prepare(15, 21);
    ASSERT_TRUE((*window)->write_at(15, pieces({" three"})));
    window->reset();
    EXPECT_EQ(content(*open("log")), "before one two! three");
}

TEST_F(FileWindowTest, BeginsAnywhereInAPage) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::string zeros(6 * page + kLength, '\0');
    ASSERT_TRUE(file_->write_at(0, pieces({zeros})));
    for (const std::uint64_t position : {std::uint64_t{0}, page - 1, page, page + 1, 5 * page + 17}) {
        auto window = file_->open_window(position, kLength);
        ASSERT_TRUE(window && *window);
        (*window)->prepare(position, position + kLength);
        ASSERT_TRUE((*window)->write_at(position, pieces({"first"}))) << position;
        ASSERT_TRUE((*window)->write_at(position + kLength - 4, pieces({"last"}))) << position;
        const std::string text = content(*file_);
        EXPECT_EQ(text.substr(position, 5), "first");
        EXPECT_EQ(text.substr(position + kLength - 4, 4), "last");
    }
}

TEST_F(FileWindowTest, NoFileGrowsByIt) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    ASSERT_TRUE(file_->write_at(0, pieces({"x"})));
    auto window = file_->open_window(0, kLength);
    ASSERT_TRUE(window && *window);
    // The window does not prepare pages that the file does not have, and the process survives this.
    (*window)->prepare(0, kLength);
    EXPECT_FALSE((*window)->write_at(2 * page, pieces({"lost"})));
    EXPECT_EQ(content(*open("log")), "x");
}

TEST_F(FileWindowTest, AFileThatSomebodyElseCutGivesAnErrorAndNotASignal) {
    const std::string zeros(kLength, '\0');
    ASSERT_TRUE(file_->write_at(0, pieces({zeros})));
    auto window = file_->open_window(0, kLength);
    ASSERT_TRUE(window && *window);
    ASSERT_TRUE((*window)->write_at(0, pieces({"good"})));
    fs::resize_file(directory_ / "log", 0);
    for (int i = 0; i < 3; ++i) {
        const auto written = (*window)->write_at(8192, pieces({"lost"}));
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().error_number, EIO);
    }
    EXPECT_TRUE(file_->write_at(0, pieces({"as before"}))) << "without the window";
    EXPECT_EQ(content(*file_), "as before");
}

TEST_F(FileWindowTest, AProcessHasABoundedNumberOfThem) {
    std::vector<std::unique_ptr<FileWindow>> windows;
    while (windows.size() <= kWindowsMax) {
        auto window = file_->open_window(0, 4096);
        ASSERT_TRUE(window) << window.error().message;
        if (*window == nullptr) {
            break;
        }
        windows.push_back(std::move(*window));
    }
    EXPECT_EQ(windows.size(), kWindowsMax);
    windows.pop_back();
    auto again = file_->open_window(0, 4096);
    EXPECT_TRUE(again && *again != nullptr) << "one that is gone makes room";
}

TEST_F(FileWindowTest, SignalsOfOthersEndTheProcessAsEver) {
    EXPECT_DEATH(
        {
            const std::string zeros(kLength, '\0');
            (void)file_->write_at(0, pieces({zeros}));
            auto window = file_->open_window(0, kLength);
            (void)(*window)->write_at(0, pieces({"good"}));
            auto* const memory =
                static_cast<volatile char*>(::mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_SHARED, file_->descriptor(), 0));
            fs::resize_file(directory_ / "log", 0);
            memory[0] = 'x';
        },
        "");
}

}  // namespace
}  // namespace partita::test
