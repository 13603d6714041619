#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/groups/cluster_view.h"

namespace partita::test {

/// Topics for consumer groups. Copy it to change it: coordinators share what they were given.
class TestCluster final : public groups::ClusterView {
  public:
    struct Entry {
        TopicId topic_id;
        std::int32_t partition_count = 0;
    };

    /// An id that follows from `number`; the order of ids is that of the numbers.
    static TopicId id(std::uint32_t number) {
        TopicId topic_id;
        for (std::size_t i = 0; i < 4; ++i) {
            topic_id.bytes[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
        }
        return topic_id;
    }

    /// The cluster with another topic, or with a topic that has grown.
    [[nodiscard]] std::shared_ptr<TestCluster> with(const std::string& name, std::int32_t partitions) const {
        auto next = std::make_shared<TestCluster>(*this);
        Entry& entry = next->topics_[name];
        if (entry.topic_id.is_zero()) {
            entry.topic_id = id(++next->ids_);
            next->names_[entry.topic_id] = name;
        }
        entry.partition_count = partitions;
        ++next->version_;
        return next;
    }
    [[nodiscard]] std::shared_ptr<TestCluster> without(const std::string& name) const {
        auto next = std::make_shared<TestCluster>(*this);
        next->names_.erase(next->topics_.at(name).topic_id);
        next->topics_.erase(name);
        ++next->version_;
        return next;
    }
    [[nodiscard]] std::shared_ptr<TestCluster> with_overrides(const groups::ConsumerGroupOverrides& overrides) const {
        auto next = std::make_shared<TestCluster>(*this);
        next->overrides_ = overrides;
        ++next->version_;
        return next;
    }

    [[nodiscard]] const std::map<std::string, Entry, std::less<>>& topics() const { return topics_; }

    [[nodiscard]] std::optional<Topic> find(std::string_view name) const override {
        const auto found = topics_.find(name);
        if (found == topics_.end()) {
            return std::nullopt;
        }
        return Topic{found->second.topic_id, found->first, found->second.partition_count};
    }
    [[nodiscard]] std::optional<Topic> find(const TopicId& topic_id) const override {
        const auto found = names_.find(topic_id);
        return found == names_.end() ? std::nullopt : find(std::string_view(found->second));
    }
    void for_each(FunctionRef<void(const Topic&)> visit) const override {
        for (const auto& [name, entry] : topics_) {
            visit({entry.topic_id, name, entry.partition_count});
        }
    }
    [[nodiscard]] std::int64_t version() const override { return version_; }
    [[nodiscard]] std::string_view rack() const override { return {}; }
    [[nodiscard]] groups::ConsumerGroupOverrides overrides(std::string_view) const override { return overrides_; }
    [[nodiscard]] groups::ShareGroupOverrides share_overrides(std::string_view) const override { return {}; }

  private:
    std::map<std::string, Entry, std::less<>> topics_;
    std::map<TopicId, std::string> names_;
    groups::ConsumerGroupOverrides overrides_;
    std::uint32_t ids_ = 0;
    std::int64_t version_ = 1;
};

}  // namespace partita::test
