#include "broker/catalog/catalog_core.h"

#include <limits>
#include <utility>

#include "broker/catalog/catalog_image.h"
#include "broker/catalog/change_builder.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::catalog {

CatalogCore::CatalogCore(const ConfigRules& rules) : rules_(rules), replayed_(std::make_unique<CatalogImage>()) {}

CatalogCore::~CatalogCore() = default;

std::expected<void, CatalogReplayError> CatalogCore::replay(Bytes key, std::optional<Bytes> value) {
    PARTITA_ASSERT(replayed_ != nullptr, "records are replayed before finish_replay");
    return replayed_->replay(key, value);
}

std::expected<void, CatalogReplayError> CatalogCore::finish_replay() {
    PARTITA_ASSERT(replayed_ != nullptr, "a replay is finished once");
    PARTITA_TRY_ASSIGN(snapshot_, replayed_->finish());
    replayed_.reset();
    return {};
}

Decision<Initialise> CatalogCore::decide(const Initialise& command, const CatalogContext&) const {
    ChangeBuilder change(snapshot_);
    const bool is_new = snapshot_->cluster_id().empty();
    const std::string id = is_new ? std::string(command.cluster_id) : snapshot_->cluster_id();
    if (is_new || snapshot_->finalized_features() != command.features) {
        change.set_identity(id, command.features);
    }
    return {{id}, change.finish()};
}

Decision<AllocateProducerIds> CatalogCore::decide(const AllocateProducerIds&, const CatalogContext&) const {
    const ProducerId first = snapshot_->next_producer_id();
    if (first.value > std::numeric_limits<std::int64_t>::max() - kProducerIdBlockSize) {
        return {{.error = {ErrorCode::unknown_server_error,
                           "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type "
                           "limit"}},
                {}};
    }
    ChangeBuilder change(snapshot_);
    change.set_next_producer_id(ProducerId{first.value + kProducerIdBlockSize});
    return {{.first = first, .count = kProducerIdBlockSize}, change.finish()};
}

void CatalogCore::commit(const Effects& effects) {
    if (effects.empty()) {
        return;
    }
    PARTITA_ASSERT(effects.base_sequence == snapshot_->sequence(), "effects belong to the snapshot they were decided on");
    PARTITA_ASSERT(effects.next != nullptr && effects.next->sequence() == snapshot_->sequence() + 1,
                   "each change gives the catalog its next number");
    snapshot_ = effects.next;
}

}  // namespace partita::catalog
