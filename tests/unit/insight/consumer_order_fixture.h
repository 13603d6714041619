#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "broker/partitioners/families.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {

/// "orders" with keys: 40 records in partition 0 and 20 in partition 1 from before the growth, each with a key of its own that
/// Java's partitioner puts there. Then one record of each key, where the new count puts it.
class ConsumerOrderTest : public ConsumerWatchTest {
  protected:
    static constexpr std::int64_t kOldRecords = 40;
    static constexpr std::int64_t kOtherRecords = 20;
    static constexpr PartitionIndex kOther{1};

    explicit ConsumerOrderTest(std::set<std::string> at_work = {})
        : ConsumerWatchTest({Offset{kOldRecords}, Offset{kOtherRecords}}, std::move(at_work)) {
        std::map<PartitionIndex, std::int64_t> ends;
        for (int number = 0; ends[kOld] < kOldRecords || ends[kOther] < kOtherRecords; ++number) {
            const std::string key = "key-" + std::to_string(number);
            const PartitionIndex home = home_of(key, 2);
            const std::int64_t limit = home == kOld ? kOldRecords : kOtherRecords;
            if (ends[home] == limit) {
                continue;
            }
            records_.keys[home][Offset{ends[home]++}] = key;
            moved_ += home_of(key, 4) != home ? 1 : 0;
            moved_from_old_ += home == kOld && home_of(key, 4) != home ? 1 : 0;
        }
        assign_everything();
        std::map<PartitionIndex, std::map<Offset, std::string>> after;
        for (const auto& [partition, keys] : records_.keys) {
            for (const auto& [offset, key] : keys) {
                const PartitionIndex home = home_of(key, 4);
                after[home][Offset{ends[home]++}] = key;
            }
        }
        for (auto& [partition, keys] : after) {
            records_.keys[partition].merge(keys);
        }
        ends_.clear();
        for (std::int32_t partition = 0; partition < 4; ++partition) {
            ends_.push_back(Offset{ends[{partition}]});
        }
    }

    static PartitionIndex home_of(const std::string& key, std::int32_t count) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
    }
    std::int64_t end(std::int32_t partition) { return ends_[static_cast<std::size_t>(partition)].value; }
    std::optional<Finding> wrong_order(std::string_view group = "billing") {
        return finding(HazardId::inversion_delivered, group);
    }
    static std::int64_t number(const Finding& finding, std::string_view name) {
        for (const FindingNumber& each : finding.numbers) {
            if (each.name == name) {
                return each.value;
            }
        }
        ADD_FAILURE() << name;
        return -1;
    }

    std::int64_t moved_ = 0;
    std::int64_t moved_from_old_ = 0;
};

}  // namespace partita::insight
