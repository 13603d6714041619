// `partita.capacity.*`.

#include "broker/config/addition.h"

#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/config/definition_helpers.h"

namespace partita::capacity {
namespace {

// The short names of the definition tables.
using namespace config;
using config::internal;

constexpr ConfigDefinition kDefinitions[] = {
    internal("partita.capacity.commits", ConfigType::int32, "4", range(0, kPerUnitMax), kClusterWide,
             "With capacity units, how many commits a second each partition of a group may have; 0 for any number."),
    internal(
        "partita.capacity.inflate.after.ms", ConfigType::int64, "5000", range(1000, kLongestWaitMs), kClusterWide,
        "For how long clients must have had to wait for capacity, second by second, until there are more units by themselves "
        "(partita.capacity.units.max)."),
    internal("partita.capacity.unit.egress.bytes", ConfigType::int64, "2000000", range(0, kPerUnitMax), kClusterWide,
             "How many bytes of records one capacity unit lets consumers have in a second; 0 for any number."),
    internal("partita.capacity.unit.egress.events", ConfigType::int64, "4096", range(0, kPerUnitMax), kClusterWide,
             "How many records one capacity unit lets consumers have in a second; 0 for any number."),
    internal("partita.capacity.unit.ingress.bytes", ConfigType::int64, "1000000", range(0, kPerUnitMax), kClusterWide,
             "How many bytes of records one capacity unit lets producers send in a second; 0 for any number."),
    internal("partita.capacity.unit.ingress.events", ConfigType::int64, "1000", range(0, kPerUnitMax), kClusterWide,
             "How many records one capacity unit lets producers send in a second; 0 for any number."),
    internal("partita.capacity.units", ConfigType::int32, "0", range(0, kUnitsMax), kClusterWide,
             "Units of capacity that all topics share: clients wait when more passes than these carry. 0 for no limit. See "
             "docs/capacity.md."),
    internal("partita.capacity.units.max", ConfigType::int32, "0", range(0, kUnitsMax), kClusterWide,
             "Up to how many capacity units there may be by themselves when clients have to wait; 0 for never more than "
             "partita.capacity.units says."),
};

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{.broker = kDefinitions};

}  // namespace partita::capacity
