#include "broker/tools/growth_notice.h"

#include <algorithm>
#include <utility>

#include "broker/client/groups.h"
#include "broker/client/topics.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::TopicPartition;

/// A group with offsets from before the growth that it has not committed beyond.
struct Behind {
    std::string group;
    std::int64_t offsets = 0;
};

std::string danger_line(const std::string& topic, const std::vector<Behind>& behind, bool are_all_known) {
    if (behind.empty()) {
        return are_all_known ? "No group has offsets from before it to read."
                             : "None of the first " + std::to_string(GrowthNotice::kGroupsMax) +
                                   " groups has offsets from before it to read.";
    }
    const std::size_t others = behind.size() - 1;
    return "Group " + behind.front().group + " has " + std::to_string(behind.front().offsets) +
           " offsets from before it to read" +
           (others == 0   ? ""
            : others == 1 ? ", and 1 more group has some"
                          : ", and " + std::to_string(others) + " more groups have some") +
           ": newer records of the same keys can come first. A Partita broker follows it: partita findings --topic " + topic;
}

}  // namespace

client::Result<GrowthNotice> GrowthNotice::begin(client::Cluster& cluster, const std::vector<std::string>& topics) {
    GrowthNotice notice;
    PARTITA_TRY_ASSIGN(const auto described, client::describe_topics(cluster, topics));
    std::vector<TopicPartition> partitions;
    for (const client::TopicDescription& topic : described) {
        for (const client::PartitionDescription& partition : topic.partitions) {
            partitions.push_back({topic.name, partition.index});
        }
    }
    PARTITA_TRY_ASSIGN(const auto ends, client::list_offsets(cluster, partitions, client::kLatest));
    for (const auto& [partition, end] : ends) {
        PARTITA_TRY_ASSIGN(notice.ends_[partition.topic][partition], end);
    }
    return notice;
}

client::Result<std::vector<std::string>> GrowthNotice::lines(client::Cluster& cluster, std::int32_t new_count) const {
    PARTITA_TRY_ASSIGN(auto groups, client::list_all_groups(cluster));
    const bool are_all_known = groups.size() <= kGroupsMax;
    groups.resize(std::min(groups.size(), kGroupsMax));
    std::map<std::string, std::vector<Behind>> behind;
    for (const client::ListedGroup& group : groups) {
        PARTITA_TRY_ASSIGN(const auto committed, client::committed_offsets(cluster, group.id));
        std::map<std::string, std::int64_t> unread;
        for (const auto& [partition, offset] : committed) {
            const auto ends = ends_.find(partition.topic);
            if (ends != ends_.end() && ends->second.contains(partition)) {
                unread[partition.topic] += std::max<std::int64_t>(0, ends->second.at(partition) - offset.offset);
            }
        }
        for (const auto& [topic, offsets] : unread) {
            if (offsets > 0) {
                behind[topic].push_back({group.id, offsets});
            }
        }
    }
    std::vector<std::string> lines;
    for (const auto& [topic, ends] : ends_) {
        std::ranges::sort(behind[topic], std::ranges::greater(), &Behind::offsets);
        lines.push_back(topic + " grew from " + std::to_string(ends.size()) + " to " + std::to_string(new_count) +
                        " partitions: producers put many keys into other partitions from now on.");
        lines.push_back(danger_line(topic, behind[topic], are_all_known));
    }
    return lines;
}

}  // namespace partita::tools
