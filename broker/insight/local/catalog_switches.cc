#include "broker/insight/local/catalog_switches.h"

#include <map>
#include <utility>

#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"

namespace partita::insight {

void CatalogSwitches::record(const TopicId& topic, std::span<const CountSwitch> switches) {
    std::map<std::int32_t, catalog::RecordProducerSwitches> commands;
    for (const CountSwitch& seen : switches) {
        catalog::RecordProducerSwitches& command = commands[seen.epoch];
        command.topic_id = topic;
        command.epoch = seen.epoch;
        command.switches.push_back({.client_id = seen.producer.client_id,
                                    .address = seen.producer.address,
                                    .time = seen.time,
                                    .partition = seen.partition,
                                    .offset = seen.offset,
                                    .stale_records = seen.stale_records});
    }
    changes_.post("could not record a producer's switch to a new partition count",
                  [commands = std::move(commands)](logs::Turn& turn, runtime::Catalog& catalog) {
                      bool is_done = true;
                      for (const auto& [epoch, command] : commands) {
                          is_done &= catalog.change(turn, command).has_value();
                      }
                      return is_done;
                  });
}

}  // namespace partita::insight
