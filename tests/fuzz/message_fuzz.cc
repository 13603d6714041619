#include <cstring>
#include <vector>

#include "protocol/codec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/protocol/message_catalogue.h"
#include "tests/unit/protocol/message_generator.h"

/// Feeds any message in any version: two bytes choose which, the rest is its encoding. Besides requests these are replies, the
/// coordinators' records, and what clients put into opaque fields.
namespace {

using namespace partita;

const std::vector<testing::MessageVersion>& messages() {
    static const std::vector<testing::MessageVersion> all = testing::all_message_versions();
    return all;
}

struct Object {
    explicit Object(const Schema& schema) : memory(schema.size / 8 + 1) {}
    [[nodiscard]] void* get() { return memory.data(); }
    std::vector<std::uint64_t> memory;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::size_t choice = (static_cast<std::size_t>(data[0]) << 8 | data[1]) % messages().size();
    const auto& [schema, version] = messages()[choice];
    const Bytes body(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
    Arena arena;
    arena.reset(decode_memory_limit(body.size()));
    Object message(*schema);
    const auto consumed = decode(*schema, body, version, arena, message.get());
    FUZZ_CHECK(arena.limited_bytes() <= kMaxDecodeAmplification * body.size());
    if (!consumed) {
        return 0;
    }
    ByteBuffer out;
    FUZZ_CHECK(encode(*schema, message.get(), version, out).has_value());
    FUZZ_CHECK(out.size() <= body.size());
    Object again(*schema);
    FUZZ_CHECK(decode(*schema, out.bytes(), version, arena, again.get()).has_value());
    FUZZ_CHECK(equal(*schema, message.get(), again.get()));
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    std::vector<std::vector<std::byte>> seeds;
    for (std::size_t choice = 0; choice < messages().size(); ++choice) {
        const auto& [schema, version] = messages()[choice];
        Arena arena;
        Object message(*schema);
        testing::MessageGenerator(choice, arena).generate(*schema, version, message.get());
        ByteBuffer out;
        out.append_big_endian(static_cast<std::uint16_t>(choice));
        FUZZ_CHECK(encode(*schema, message.get(), version, out).has_value());
        seeds.emplace_back(out.data(), out.data() + out.size());
    }
    return seeds;
}
