#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "tests/interop/clients/cpp/library.h"

/// One member of a group on its own thread: reports every record once it has it, then commits it.
class Member final : public agent::Running, private RdKafka::RebalanceCb {
  public:
    explicit Member(const agent::Json& request);

    [[nodiscard]] agent::Json finish() override;

  private:
    /// Within a poll of the member's own thread.
    void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode what,
                      std::vector<RdKafka::TopicPartition*>& partitions) override;
    void run();
    void take();
    void commit();
    void tell(const std::string& event, const agent::Failure& failure) const;

    const std::string name_;
    const std::string topic_;
    std::set<int> owned_;
    /// Partition to the offset after the last record that was reported.
    std::map<int, std::int64_t> uncommitted_;
    std::atomic<bool> stop_ = false;
    std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
    std::thread thread_;
};
