// Notes about an expansion after it happened.

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

auto identity(const ProducerSwitch& producer) { return std::tie(producer.client_id, producer.address); }

}  // namespace

Decision<RecordProducerSwitches> CatalogCore::decide(const RecordProducerSwitches& command, const CatalogContext&) const {
    ChangeBuilder change(snapshot_);
    RecordProducerSwitchesResult answer;
    const TopicPointer topic = snapshot_->share_topic(command.topic_id);
    const bool known =
        topic != nullptr && command.epoch >= 1 && static_cast<std::size_t>(command.epoch) <= topic->expansions.size();
    if (!known) {
        return {answer, change.finish()};
    }

    auto& slot = topic->expansions[static_cast<std::size_t>(command.epoch) - 1];
    ExpansionEpoch expansion = *slot;
    std::vector<ProducerSwitch>& switches = expansion.producer_switches;
    std::vector<ProducerSwitch> added;
    for (ProducerSwitch producer : command.switches) {
        cut_text(producer.client_id);
        cut_text(producer.address);
        const auto place = std::ranges::lower_bound(switches, identity(producer), {}, identity);
        if (place != switches.end() && identity(*place) == identity(producer)) {
            continue;
        }
        if (switches.size() >= ExpansionEpoch::kProducerSwitchesMax) {
            ++answer.beyond_bound;
            continue;
        }
        added.push_back(producer);
        switches.insert(place, std::move(producer));
    }
    answer.recorded = static_cast<std::int32_t>(added.size());
    if (!added.empty()) {
        Topic after = *topic;
        after.expansions[static_cast<std::size_t>(command.epoch) - 1] =
            std::make_shared<const ExpansionEpoch>(std::move(expansion));
        change.record_switches(topic, std::move(after), command.epoch, added);
    }
    return {answer, change.finish()};
}

Decision<ForgetSeededGroups> CatalogCore::decide(const ForgetSeededGroups& command, const CatalogContext&) const {
    ChangeBuilder change(snapshot_);
    std::vector<std::string> seeded;
    const TopicPointer topic = snapshot_->share_topic(command.topic_id);
    if (topic == nullptr || command.epoch < 1 || static_cast<std::size_t>(command.epoch) > topic->expansions.size()) {
        return {{}, change.finish()};
    }
    const std::size_t index = static_cast<std::size_t>(command.epoch) - 1;
    if (const auto& known = topic->expansions[index]->circumstances; known && !known->seeded_groups.empty()) {
        ExpansionCircumstances circumstances = *known;
        seeded.swap(circumstances.seeded_groups);
        ExpansionEpoch expansion = *topic->expansions[index];
        expansion.circumstances = std::make_shared<const ExpansionCircumstances>(std::move(circumstances));
        Topic after = *topic;
        after.expansions[index] = std::make_shared<const ExpansionEpoch>(std::move(expansion));
        change.annotate_expansion(topic, std::move(after), command.epoch);
    }
    return {{std::move(seeded)}, change.finish()};
}

}  // namespace partita::catalog
