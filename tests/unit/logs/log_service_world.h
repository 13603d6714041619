#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/logs/appender.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/read_request.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "schedule/executor.h"
#include "storage/log_flusher.h"
#include "tests/support/storage_fixture.h"
#include "tests/unit/catalog/catalog_fixture.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::test {

/// Appends and reads of clients, without a broker: logs in memory, a table with the topic "t" of two partitions, and one reactor
/// whose turns a test runs.
class LogServiceWorld {
  public:
    LogServiceWorld() : turns_(topics_, 1, 0, clock_) {
        catalog_.create("t", 2);
        publish({});
    }

    /// Gives the topic these settings and steps.
    void publish(std::shared_ptr<const logs::TopicSteps> steps, const config::TopicConfig& config = {}) {
        auto table = std::make_shared<logs::TopicTable>();
        table->catalog = catalog_.core().snapshot();
        auto state = std::make_shared<logs::TopicState>();
        state->topic = table->catalog->share_topic(table->catalog->find_topic("t")->id);
        state->config = std::make_shared<const config::TopicConfig>(config);
        state->steps = std::move(steps);
        if (partitions_.empty()) {
            for (int index = 0; index < 2; ++index) {
                partitions_.push_back(std::make_shared<logs::Partition>(
                    storage_.shared_log(index), fetch::PartitionKey{static_cast<std::uint64_t>(index) + 1}));
            }
        }
        state->partitions = partitions_;
        table->put(std::move(state));
        topics_.publish(std::move(table));
    }

    /// Ends the turn, which writes the staged batches.
    void end_turn() { turns_.first().end_turn(clock_.now()); }

    [[nodiscard]] logs::Turn& turn() { return turns_.first(); }
    [[nodiscard]] logs::Turns& turns() { return turns_; }
    [[nodiscard]] logs::PublishedTopics& topics() { return topics_; }
    [[nodiscard]] logs::Appender& appender() { return appender_; }
    [[nodiscard]] logs::Reader& reader() { return reader_; }
    [[nodiscard]] StillClock& clock() { return clock_; }
    [[nodiscard]] runtime::UpkeepBell& upkeep() { return upkeep_; }
    [[nodiscard]] runtime::FailureLog& failures() { return failures_; }
    [[nodiscard]] runtime::Counters& counters() { return counters_; }
    [[nodiscard]] runtime::ClientConnection& connection() { return connection_; }
    [[nodiscard]] StorageWorld& storage() { return storage_; }
    [[nodiscard]] const logs::TopicState& topic() { return *turn().topics().find("t"); }
    [[nodiscard]] PartitionLog& log(std::size_t partition) { return *partitions_[partition]->log; }
    [[nodiscard]] const std::shared_ptr<logs::Partition>& partition(std::size_t index) { return partitions_[index]; }

  private:
    StillClock clock_;
    StorageWorld storage_;
    catalog::TestCatalog catalog_;
    logs::PublishedTopics topics_;
    logs::Turns turns_;
    runtime::Counters counters_;
    runtime::FailureLog failures_{clock_};
    runtime::UpkeepBell upkeep_;
    ThreadExecutor executor_;
    LogFlusher flusher_{executor_};
    logs::Appender appender_{{flusher_, counters_, failures_, upkeep_}};
    logs::Reader reader_{counters_};
    runtime::ClientConnection connection_;
    std::vector<std::shared_ptr<logs::Partition>> partitions_;
};

}  // namespace partita::test
