#include "broker/groups/metadata_hash.h"

#include <bit>
#include <cstddef>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "protocol/types.h"

namespace partita::groups {
namespace {

/// Collects the input of the hash: integers in little-endian order, texts as UTF-16 units followed by their count. The Java
/// library that Kafka uses does the same.
class HashInput {
  public:
    template <class Integer>
    void add(Integer value) {
        for (std::size_t i = 0; i < sizeof value; ++i) {
            bytes_.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> (8 * i)));
        }
    }

    /// Topic and rack names are ASCII; other text would be counted in bytes.
    void add_text(std::string_view text) {
        for (const char c : text) {
            add(static_cast<std::uint16_t>(static_cast<unsigned char>(c)));
        }
        add(static_cast<std::int32_t>(text.size()));
    }

    [[nodiscard]] std::int64_t hash() const {
        return std::bit_cast<std::int64_t>(static_cast<std::uint64_t>(XXH3_64bits(bytes_.data(), bytes_.size())));
    }

  private:
    std::vector<unsigned char> bytes_;
};

std::uint64_t half(const TopicId& id, std::size_t from) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < from + 8; ++i) {
        value = value << 8 | id.bytes[i];
    }
    return value;
}

constexpr std::uint8_t kHashVersion = 0;

}  // namespace

std::int64_t topic_hash(const ClusterView::Topic& topic, std::string_view rack) {
    HashInput input;
    input.add(kHashVersion);
    input.add(half(topic.topic_id, 0));
    input.add(half(topic.topic_id, 8));
    input.add_text(topic.name);
    input.add(topic.partition_count);
    for (std::int32_t partition = 0; partition < topic.partition_count; ++partition) {
        input.add(partition);
        if (!rack.empty()) {
            input.add(static_cast<std::int32_t>(rack.size()));
            input.add_text(rack);
        }
    }
    return input.hash();
}

std::int64_t group_hash(std::span<const std::int64_t> topic_hashes) {
    if (topic_hashes.empty()) {
        return 0;
    }
    HashInput input;
    for (const std::int64_t hash : topic_hashes) {
        input.add(hash);
    }
    return input.hash();
}

}  // namespace partita::groups
