#pragma once

#include <span>

#include "protocol/types.h"

namespace partita::catalog {
struct CatalogChange;
}

namespace partita::logs {

class TopicTable;
class Turn;

/// The changes that a new table of topics made visible.
struct TopicsChange {
    const TopicTable& before;
    const TopicTable& now;
    /// The catalog's changes, in its order. Empty if none of them affects topics or settings.
    std::span<const catalog::CatalogChange> changes = {};
    /// The turn of the request behind the change; null outside of reactors.
    Turn* turn = nullptr;
    Now time = {};
};

/// Receives every new table of topics.
class TopicsListener {
  public:
    virtual ~TopicsListener() = default;
    /// The catalog calls this under its lock: after it persisted the change and published the table, and before it reports the
    /// outcome to anyone. The call must not wait for a disk. The objects that `change` refers to live as long as the call.
    virtual void on_topics_changed(const TopicsChange& change) = 0;
};

}  // namespace partita::logs
