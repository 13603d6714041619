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

/// Parts of addons by their types, for what an addon itself brings to other rooms (its HTTP resources, its metrics).
class AddedParts {
  public:
    /// The part outlives this. There is one of each type.
    template <class Part>
    void add(Part& part) {
        PARTITA_ASSERT(find<Part>() == nullptr, "a part is added once");
        parts_.emplace_back(&kKey<Part>, &part);
    }
    /// Null when it was not added.
    template <class Part>
    [[nodiscard]] Part* find() const {
        for (const auto& [key, part] : parts_) {
            if (key == &kKey<Part>) {
                return static_cast<Part*>(part);
            }
        }
        return nullptr;
    }
    /// The part of an addon that is there.
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

/// The hooks that addons put beside the broker's own parts (broker/assembly/addon.h). Filled while the broker is made, then only
/// read. A broker without addons has none of it: null pointers and empty lists.
struct Extensions {
    /// The offer that clients see instead of Kafka.
    const access::Offer* offer = nullptr;
    /// Asked for each partition of a commit.
    CommitGate* commit_gate = nullptr;
    /// Asked before the groups of Kafka for who owns what.
    std::vector<runtime::OwnershipSource*> ownership;
    AddedParts parts;
};

}  // namespace partita::handlers
