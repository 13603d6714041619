#pragma once

#include "broker/logs/topics_listener.h"

namespace partita::insight {

class ReaderObserver;

/// Tells the observer of readers when the broker's topics change.
class WatchedTopicsChange final : public logs::TopicsListener {
  public:
    explicit WatchedTopicsChange(ReaderObserver& readers) : readers_(readers) {}

    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    ReaderObserver& readers_;
};

}  // namespace partita::insight
