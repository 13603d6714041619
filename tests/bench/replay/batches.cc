#include "tests/bench/replay/batches.h"

#include <chrono>
#include <optional>
#include <string>

#include "protocol/record_batch_builder.h"

namespace partita::bench {

EncodedBatch make_batch(const Settings& settings, std::uint64_t seed) {
    BatchBuilder builder;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    std::string value(settings.record_bytes, ' ');
    EncodedBatch batch;
    while (builder.uncompressed_size_bytes() + settings.record_bytes + 20 <= settings.batch_bytes || batch.records == 0) {
        for (char& letter : value) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            letter = static_cast<char>('a' + (seed >> 33) % 26);
        }
        const std::string key = "key-" + std::to_string(1'000'000 + seed % 1'000'000);
        builder.append({now.count()}, settings.keyed ? std::optional(std::as_bytes(std::span(key))) : std::nullopt,
                       std::as_bytes(std::span(value)));
        ++batch.records;
    }
    builder.build(batch.bytes);
    return batch;
}

}  // namespace partita::bench
