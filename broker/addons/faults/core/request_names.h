#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/schema.h"
#include "protocol/types.h"

namespace partita::faults {

/// The groups, topics and partitions that a request names. They borrow from the request.
struct RequestNames {
    struct Partition {
        /// Empty if the request names the topic by its id.
        std::string_view topic;
        Uuid topic_id;
        std::optional<std::int32_t> partition;
    };
    /// Names beyond this are left out.
    static constexpr std::size_t kNamesMax = 100'000;

    /// Transactional ids are among them.
    std::vector<std::string_view> groups;
    std::vector<Partition> partitions;
};

/// Finds them by the names of the members. `request` has the type that `schema` describes.
[[nodiscard]] RequestNames names_in(const Schema& schema, std::int16_t version, const void* request);

/// True if the answer to this request may be about more topics and partitions than the request names: an incremental Fetch names
/// only what has changed in its session, and some requests for metadata ask for all topics.
[[nodiscard]] bool names_incompletely(ApiKey api, std::int16_t version, const void* request);
/// True for a Metadata that names its topics by their ids.
[[nodiscard]] bool names_ids(ApiKey api, const void* request);

}  // namespace partita::faults
