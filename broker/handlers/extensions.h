#pragma once

#include <utility>
#include <vector>

#include "protocol/assert.h"

namespace partita::access {
class Offer;
}

namespace partita::runtime {
class OwnershipSource;
}

namespace partita::handlers {

class CommitGate;
class RequestGate;

/// The parts that an addon brings to other rooms (its HTTP resources, its metrics), by their types.
class AddedParts {
  public:
    /// Adds a part, which must outlive this object. There may be one part of each type.
    template <class Part>
    void add(Part& part) {
        PARTITA_ASSERT(find<Part>() == nullptr, "a part is added once");
        parts_.emplace_back(&kKey<Part>, &part);
    }
    /// Null if no addon added such a part.
    template <class Part>
    [[nodiscard]] Part* find() const {
        for (const auto& [key, part] : parts_) {
            if (key == &kKey<Part>) {
                return static_cast<Part*>(part);
            }
        }
        return nullptr;
    }
    /// The part of an addon that is present.
    template <class Part>
    [[nodiscard]] Part& get() const {
        Part* const part = find<Part>();
        PARTITA_ASSERT(part != nullptr, "who asks for a part belongs to the addon that has added it");
        return *part;
    }

  private:
    template <class Part>
    static constexpr char kKey = 0;

    std::vector<std::pair<const void*, void*>> parts_;
};

/// The objects that addons supply in addition to the broker's own parts (broker/assembly/addon.h). The broker fills this in while
/// it is built, and then only reads it. Without addons it has only null pointers and empty lists.
struct Extensions {
    /// The service that clients see instead of Kafka.
    const access::Offer* offer = nullptr;
    /// Judges requests before they are served; null serves all.
    RequestGate* gate = nullptr;
    /// Called for each partition of a commit.
    CommitGate* commit_gate = nullptr;
    /// Asked for the owners of partitions, before Kafka's groups.
    std::vector<runtime::OwnershipSource*> ownership;
    AddedParts parts;
};

}  // namespace partita::handlers
