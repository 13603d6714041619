#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/effects.h"
#include "protocol/error_code.h"
#include "protocol/required.h"
#include "protocol/types.h"

/// The commands of the catalog core and their results, except for those that have a header of their own: ACLs, client quotas,
/// SCRAM credentials, delegation tokens, features, topics to adopt. A command borrows everything for the duration of the call;
/// `Result` is its answer, which owns its data.
namespace partita::catalog {

// Bounds ---------------------------------------------------------------------------------------------

/// Most partitions that one CreateTopics may ask for, and most records that Kafka writes for one request (measured on 4.3.1: a
/// topic record, one record per config and one per partition).
inline constexpr std::int64_t kMaxPartitionsPerRequest = 10000;
inline constexpr std::int64_t kMaxRecordsPerRequest = 10000;
inline constexpr std::int64_t kProducerIdBlockSize = 1000;
inline constexpr std::size_t kMaxTopicNameLength = 249;
/// Longest value of a config, in UTF-16 units as Java counts.
inline constexpr std::size_t kMaxConfigValueLength = 32767;

// Errors ---------------------------------------------------------------------------------------------

/// A result in the form that replies carry. `message` is null if Kafka sends null.
struct CatalogError {
    ErrorCode code = ErrorCode::none;
    std::optional<std::string> message;

    [[nodiscard]] bool failed() const { return code != ErrorCode::none; }
    friend bool operator==(const CatalogError&, const CatalogError&) = default;
};

/// The reason why persisted records do not form a catalog.
struct [[nodiscard]] CatalogReplayError {
    enum class Kind {
        /// No version of the program writes such bytes: damage.
        corrupt,
        /// A newer version of the program wrote the record.
        newer_version,
    };
    Kind kind = Kind::corrupt;
    /// A sentence that names the record.
    std::string message;
};

/// Empty for a valid topic name, else Kafka's text ("Topic name is invalid: ...").
[[nodiscard]] std::optional<std::string> topic_name_problem(std::string_view name);

// Configs --------------------------------------------------------------------------------------------

struct ConfigResource {
    ConfigResourceType type = ConfigResourceType::unknown;
    /// Topic, broker id in decimal ("" for the default of all brokers), group, or subscription.
    std::string_view name;
};

/// Judges names and values of configs. The catalog knows no config; the shell provides the definitions.
class ConfigRules {
  public:
    virtual ~ConfigRules() = default;

    /// Judges the complete set of a resource's overrides as it would be after the change; `current` is the set before it. Does
    /// not check whether the resource exists. `none` accepts.
    [[nodiscard]] virtual CatalogError validate(const ConfigResource& resource, const ConfigMap& overrides,
                                                const ConfigMap& current) const = 0;
    /// True if values are comma-separated lists, so that APPEND and SUBTRACT work.
    [[nodiscard]] virtual bool is_list(ConfigResourceType type, std::string_view name) const = 0;
    /// The value of a list that the resource does not set: APPEND and SUBTRACT start from it.
    [[nodiscard]] virtual std::optional<std::string> default_value(ConfigResourceType type, std::string_view name) const = 0;
};

// Surroundings ---------------------------------------------------------------------------------------

/// The limits of a catalog if topics are sold in tiers, in addition to Kafka's rules. The broker's internal topics do not count.
struct CatalogLimits {
    /// The owner of the limits, for refusals: "the standard tier".
    Required<std::string> of;
    Required<std::int32_t> topics;
    Required<std::int32_t> partitions_of_topic;
    /// Most partitions of all topics together.
    Required<std::int64_t> partitions;
    /// The longest retention.ms that a topic may have; unlimited retention (-1) exceeds it.
    Required<std::int64_t> retention_ms;
    /// True if a topic may get more partitions than it had at creation.
    Required<bool> adds_partitions;
};

/// The broker configs that the catalog acts on. The shell passes them again with every command, since some may change.
struct CatalogSettings {
    /// The registered brokers. With one node: its own id.
    Required<std::vector<BrokerId>> brokers;
    /// Those of them that are not alive.
    std::vector<BrokerId> fenced_brokers = {};
    Required<std::int32_t> num_partitions;
    Required<std::int32_t> default_replication_factor;
    Required<bool> delete_topic_enable;
    /// False if all log directories are cordoned (KIP-1066): then only an assignment that names the broker places a partition.
    Required<bool> takes_new_partitions;
    /// Usually null.
    Required<std::optional<CatalogLimits>> limits;
    Required<std::int32_t> offsets_topic_num_partitions;
    Required<std::int32_t> offsets_topic_segment_bytes;
    Required<std::int32_t> transaction_state_log_num_partitions;
    Required<std::int32_t> transaction_state_log_segment_bytes;
    Required<std::int32_t> transaction_state_log_min_isr;
    Required<std::int32_t> share_coordinator_state_topic_num_partitions;
    Required<std::int32_t> share_coordinator_state_topic_segment_bytes;
    Required<std::int32_t> share_coordinator_state_topic_min_isr;
    /// The wanted numbers of replicas of these topics. They get fewer where there are fewer brokers.
    std::int16_t offsets_topic_replication_factor = 1;
    std::int16_t transaction_state_log_replication_factor = 1;
    std::int16_t share_coordinator_state_topic_replication_factor = 1;
};

class MutationQuotas;

struct CatalogContext {
    Now now;
    const CatalogSettings& settings;
    /// Returns a fresh random id (version 4). The core asks again if the id is zero, reserved or in use.
    std::function<TopicId()> next_topic_id;
    /// Returns the log end offsets of a topic's partitions, by index; the core calls it at the cut. Partitions beyond the result
    /// are empty. May be unset if no expansion can happen.
    std::function<std::vector<Offset>(const Topic&)> log_end_offsets;
    /// The clients' use of their controller_mutation_rate, see mutation_quotas.h. Null if the caller does not count it.
    MutationQuotas* mutation_quotas = nullptr;
};

// Commands -------------------------------------------------------------------------------------------

struct InitialiseResult {
    std::string cluster_id;
};

/// Gives a new data directory its cluster id and finalized features. An existing cluster id is kept, and only changed features
/// are written. Without changes there are no records.
struct Initialise {
    using Result = InitialiseResult;
    /// For a directory without a cluster id.
    std::string_view cluster_id;
    FeatureLevels features;
};

struct NamedConfig {
    std::string_view name;
    std::optional<std::string_view> value;
};

struct ManualAssignment {
    PartitionIndex partition;
    std::vector<BrokerId> brokers;
};

struct TopicToCreate {
    std::string_view name;
    std::int32_t num_partitions = -1;
    std::int16_t replication_factor = -1;
    /// If not empty, `num_partitions` and `replication_factor` must be -1.
    std::vector<ManualAssignment> assignments;
    std::vector<NamedConfig> configs;
};

/// The client that creates or deletes partitions, for the quota that counts them.
struct MutatingClient {
    /// The name of its principal.
    std::string_view user;
    std::string_view client_id;
    /// Beyond the quota, the broker refuses newer versions of the requests. It serves older ones, and the client waits
    /// afterwards.
    bool may_be_refused = false;
    /// An earlier command for the same request has charged the quota.
    bool is_charged = false;
};

struct CreatedTopic {
    std::string name;
    CatalogError error;
    /// The id of the new topic (of the existing one for `AutoCreateTopic`). Zero on errors. With validate_only the result has an
    /// id too, as in Kafka, but no topic will have it.
    TopicId id;
    std::int32_t num_partitions = -1;
    std::int16_t replication_factor = -1;
    /// The stored overrides, from which the handler derives the effective configs.
    ConfigMap configs;
};

/// In Kafka's order: the topics of the request, then each name that came more than once, once, then __cluster_metadata.
struct CreateTopicsResult {
    std::vector<CreatedTopic> topics;
    /// How long the client must wait because of its quota, in milliseconds.
    std::int64_t throttle_ms = 0;
};

/// Topics are judged one by one: failures do not stop others. A request for more than 10,000 partitions, or one that needs more
/// than 10,000 of Kafka's records, fails as a whole.
struct CreateTopics {
    using Result = CreateTopicsResult;
    std::vector<TopicToCreate> topics;
    bool validate_only = false;
    MutatingClient client;
};

/// Creates a topic that Metadata or a coordinator needs on first use; internal topics get the configs that Kafka gives them. If
/// the topic exists, the result is `none` with its id, and no records. Otherwise errors as in `CreatedTopic`, but never for the
/// three internal names. The caller decides whether auto-creation is allowed (auto.create.topics.enable, the request's flag);
/// internal topics are created regardless.
struct AutoCreateTopic {
    using Result = CreatedTopic;
    std::string_view name;
};

/// A topic by name or by id. Up to DeleteTopics v5 the id is zero.
struct TopicReference {
    std::optional<std::string_view> name;
    TopicId id;
};

struct DeletedTopic {
    std::optional<std::string> name;
    TopicId id;
    CatalogError error;
};

/// Kafka shuffles its results; here refusals come first, then deletions in the order of the request.
struct DeleteTopicsResult {
    std::vector<DeletedTopic> topics;
    std::int64_t throttle_ms = 0;
};

struct DeleteTopics {
    using Result = DeleteTopicsResult;
    std::vector<TopicReference> topics;
    /// While deletion is disabled, versions below 3 are refused with INVALID_REQUEST, later ones with TOPIC_DELETION_DISABLED.
    std::int16_t request_version = 6;
    MutatingClient client;
    /// The request came with no time left: every topic is refused with REQUEST_TIMED_OUT, unless deletion is disabled.
    bool has_no_time = false;
};

/// The shell's judgement of one expansion before the command, from facts that it gathered.
struct JudgedExpansion {
    /// The error that refuses the expansion; `none` allows it.
    CatalogError refusal;
    /// The circumstances to record, see `bounded_circumstances`; null for none.
    std::shared_ptr<const ExpansionCircumstances> circumstances;
};

/// Cuts everything that exceeds the bounds of `ExpansionCircumstances`, and sorts its lists.
[[nodiscard]] std::shared_ptr<const ExpansionCircumstances> bounded_circumstances(ExpansionCircumstances known);

struct TopicToExpand {
    std::string_view name;
    /// The count after the expansion.
    std::int32_t count = 0;
    /// Brokers of each new partition; null to let the broker choose.
    std::optional<std::vector<std::vector<BrokerId>>> assignments;
    /// The judgement, which counts once Kafka's rules allow the expansion, also with validate_only. It may refuse an expansion
    /// that Kafka allows. Null without a judgement.
    const JudgedExpansion* judged = nullptr;
};

struct ExpandedTopic {
    std::string name;
    CatalogError error;
};

/// Duplicates first, then topics in the order of the request.
struct CreatePartitionsResult {
    std::vector<ExpandedTopic> topics;
    std::int64_t throttle_ms = 0;
};

/// For an expansion that happens, the core calls `CatalogContext::log_end_offsets` once. It records the outcome and the judged
/// circumstances in the same atomic group as the new count.
struct CreatePartitions {
    using Result = CreatePartitionsResult;
    std::vector<TopicToExpand> topics;
    bool validate_only = false;
    MutatingClient client;
};

struct RecordProducerSwitchesResult {
    /// 0 if the topic or the epoch is gone. Producers that are recorded already do not count.
    std::int32_t recorded = 0;
    /// Switches that were not recorded because of `ExpansionEpoch::kProducerSwitchesMax`.
    std::int32_t beyond_bound = 0;
};

/// Adds producers that have switched to the new count to an earlier expansion: proven switches since the last command, all in one
/// epoch of one topic. A producer's first switch stands. Without news there are no records.
struct RecordProducerSwitches {
    using Result = RecordProducerSwitchesResult;
    TopicId topic_id;
    std::int32_t epoch = 0;
    std::vector<ProducerSwitch> switches;
};

struct ForgetSeededGroupsResult {
    /// The groups that the circumstances named.
    std::vector<std::string> groups;
};

/// Empties `seeded_groups` of that expansion's circumstances: no group has offsets from it any more. No records if it was empty.
struct ForgetSeededGroups {
    using Result = ForgetSeededGroupsResult;
    TopicId topic_id;
    std::int32_t epoch = 0;
};

enum class AlterOperation : std::int8_t { set = 0, remove = 1, append = 2, subtract = 3 };

struct ConfigChange {
    std::string_view name;
    /// A number that is not an `AlterOperation` is refused.
    std::int8_t operation = 0;
    std::optional<std::string_view> value;
};

struct ResourceToAlter {
    ConfigResource resource;
    std::vector<ConfigChange> changes;
};

struct AlteredResource {
    ConfigResourceType type = ConfigResourceType::unknown;
    std::string name;
    CatalogError error;
};

/// One result per resource of the request, in its order.
struct AlterConfigsResult {
    std::vector<AlteredResource> resources;
};

/// IncrementalAlterConfigs (KIP-339) of topics, brokers, groups and client metrics subscriptions. Resources are judged one by
/// one. Within one resource either all changes apply or none.
struct IncrementalAlterConfigs {
    using Result = AlterConfigsResult;
    std::vector<ResourceToAlter> resources;
    bool validate_only = false;
};

struct ResourceToReplace {
    ConfigResource resource;
    std::vector<NamedConfig> configs;
};

/// The legacy AlterConfigs: removes the configs of a resource that the request does not name.
struct AlterConfigs {
    using Result = AlterConfigsResult;
    std::vector<ResourceToReplace> resources;
    bool validate_only = false;
};

struct AllocateProducerIdsResult {
    CatalogError error;
    ProducerId first = kNoProducerId;
    std::int64_t count = 0;
};

/// Reserves `kProducerIdBlockSize` producer ids that were never given out before, not even by earlier runs. A restart loses the
/// rest of a block, as in Kafka.
struct AllocateProducerIds {
    using Result = AllocateProducerIdsResult;
};

}  // namespace partita::catalog
