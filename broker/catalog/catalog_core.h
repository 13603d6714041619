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

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::catalog {

class CatalogImage;

// Commands with headers of their own: acls.h, adopt_topics.h, client_quotas.h, delegation_tokens.h, features.h,
// scram_credentials.h.
struct AdoptTopics;
struct AlterClientQuotas;
struct AlterScramCredentials;
struct CreateAcls;
struct CreateDelegationToken;
struct DeleteAcls;
struct ExpireDelegationToken;
struct RemoveExpiredTokens;
struct RenewDelegationToken;
struct UpdateFeatures;

/// Decides everything that changes the catalog: a pure state machine without clock, files or threads.
///
/// How to use it. `decide` looks at the current snapshot and returns a `Decision`: the result and the `Effects`. Nothing has
/// changed yet. The shell
///   1. appends `effects.records` to the catalog's log as ONE record batch, so that all or none of them
///      survive (an expansion is a topic record and an epoch record; half of it must not exist);
///   2. calls `commit(effects)`, which makes `effects.next` the current snapshot;
///   3. publishes `snapshot()` to the reactors, tells logs, groups and waiting fetches of
///      `effects.changes`, and lets the reply leave.
/// When step 1 fails, the effects are dropped and nothing happened. A crash between any two steps
/// leaves either the old or the new catalog: `replay` of what was persisted gives exactly
/// `effects.next` when step 1 was done. Without records (errors, validate_only) steps 1 and 2 are
/// skipped: see `Effects::empty`.
///
/// One caller at a time, and a decision must be committed or dropped before the next command.
class CatalogCore {
  public:
    /// `rules` judges config names and values and must outlive the core.
    explicit CatalogCore(const ConfigRules& rules);
    ~CatalogCore();
    CatalogCore(const CatalogCore&) = delete;
    CatalogCore& operator=(const CatalogCore&) = delete;

    // Start-up -----------------------------------------------------------------------------------

    /// Takes one persisted record; no value is a tombstone. Records of one key must come in the order in which they were written.
    /// Keys may come in any order (LMDB gives them sorted, the log's tail follows). Errors: bytes that are not a catalog record,
    /// or that a newer version wrote.
    [[nodiscard]] std::expected<void, CatalogReplayError> replay(Bytes key, std::optional<Bytes> value);
    /// Ends the replay: checks that the records form a whole catalog (unique names, complete epochs) and makes it the current
    /// snapshot. The shell calls it once, before the first command, even after an empty replay.
    [[nodiscard]] std::expected<void, CatalogReplayError> finish_replay();

    /// Never null after `finish_replay`.
    [[nodiscard]] const CatalogPointer& snapshot() const { return snapshot_; }

    // Commands: see the struct of each -----------------------------------------------------------

    [[nodiscard]] Decision<Initialise> decide(const Initialise& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<AdoptTopics> decide(const AdoptTopics& command, const CatalogContext& context) const;

    [[nodiscard]] Decision<CreateTopics> decide(const CreateTopics& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<AutoCreateTopic> decide(const AutoCreateTopic& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<DeleteTopics> decide(const DeleteTopics& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<CreatePartitions> decide(const CreatePartitions& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<RecordProducerSwitches> decide(const RecordProducerSwitches& command,
                                                          const CatalogContext& context) const;
    [[nodiscard]] Decision<ForgetSeededGroups> decide(const ForgetSeededGroups& command, const CatalogContext& context) const;

    [[nodiscard]] Decision<IncrementalAlterConfigs> decide(const IncrementalAlterConfigs& command,
                                                           const CatalogContext& context) const;
    [[nodiscard]] Decision<AlterConfigs> decide(const AlterConfigs& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<AlterClientQuotas> decide(const AlterClientQuotas& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<UpdateFeatures> decide(const UpdateFeatures& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<AllocateProducerIds> decide(const AllocateProducerIds& command, const CatalogContext& context) const;

    [[nodiscard]] Decision<CreateAcls> decide(const CreateAcls& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<DeleteAcls> decide(const DeleteAcls& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<AlterScramCredentials> decide(const AlterScramCredentials& command,
                                                         const CatalogContext& context) const;
    [[nodiscard]] Decision<CreateDelegationToken> decide(const CreateDelegationToken& command,
                                                         const CatalogContext& context) const;
    [[nodiscard]] Decision<RenewDelegationToken> decide(const RenewDelegationToken& command, const CatalogContext& context) const;
    [[nodiscard]] Decision<ExpireDelegationToken> decide(const ExpireDelegationToken& command,
                                                         const CatalogContext& context) const;
    [[nodiscard]] Decision<RemoveExpiredTokens> decide(const RemoveExpiredTokens& command, const CatalogContext& context) const;

    /// Makes `effects.next` the current snapshot. Asserts that the effects were decided on the present one.
    void commit(const Effects& effects);

  private:
    const ConfigRules& rules_;
    CatalogPointer snapshot_;
    /// Set only during the replay.
    std::unique_ptr<CatalogImage> replayed_;
};

}  // namespace partita::catalog
