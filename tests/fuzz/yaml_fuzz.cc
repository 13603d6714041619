#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "broker/seed/seed.h"
#include "broker/yaml/yaml.h"
#include "tests/fuzz/fuzz_target.h"

/// Feeds files that people write. A document is a JSON value that can be written and read again, within the limits; a seed is
/// read or refused.
namespace {

using namespace partita;

constexpr yaml::Limits kLimits{.bytes_max = 1 << 16, .depth_max = 8, .values_max = 1000, .keys_max = 20, .documents_max = 5};

std::size_t depth_of(const nlohmann::ordered_json& value) {
    std::size_t deepest = 0;
    if (value.is_structured()) {
        for (const auto& item : value) {
            deepest = std::max(deepest, depth_of(item));
        }
        ++deepest;
    }
    return deepest;
}

std::vector<std::byte> seed_of(std::string_view text) {
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto documents = yaml::parse_all(text, kLimits);
    if (!documents) {
        FUZZ_CHECK(!documents.error().message.empty());
        return 0;
    }
    FUZZ_CHECK(documents->size() <= kLimits.documents_max);
    for (const yaml::Document& document : *documents) {
        FUZZ_CHECK(depth_of(document.value()) <= kLimits.depth_max);
        FUZZ_CHECK(nlohmann::ordered_json::parse(document.value().dump(), nullptr, false) == document.value());
    }
    if (const auto seed = seed::read_seed(text)) {
        for (const auto& record : seed->records) {
            if (const auto* generator = std::get_if<seed::SeedGenerator>(&record);
                generator != nullptr && generator->value_bytes < 1000) {
                FUZZ_CHECK(generator->record(generator->count - 1).topic == generator->topic);
            }
        }
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    return {
        seed_of("a: &x {k: [1, 2.5, 0x1f]}\nb: *x\n"),
        seed_of("- 'a\n  b'\n- |\n  text\n- >-\n  more\n? k\n: v\n"),
        seed_of("%YAML 1.2\n---\n!!map {a: \"\\x41\\u00e9\", b: !!str 7}\n...\n---\n- ~\n"),
        seed_of(R"({"a": [true, null, 1e5, "\ud83d\ude00"]})"),
        seed_of(
            "topics: {a: 3, b: {partitions: 2, configs: {x: y}}}\nrecords:\n- {topic: a, key: k, value_hex: ff}\n"
            "- {topic: a, generate: 9, keys: 3, value_bytes: 20, timestamp: 5, every_ms: 1}\ngroups: {g: {a: {0: 1}, b: 25%}}\n"),
    };
}
