#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"
#include "broker/topics/snapshot_editor.h"

namespace partita::topics {

/// Collects what one command changes: the next snapshot, its records and the news of it, always the
/// three together. Without any change nothing is copied and `finish` gives empty effects.
class ChangeBuilder {
  public:
    explicit ChangeBuilder(const CatalogPointer& base) : base_(base) {}

    /// The catalog with the changes made so far.
    [[nodiscard]] const CatalogSnapshot& draft() const { return editor_ ? editor_->draft() : *base_; }
    /// `CatalogSnapshot::sequence` of the result.
    [[nodiscard]] std::int64_t next_sequence() const { return base_->sequence() + 1; }

    void create_topic(Topic topic);
    void delete_topic(const TopicPointer& topic);
    /// `after` has one more expansion and the new count.
    void expand_topic(const TopicPointer& before, Topic after);
    /// `after` differs in one epoch, which has the producers named in `added` in addition.
    void record_switches(const TopicPointer& before, Topic after, std::int32_t epoch,
                         std::span<const ProducerSwitch> added);
    /// `after` differs in what is kept of that epoch besides its producers.
    void annotate_expansion(const TopicPointer& before, Topic after, std::int32_t epoch);
    void reconfigure_topic(const TopicPointer& before, ConfigMap configs);
    /// Of a broker, group or client metrics subscription.
    void set_configs(ConfigResourceType type, std::string_view name, ConfigMap configs);
    void set_next_producer_id(ProducerId id);
    void set_identity(std::string_view cluster_id, const FeatureLevels& features);

    [[nodiscard]] Effects finish();

  private:
    SnapshotEditor& editor();
    void publish_annotation(const TopicPointer& before, Topic after);

    const CatalogPointer base_;
    std::optional<SnapshotEditor> editor_;
    Effects effects_;
};

/// Id of a new topic: neither zero, nor one that Kafka reserves, nor in use.
[[nodiscard]] TopicId fresh_topic_id(const CatalogContext& context, const CatalogSnapshot& catalog);

/// Kafka's rules for the brokers of one partition that a client assigns by hand; `expected_replicas` is
/// the replica count of the partitions before. Null when they hold.
[[nodiscard]] std::optional<std::string> assignment_problem(std::span<const BrokerId> brokers,
                                                            std::optional<std::size_t> expected_replicas,
                                                            const CatalogSettings& settings);

/// Kafka's refusal of a value that is too long; null when it is not.
[[nodiscard]] std::optional<CatalogError> config_value_problem(const ConfigMap& configs);

/// Texts of clients are kept up to `ExpansionCircumstances::kTextBytesMax`.
inline void cut_text(std::string& text) {
    if (text.size() > ExpansionCircumstances::kTextBytesMax) text.resize(ExpansionCircumstances::kTextBytesMax);
}

/// Why nothing is placed while all log directories are cordoned.
inline constexpr std::string_view kNoPlace =
    "All brokers are currently fenced, or have all their log directories cordoned.";
inline constexpr std::string_view kDuplicateTopicName = "Duplicate topic name.";
inline constexpr std::string_view kExcessiveBatch = "Unable to perform excessively large batch operation.";

}  // namespace partita::topics
