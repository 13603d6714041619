#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "protocol/codec.h"
#include "tests/unit/protocol/message_catalogue.h"
#include "tests/unit/protocol/message_generator.h"

namespace partita {
namespace {

using testing::all_message_versions;
using testing::MessageGenerator;
using testing::MessageVersion;

constexpr std::uint64_t kSeedsPerVersion = 25;

/// Bytes in an allocation of exactly their size, so that a sanitizer notices the first byte that is read too far.
class ExactCopy {
  public:
    explicit ExactCopy(Bytes bytes) : memory_(new std::byte[bytes.size()]), size_(bytes.size()) {
        if (!bytes.empty()) {
            std::memcpy(memory_.get(), bytes.data(), bytes.size());
        }
    }
    [[nodiscard]] Bytes bytes() const { return {memory_.get(), size_}; }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_;
};

/// Room for any message struct.
struct Object {
    explicit Object(const Schema& schema) : memory((schema.size + 7) / 8 + 1) {}
    [[nodiscard]] void* get() { return memory.data(); }
    std::vector<std::uint64_t> memory;
};

class EveryMessage : public ::testing::TestWithParam<MessageVersion> {
  protected:
    const Schema& schema() const { return *GetParam().schema; }
    std::int16_t version() const { return GetParam().version; }

    ByteBuffer encoded(const void* message) {
        ByteBuffer out;
        auto size = encode(schema(), message, version(), out);
        EXPECT_TRUE(size.has_value()) << to_string(size.error().failure) << " " << size.error().field;
        return out;
    }

    Arena arena;
};

TEST_P(EveryMessage, DecodesToWhatWasEncoded) {
    for (std::uint64_t seed = 0; seed < kSeedsPerVersion; ++seed) {
        arena.reset();
        Object original(schema());
        MessageGenerator(seed, arena).generate(schema(), version(), original.get());
        const ByteBuffer bytes = encoded(original.get());
        const ExactCopy copy(bytes.bytes());

        Object decoded(schema());
        auto consumed = decode(schema(), copy.bytes(), version(), arena, decoded.get());
        ASSERT_TRUE(consumed.has_value()) << "seed " << seed << ": " << to_string(consumed.error().failure) << " at "
                                          << consumed.error().position << " in " << consumed.error().field;
        EXPECT_EQ(*consumed, bytes.size());
        EXPECT_TRUE(equal(schema(), original.get(), decoded.get()))
            << "seed " << seed << "\n  " << to_text(schema(), original.get(), version()) << "\n  "
            << to_text(schema(), decoded.get(), version());

        const ByteBuffer again = encoded(decoded.get());
        ASSERT_EQ(again.size(), bytes.size());
        EXPECT_EQ(as_text(again.bytes()), as_text(bytes.bytes())) << "seed " << seed;
    }
}

TEST_P(EveryMessage, EncodedSizeIsExact) {
    Object message(schema());
    MessageGenerator(7, arena).generate(schema(), version(), message.get());
    auto size = encoded_size(schema(), message.get(), version());
    ASSERT_TRUE(size.has_value());
    EXPECT_EQ(size->total(), encoded(message.get()).size());
    EXPECT_EQ(size->external, 0u);
}

TEST_P(EveryMessage, IsNeverShorterThanItsLeastSize) {
    const bool flexible = schema().is_flexible(version());
    const std::size_t least = min_encoded_size(schema(), version(), flexible);
    for (std::uint64_t seed = 0; seed < kSeedsPerVersion; ++seed) {
        Object message(schema());
        MessageGenerator(seed, arena).generate(schema(), version(), message.get());
        const std::size_t size = encoded(message.get()).size();
        if (size > 0) {
            EXPECT_GE(size, least);
        }
    }
}

TEST_P(EveryMessage, TruncatedAnywhereIsAnError) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        arena.reset();
        Object message(schema());
        MessageGenerator(seed, arena).generate(schema(), version(), message.get());
        const ByteBuffer bytes = encoded(message.get());
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const ExactCopy cut(bytes.bytes(0, size));
            Object decoded(schema());
            EXPECT_FALSE(decode(schema(), cut.bytes(), version(), arena, decoded.get()).has_value())
                << "seed " << seed << ", " << size << " of " << bytes.size() << " bytes";
        }
    }
}

TEST_P(EveryMessage, DamagedBytesFailOrDecodeToSomethingThatEncodes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        arena.reset();
        Object message(schema());
        MessageGenerator(seed, arena).generate(schema(), version(), message.get());
        const ByteBuffer bytes = encoded(message.get());
        if (bytes.empty()) {
            return;
        }
        ExactCopy damaged(bytes.bytes());
        auto* target = const_cast<std::byte*>(damaged.bytes().data());
        std::uint64_t random = seed * 0x9e3779b97f4a7c15 + 1;
        for (int i = 0; i < 3; ++i) {
            random = random * 6364136223846793005 + 1442695040888963407;
            target[(random >> 33) % bytes.size()] = static_cast<std::byte>(random >> 24);
        }
        Arena limited;
        limited.reset(decode_memory_limit(bytes.size()));
        Object decoded(schema());
        if (!decode(schema(), damaged.bytes(), version(), limited, decoded.get())) {
            continue;
        }
        const ByteBuffer once = encoded(decoded.get());
        Object again(schema());
        auto consumed = decode(schema(), once.bytes(), version(), limited, again.get());
        ASSERT_TRUE(consumed.has_value());
        EXPECT_TRUE(equal(schema(), decoded.get(), again.get()));
    }
}

TEST_P(EveryMessage, DefaultsEncodeWhereTheyMay) {
    // A default may be null in a version without null; every other default encodes.
    Object message(schema());
    std::memcpy(message.get(), schema().defaults, schema().size);
    ByteBuffer out;
    auto size = encode(schema(), message.get(), version(), out);
    if (!size) {
        EXPECT_EQ(size.error().failure, EncodeFailure::null_not_allowed) << size.error().field;
    }
}

INSTANTIATE_TEST_SUITE_P(Versions, EveryMessage, ::testing::ValuesIn(all_message_versions()), [](const auto& info) {
    return std::string(info.param.schema->name) + "_v" + std::to_string(info.param.version);
});

TEST(Messages, AreAllThereAndDistinct) {
    const auto all = testing::all_messages();
    constexpr std::size_t kClientApis = 72;
    constexpr std::size_t kRecordsAndEmbeddedFormats = 53;
    EXPECT_EQ(all.size(), 2 * kClientApis + kRecordsAndEmbeddedFormats);
    const std::set<const Schema*> distinct(all.begin(), all.end());
    EXPECT_EQ(distinct.size(), all.size());
}

}  // namespace
}  // namespace partita
