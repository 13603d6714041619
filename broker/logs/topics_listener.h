#pragma once

#include <span>

#include "protocol/types.h"

namespace partita::catalog {
struct CatalogChange;
}

namespace partita::logs {

class TopicTable;
class Turn;

/// What became visible with a new table of topics.
struct TopicsChange {
    const TopicTable& before;
    const TopicTable& now;
    /// What the catalog changed, in its order. Empty when it changed nothing that topics or settings show.
    std::span<const catalog::CatalogChange> changes = {};
    /// The turn of the request behind the change; null off the reactors.
    Turn* turn = nullptr;
    Now time = {};
};

/// Hears of every new table of topics.
class TopicsListener {
  public:
    virtual ~TopicsListener() = default;
    /// The catalog calls this under its lock, after the change was persisted and the table published, and before anybody is told
    /// of the outcome. It waits for no disk. What `change` refers to lives as long as the call.
    virtual void on_topics_changed(const TopicsChange& change) = 0;
};

}  // namespace partita::logs

namespace partita::runtime {
using logs::TopicsChange;
using logs::TopicsListener;
using logs::TopicTable;
using logs::Turn;
}  // namespace partita::runtime
