#include "storage/metadata_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "storage/lmdb_check.h"
#include "storage/sip_hash.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Model = std::map<std::string, std::string>;

/// A directory that the test removes at its end.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "metadata-store-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            std::abort();
        }
        path_ = pattern;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string path() const { return path_ + "/metadata"; }
    [[nodiscard]] std::string file() const { return path() + "/data.mdb"; }

  private:
    std::string path_;
};

MetadataStoreOptions small_map() { return {.map_size_bytes = 1 << 20}; }

std::unique_ptr<MetadataStore> open_store(const TemporaryDirectory& directory,
                                          const MetadataStoreOptions& options = small_map()) {
    auto store = MetadataStore::open(directory.path(), options);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return store ? std::move(*store) : nullptr;
}

/// Changes and the bytes they borrow.
struct Changes {
    void put(std::string key, std::string value) { entries.emplace_back(std::move(key), std::move(value)); }
    void remove(std::string key) { entries.emplace_back(std::move(key), std::nullopt); }
    [[nodiscard]] std::vector<KeyedChange> view() const {
        std::vector<KeyedChange> changes;
        for (const auto& [key, value] : entries) {
            changes.push_back({as_bytes(key), value ? std::optional<Bytes>(as_bytes(*value)) : std::nullopt});
        }
        return changes;
    }
    std::vector<std::pair<std::string, std::optional<std::string>>> entries;
};

StorageResult<void> fold(MetadataStore& store, std::string_view log, const Changes& changes, std::int64_t until) {
    const auto view = changes.view();
    return store.fold(LogFold{log, view, Offset{until}});
}

bool fold_one(MetadataStore& store) {
    Changes changes;
    changes.put("key", "value");
    return fold(store, "a-0", changes, 1).has_value();
}

Model load(const MetadataStore& store, std::string_view log) {
    Model model;
    const auto loaded = store.load(log, [&](Bytes key, Bytes value) {
        EXPECT_TRUE(model.emplace(as_text(key), as_text(value)).second) << "a key came twice";
        return true;
    });
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    return model;
}

TEST(MetadataStore, KeepsLogsApartAndAcrossReopening) {
    TemporaryDirectory directory;
    {
        auto store = open_store(directory);
        Changes one;
        one.put("a", "1");
        one.put("b", "");
        one.put("", "empty key");
        Changes two;
        two.put("a", "2");
        const auto one_view = one.view();
        const auto two_view = two.view();
        const LogFold folds[] = {{"log-1", one_view, Offset{7}}, {"log-10", two_view, Offset{9}}};
        ASSERT_TRUE(store->fold(folds).has_value());
    }
    auto store = open_store(directory);
    EXPECT_EQ(load(*store, "log-1"), (Model{{"", "empty key"}, {"a", "1"}, {"b", ""}}));
    EXPECT_EQ(load(*store, "log-10"), (Model{{"a", "2"}}));
    EXPECT_EQ(load(*store, "log"), Model{});
    EXPECT_EQ(*store->folded_until("log-1"), Offset{7});
    EXPECT_EQ(*store->folded_until("log-10"), Offset{9});
    EXPECT_EQ(*store->folded_until("log"), std::nullopt);
    EXPECT_THAT(*store->logs(), ElementsAre("log-1", "log-10"));
    EXPECT_EQ(*store->find("log-1", as_bytes("a")), "1");
}

TEST(MetadataStore, ForgetRemovesOneLogOnly) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    Changes many;
    for (int key = 0; key < 3000; ++key) {
        many.put("key" + std::to_string(key), std::string(50, 'v'));
    }
    for (const char* log : {"first", "second", "third"}) {
        ASSERT_TRUE(fold(*store, log, many, 1).has_value());
    }
    for (const char* log : {"second", "third", "nobody"}) {
        ASSERT_TRUE(store->forget(log).has_value());
    }
    EXPECT_EQ(load(*store, "first").size(), 3000u);
    EXPECT_THAT(*store->logs(), ElementsAre("first"));
    EXPECT_EQ(load(*store, "second"), Model{});
    // The 3000 rows and the counter of logs.
    EXPECT_EQ(store->statistics().rows, 3001u);
}

TEST(MetadataStore, EqualsAMapUnderRandomFoldsAndReopening) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        TemporaryDirectory directory;
        MetadataStoreOptions options = small_map();
        // There are few hashes, so that long keys collide all the time.
        options.long_key_hash = [](Bytes key) { return static_cast<std::uint64_t>(key.back()) % 3; };
        auto store = open_store(directory, options);
        std::map<std::string, Model> models;
        for (int step = 1; step <= 120; ++step) {
            std::map<std::string, Changes> batch;
            for (std::uint64_t log = 0; log <= random() % 3; ++log) {
                const std::string name = "log-" + std::to_string(random() % 4);
                std::map<std::string, std::optional<std::string>> changes;
                for (std::uint64_t change = 0; change < random() % 20; ++change) {
                    std::string key = "k" + std::to_string(random() % 40);
                    if (random() % 3 == 0) {
                        key.insert(0, 495 + random() % 20, 'x');
                    }
                    if (random() % 3 == 0) {
                        changes[key] = std::nullopt;
                    } else {
                        changes[key] = std::string(random() % 4 == 0 ? random() % 9000 : random() % 30,
                                                   static_cast<char>('a' + random() % 26));
                    }
                }
                for (const auto& [key, value] : changes) {
                    batch[name].entries.emplace_back(key, value);
                }
            }
            std::vector<std::vector<KeyedChange>> views;
            std::vector<LogFold> folds;
            views.reserve(batch.size());
            for (const auto& [name, changes] : batch) {
                views.push_back(changes.view());
                folds.push_back({name, views.back(), Offset{step}});
                for (const auto& [key, value] : changes.entries) {
                    if (value) {
                        models[name][key] = *value;
                    } else {
                        models[name].erase(key);
                    }
                }
            }
            ASSERT_TRUE(store->fold(folds).has_value());
            if (random() % 20 == 0) {
                const std::string name = "log-" + std::to_string(random() % 4);
                ASSERT_TRUE(store->forget(name).has_value());
                models.erase(name);
            }
            if (random() % 20 == 0) {
                store.reset();
                store = open_store(directory, options);
            }
            for (int log = 0; log < 4; ++log) {
                const std::string name = "log-" + std::to_string(log);
                ASSERT_EQ(load(*store, name), models[name]) << "step " << step;
            }
        }
    }
}

TEST(MetadataStore, KeysLongerThanLmdbAllowsAreWhole) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    Changes changes;
    for (const std::size_t length : {499, 500, 501, 511, 512, 32767, 1 << 20}) {
        changes.put(std::string(length, 'g'), std::to_string(length));
    }
    ASSERT_TRUE(fold(*store, "log", changes, 1).has_value());
    const Model model = load(*store, "log");
    ASSERT_EQ(model.size(), changes.entries.size());
    for (const auto& [key, value] : model) {
        EXPECT_EQ(std::to_string(key.size()), value);
    }
    Changes removal;
    removal.remove(std::string(32767, 'g'));
    ASSERT_TRUE(fold(*store, "log", removal, 2).has_value());
    EXPECT_EQ(load(*store, "log").size(), changes.entries.size() - 1);
}

TEST(MetadataStore, RefusesWhatIsBeyondItsBounds) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    Changes changes;
    changes.put("fine", "1");
    changes.put(std::string(MetadataStore::kMaxKeyBytes + 1, 'k'), "2");
    const auto folded = fold(*store, "log", changes, 1);
    ASSERT_FALSE(folded.has_value());
    EXPECT_THAT(folded.error().message, HasSubstr("too large"));
    EXPECT_EQ(load(*store, "log"), Model{});
}

TEST(MetadataStore, GrowsForLargeValuesAndAheadOfNeed) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    Changes large;
    large.put("large", std::string(10 << 20, 'v'));
    ASSERT_TRUE(fold(*store, "log", large, 1).has_value());
    EXPECT_GE(store->statistics().map_growths, 1u);
    for (int round = 0; round < 200; ++round) {
        Changes more;
        for (int key = 0; key < 100; ++key) {
            more.put(std::to_string(round * 100 + key), std::string(1000, 'v'));
        }
        ASSERT_TRUE(fold(*store, "log", more, round).has_value());
        const auto statistics = store->statistics();
        ASSERT_LT(statistics.used_bytes, statistics.map_size_bytes / 5 * 4 + (1 << 16));
    }
    store.reset();
    store = open_store(directory);
    EXPECT_EQ(load(*store, "log").size(), 20001u);
    EXPECT_EQ(store->find("log", as_bytes("large"))->value().size(), 10u << 20);
}

TEST(MetadataStore, FullMapFailsTheFoldAndKeepsWhatWasThere) {
    TemporaryDirectory directory;
    auto store = open_store(directory, {.map_size_bytes = 1 << 20, .max_map_size_bytes = 2 << 20});
    Changes small;
    small.put("a", "1");
    ASSERT_TRUE(fold(*store, "log", small, 1).has_value());
    Changes large;
    large.put("b", std::string(4 << 20, 'v'));
    const auto folded = fold(*store, "log", large, 2);
    ASSERT_FALSE(folded.has_value());
    EXPECT_TRUE(folded.error().is_out_of_space());
    EXPECT_EQ(load(*store, "log"), (Model{{"a", "1"}}));
    EXPECT_EQ(*store->folded_until("log"), Offset{1});
    small.put("c", "3");
    EXPECT_TRUE(fold(*store, "log", small, 3).has_value());
}

TEST(MetadataStore, LoadsOnAnotherThreadWhileTheMapGrows) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    Changes first;
    for (int key = 0; key < 500; ++key) {
        first.put("k" + std::to_string(key), "v");
    }
    ASSERT_TRUE(fold(*store, "stable", first, 1).has_value());
    std::atomic<bool> done = false;
    std::jthread reader([&] {
        while (!done) {
            ASSERT_EQ(load(*store, "stable").size(), 500u);
        }
    });
    for (int round = 0; round < 40; ++round) {
        Changes more;
        more.put(std::to_string(round), std::string(300000, 'v'));
        ASSERT_TRUE(fold(*store, "growing", more, round).has_value());
    }
    done = true;
    EXPECT_GT(store->statistics().map_growths, 2u);
}

/// The test kills a child at some moment between and within folds; the parent opens what the child left.
TEST(MetadataStore, KilledProcessLeavesWholeFolds) {
    for (int attempt = 0; attempt < 12; ++attempt) {
        TemporaryDirectory directory;
        int progress[2];
        ASSERT_EQ(::pipe(progress), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            auto store = MetadataStore::open(directory.path(), small_map());
            if (!store) {
                ::_exit(1);
            }
            for (std::int64_t round = 1;; ++round) {
                Changes changes;
                for (int key = 0; key < 40; ++key) {
                    changes.put("k" + std::to_string(key), std::to_string(round));
                }
                changes.put("round" + std::to_string(round), std::string(2000, 'v'));
                const auto view = changes.view();
                const LogFold folds[] = {{"one", view, Offset{round}}, {"two", view, Offset{round}}};
                if (!(*store)->fold(folds).has_value()) {
                    ::_exit(2);
                }
                if (::write(progress[1], &round, sizeof round) != sizeof round) {
                    ::_exit(3);
                }
            }
        }
        ::close(progress[1]);
        std::int64_t acknowledged = 0;
        const std::int64_t wanted = 1 + attempt * 7;
        while (acknowledged < wanted) {
            ASSERT_EQ(::read(progress[0], &acknowledged, sizeof acknowledged), 8);
        }
        ::kill(child, SIGKILL);
        for (std::int64_t round = 0; ::read(progress[0], &round, sizeof round) == 8;) {
            acknowledged = round;
        }
        ::close(progress[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));

        auto store = open_store(directory);
        ASSERT_NE(store, nullptr);
        const std::int64_t folded = store->folded_until("one")->value().value;
        EXPECT_GE(folded, acknowledged);
        EXPECT_EQ(store->folded_until("two")->value().value, folded);
        for (const char* log : {"one", "two"}) {
            const Model model = load(*store, log);
            EXPECT_EQ(model.size(), 40u + static_cast<std::size_t>(folded));
            for (int key = 0; key < 40; ++key) {
                EXPECT_EQ(model.at("k" + std::to_string(key)), std::to_string(folded));
            }
        }
    }
}

TEST(MetadataStore, CreationThatWasCutOffStartsAnew) {
    TemporaryDirectory directory;
    std::filesystem::create_directories(directory.path() + "/creating");
    std::ofstream(directory.path() + "/creating/data.mdb") << "half";
    auto store = open_store(directory);
    ASSERT_NE(store, nullptr);
    EXPECT_TRUE(fold_one(*store));
    EXPECT_FALSE(std::filesystem::exists(directory.path() + "/creating"));
}

TEST(MetadataStore, NothingIsWrittenBeforeTheFirstFold) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    ASSERT_NE(store, nullptr);
    EXPECT_FALSE(std::filesystem::exists(directory.path()));
    EXPECT_TRUE(load(*store, "a-0").empty());
    EXPECT_EQ(store->folded_until("a-0").value(), std::nullopt);
    EXPECT_TRUE(store->logs().value().empty());
    EXPECT_TRUE(store->forget("a-0").has_value());
    EXPECT_EQ(store->statistics().rows, 0u);
    EXPECT_FALSE(std::filesystem::exists(directory.path()));

    ASSERT_TRUE(fold_one(*store));
    EXPECT_TRUE(std::filesystem::exists(directory.file()));
    EXPECT_THAT(store->logs().value(), ElementsAre("a-0"));
    store.reset();
    EXPECT_EQ(load(*open_store(directory), "a-0"), (Model{{"key", "value"}}));
}

/// Makes the file state another format than ours.
void set_format_version(const TemporaryDirectory& directory, char version) {
    std::fstream file(directory.file(), std::ios::in | std::ios::out | std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(file)), {});
    const std::string row = std::string("format_version") + std::string("\0\0\0\2", 4);
    const std::size_t position = content.find(row);
    ASSERT_NE(position, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(position + row.size() - 1));
    file.put(version);
}

TEST(MetadataStore, LogsOfAnOlderFormatGetTheirNewNamesOnce) {
    TemporaryDirectory directory;
    ASSERT_TRUE(fold_one(*open_store(directory)));
    set_format_version(directory, '\1');
    MetadataStoreOptions options = small_map();
    options.upgraded_name = [](std::string_view name) { return std::string(name) + ".id"; };
    for (int start = 0; start < 2; ++start) {
        auto store = open_store(directory, options);
        EXPECT_THAT(store->logs().value(), ElementsAre("a-0.id"));
        EXPECT_EQ(load(*store, "a-0.id"), (Model{{"key", "value"}}));
        EXPECT_EQ(*store->folded_until("a-0.id"), Offset{1});
    }
}

TEST(MetadataStore, FailedUpgradeLeavesTheOlderFormat) {
    TemporaryDirectory directory;
    ASSERT_TRUE(fold_one(*open_store(directory)));
    set_format_version(directory, '\1');
    MetadataStoreOptions options = small_map();
    options.upgraded_name = [](std::string_view name) { return std::string(name) + ".id"; };
    options.commit_fault = [] { return ENOSPC; };
    const auto opened = MetadataStore::open(directory.path(), options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_TRUE(opened.error().is_out_of_space());
    options.commit_fault = nullptr;
    EXPECT_THAT(open_store(directory, options)->logs().value(), ElementsAre("a-0.id"));
}

TEST(MetadataStore, FailedCommitChangesNothing) {
    TemporaryDirectory directory;
    MetadataStoreOptions options = small_map();
    int fault = 0;
    options.commit_fault = [&] { return fault; };
    auto store = open_store(directory, options);
    ASSERT_TRUE(fold_one(*store));
    Changes changes;
    changes.put("key", "newer");
    fault = EIO;
    const auto failed = fold(*store, "a-0", changes, 2);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().kind, StorageError::Kind::sync_failed);
    EXPECT_EQ(load(*store, "a-0"), (Model{{"key", "value"}}));
    fault = 0;
    ASSERT_TRUE(fold(*store, "a-0", changes, 2));
    EXPECT_EQ(load(*store, "a-0"), (Model{{"key", "newer"}}));
}

TEST(MetadataStore, RefusesANewerFormat) {
    TemporaryDirectory directory;
    ASSERT_TRUE(fold_one(*open_store(directory)));
    set_format_version(directory, '\3');
    const auto opened = MetadataStore::open(directory.path(), small_map());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, StorageError::Kind::newer_format);
    EXPECT_THAT(opened.error().message, HasSubstr("has format 3, this program knows formats up to 2"));
}

/// Returns everything that a store with some content can tell; empty when it refuses.
std::optional<std::map<std::string, Model>> read_everything(const TemporaryDirectory& directory) {
    auto store = MetadataStore::open(directory.path(), small_map());
    if (!store) {
        return std::nullopt;
    }
    const auto logs = (*store)->logs();
    if (!logs) {
        return std::nullopt;
    }
    std::map<std::string, Model> everything;
    for (const std::string& log : *logs) {
        Model& model = everything[log];
        const auto loaded = (*store)->load(log, [&](Bytes key, Bytes value) {
            model.emplace(as_text(key), as_text(value));
            return true;
        });
        if (!loaded) {
            return std::nullopt;
        }
    }
    return everything;
}

void fill(MetadataStore& store) {
    for (int round = 0; round < 6; ++round) {
        Changes changes;
        for (int key = 0; key < 60; ++key) {
            changes.put("key" + std::to_string((key * 7 + round) % 90), std::string(static_cast<std::size_t>(key) * 9, 'v'));
        }
        changes.put(std::string(700, 'l'), std::string(9000, 'w'));
        changes.remove("key" + std::to_string(round * 11));
        for (const char* log : {"one", "two"}) {
            ASSERT_TRUE(fold(store, log, changes, round).has_value());
        }
    }
}

TEST(MetadataStore, TruncatedFileIsRefusedAtEveryPage) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    fill(*store);
    const std::uint64_t used = store->statistics().used_bytes;
    store.reset();
    std::uint64_t refused = 0;
    for (std::uint64_t size = 0; size < used; size += 4096) {
        TemporaryDirectory copy;
        std::filesystem::create_directories(copy.path());
        std::filesystem::copy_file(directory.file(), copy.file());
        std::filesystem::resize_file(copy.file(), size + 100);
        const auto opened = MetadataStore::open(copy.path(), small_map());
        ASSERT_FALSE(opened.has_value()) << size;
        EXPECT_EQ(opened.error().kind, StorageError::Kind::corrupt);
        ++refused;
    }
    EXPECT_GT(refused, 10u);
}

/// Bits rot at random places: the store refuses, or returns everything as it was. It never returns something else, and never
/// crashes.
TEST(MetadataStore, DamagedFileNeverTellsAnythingElse) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    fill(*store);
    const std::uint64_t used = store->statistics().used_bytes;
    store.reset();
    const auto truth = read_everything(directory);
    ASSERT_TRUE(truth.has_value());
    std::ifstream file(directory.file(), std::ios::binary);
    std::string pristine(used, '\0');
    file.read(pristine.data(), static_cast<std::streamsize>(used));
    const char* text = std::getenv("DAMAGES");
    const int damages = text == nullptr ? 400 : std::atoi(text);
    int refused = 0;
    int older = 0;
    std::mt19937_64 random(20);
    TemporaryDirectory copy;
    std::filesystem::create_directories(copy.path());
    for (int damage = 0; damage < damages; ++damage) {
        std::string damaged = pristine;
        const std::size_t position = random() % used;
        switch (random() % 3) {
            case 0:
                damaged[position] = static_cast<char>(damaged[position] ^ (1 << (random() % 8)));
                break;
            case 1:
                damaged.replace(position, std::min<std::size_t>(64, used - position), std::min<std::size_t>(64, used - position),
                                '\0');
                break;
            default: {
                const std::size_t page = position / 4096 * 4096;
                damaged.replace(page, 4096, pristine.substr(random() % (used / 4096) * 4096, 4096));
            }
        }
        std::ofstream(copy.file(), std::ios::binary | std::ios::trunc) << damaged;
        std::filesystem::resize_file(copy.file(), 1 << 20);
        const auto told = read_everything(copy);
        if (!told) {
            ++refused;
        } else if (*told != *truth) {
            // One case is legitimate: LMDB goes back by one transaction when its newer meta page is lost.
            ++older;
            for (const auto& [log, model] : *told) {
                for (const auto& [key, value] : model) {
                    ASSERT_EQ(value.find_first_not_of("vw"), std::string::npos);
                }
            }
        }
    }
    std::cout << damages << " damages: " << refused << " refused, " << older << " went back a transaction, "
              << damages - refused - older << " without effect\n";
    EXPECT_GT(refused, damages / 10);
    EXPECT_LE(older, damages / 50);
}

TEST(MetadataStore, DamagedStoreIsSetAsideAndStartedAnew) {
    TemporaryDirectory directory;
    ASSERT_TRUE(fold_one(*open_store(directory)));
    std::filesystem::resize_file(directory.file(), 5000);
    ASSERT_FALSE(MetadataStore::open(directory.path(), small_map()).has_value());
    const auto path = MetadataStore::set_aside(directory.path());
    ASSERT_TRUE(path.has_value());
    EXPECT_TRUE(std::filesystem::exists(*path));
    auto store = open_store(directory);
    EXPECT_THAT(*store->logs(), ::testing::IsEmpty());
}

TEST(LmdbCheck, AcceptsWhatLmdbWrites) {
    TemporaryDirectory directory;
    auto store = open_store(directory);
    std::mt19937_64 random(4);
    for (int round = 0; round < 60; ++round) {
        Changes changes;
        std::map<std::string, bool> used;
        for (int key = 0; key < 300; ++key) {
            const std::string name = std::to_string(random() % 3000);
            if (!used.emplace(name, true).second) {
                continue;
            }
            if (random() % 3 == 0) {
                changes.remove(name);
            } else {
                changes.put(name, std::string(random() % 6000, 'x'));
            }
        }
        ASSERT_TRUE(fold(*store, "log", changes, round).has_value());
        const auto summary = check_lmdb_file(directory.file(), true);
        ASSERT_TRUE(summary.has_value()) << summary.error().message;
        ASSERT_GT(summary->checked_pages, 0u);
    }
}

/// The reference vectors of the SipHash paper's implementation.
TEST(SipHash, MatchesPublishedVectors) {
    std::string input;
    const std::uint64_t key0 = 0x0706050403020100ULL;
    const std::uint64_t key1 = 0x0f0e0d0c0b0a0908ULL;
    EXPECT_EQ(sip_hash(key0, key1, as_bytes(input)), 0x726fdb47dd0e0e31ULL);
    for (char byte = 0; byte < 15; ++byte) {
        input += byte;
    }
    EXPECT_EQ(sip_hash(key0, key1, as_bytes(input)), 0xa129ca6149be45e5ULL);
}

}  // namespace
}  // namespace partita
