#include <vector>

#include "protocol/codec.h"
#include "protocol/request_header.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/protocol/message_generator.h"

/// Feeds a whole request frame, as an unknown client sends it: header, then body.
namespace {

using namespace partita;

/// Room for any message struct, aligned.
struct Object {
    explicit Object(const Schema& schema) : memory(schema.size / 8 + 1) {}
    [[nodiscard]] void* get() { return memory.data(); }
    std::vector<std::uint64_t> memory;
};

void check_body(const Schema& schema, std::int16_t version, Bytes body) {
    Arena arena;
    arena.reset(decode_memory_limit(body.size()));
    Object message(schema);
    const auto consumed = decode(schema, body, version, arena, message.get());
    FUZZ_CHECK(arena.limited_bytes() <= kMaxDecodeAmplification * body.size());
    if (!consumed) {
        FUZZ_CHECK(consumed.error().position <= body.size());
        return;
    }
    FUZZ_CHECK(*consumed <= body.size());

    // A message that was read can be written, and reading that gives the same message.
    ByteBuffer out;
    const auto size = encode(schema, message.get(), version, out);
    FUZZ_CHECK(size.has_value());
    FUZZ_CHECK(size->total() == out.size());
    FUZZ_CHECK(out.size() <= body.size());
    Object again(schema);
    const auto consumed_again = decode(schema, out.bytes(), version, arena, again.get());
    FUZZ_CHECK(consumed_again.has_value());
    FUZZ_CHECK(*consumed_again == out.size());
    FUZZ_CHECK(equal(schema, message.get(), again.get()));
    (void)to_text(schema, message.get(), version);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes frame(reinterpret_cast<const std::byte*>(data), size);
    const auto header = parse_request_header(frame, /*unstable_enabled=*/true);
    if (!header) {
        return 0;
    }
    FUZZ_CHECK(header->api != nullptr);
    FUZZ_CHECK(header->size <= size);
    if (!header->version_supported) {
        FUZZ_CHECK(header->key() == ApiKey::api_versions);
        return 0;
    }
    check_body(*header->api->request, header->api_version, frame.subspan(header->size));
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    std::vector<std::vector<std::byte>> seeds;
    for (const ApiInfo& api : all_apis()) {
        for (std::int16_t version = api.versions.first; version <= api.versions.last; ++version) {
            Arena arena;
            Object message(*api.request);
            testing::MessageGenerator(static_cast<std::uint64_t>(version), arena).generate(*api.request, version, message.get());
            ByteBuffer out;
            append_request_header(api, version, 1, "fuzz", out);
            FUZZ_CHECK(encode(*api.request, message.get(), version, out).has_value());
            seeds.emplace_back(out.data(), out.data() + out.size());
        }
    }
    return seeds;
}
