#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"
#include "broker/catalog/snapshot_editor.h"

namespace partita::catalog {

/// Collects the changes of one command: the next snapshot, its records and its changes, always together. Without any change it
/// copies nothing, and `finish` returns empty effects.
class ChangeBuilder {
  public:
    explicit ChangeBuilder(const CatalogPointer& base) : base_(base) {}

    /// The catalog with the changes made so far.
    [[nodiscard]] const CatalogSnapshot& draft() const { return editor_ ? editor_->draft() : *base_; }
    /// `CatalogSnapshot::sequence` of the result.
    [[nodiscard]] std::int64_t next_sequence() const { return base_->sequence() + 1; }

    /// `assignments`: see CatalogChange.
    void create_topic(Topic topic, std::vector<std::vector<BrokerId>> assignments = {});
    void delete_topic(const TopicPointer& topic);
    /// `after` has one more expansion and the new count.
    void expand_topic(const TopicPointer& before, Topic after, std::vector<std::vector<BrokerId>> assignments = {});
    /// `after` differs in one epoch: it also has the producers in `added`.
    void record_switches(const TopicPointer& before, Topic after, std::int32_t epoch, std::span<const ProducerSwitch> added);
    /// `after` differs in the record of that epoch, apart from its producers.
    void annotate_expansion(const TopicPointer& before, Topic after, std::int32_t epoch);
    void reconfigure_topic(const TopicPointer& before, ConfigMap configs);
    /// Sets the configs of a broker, group or client metrics subscription.
    void set_configs(ConfigResourceType type, std::string_view name, ConfigMap configs);
    /// The `added` ACLs do not exist yet, the `removed` ones do. Both ascending, each named once.
    void change_acls(std::span<const access::AclPointer> added, std::span<const access::AclPointer> removed);
    /// Stores a new token, or a changed one.
    void put_delegation_token(access::DelegationTokenPointer token);
    /// The tokens exist; each is named once.
    void remove_delegation_tokens(std::span<const std::string> ids);
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

/// The id for a new topic: not zero, not reserved by Kafka, and not in use.
[[nodiscard]] TopicId fresh_topic_id(const CatalogContext& context, const CatalogSnapshot& catalog);

/// Checks Kafka's rules for the brokers that a client assigns to one partition by hand; `expected_replicas` is the replica count
/// of the partitions before. Null if they hold.
[[nodiscard]] std::optional<std::string> assignment_problem(std::span<const BrokerId> brokers,
                                                            std::optional<std::size_t> expected_replicas,
                                                            std::span<const BrokerId> registered);

/// The problem if a client assigns only dead brokers to this partition. Null otherwise.
[[nodiscard]] std::optional<std::string> dead_assignment_problem(std::span<const BrokerId> brokers, PartitionIndex partition,
                                                                 std::span<const BrokerId> fenced);

/// Kafka's refusal if a value is too long; null if all fit.
[[nodiscard]] std::optional<CatalogError> config_value_problem(const ConfigMap& configs);

/// Cuts a client's text to `ExpansionCircumstances::kTextBytesMax`.
inline void cut_text(std::string& text) {
    if (text.size() > ExpansionCircumstances::kTextBytesMax) {
        text.resize(ExpansionCircumstances::kTextBytesMax);
    }
}

/// Kafka's text if nothing can be placed because all log directories are cordoned.
inline constexpr std::string_view kNoPlace = "All brokers are currently fenced, or have all their log directories cordoned.";
inline constexpr std::string_view kDuplicateTopicName = "Duplicate topic name.";
inline constexpr std::string_view kExcessiveBatch = "Unable to perform excessively large batch operation.";

}  // namespace partita::catalog
