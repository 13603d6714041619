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
             "With capacity units: commits per second for each partition of a group; 0 for no limit."),
    internal("partita.capacity.inflate.after.ms", ConfigType::int64, "5000", range(1000, kLongestWaitMs), kClusterWide,
             "How long clients must wait for capacity, in every second, before the broker adds units (up to "
             "partita.capacity.units.max)."),
    internal("partita.capacity.unit.egress.bytes", ConfigType::int64, "2000000", range(0, kPerUnitMax), kClusterWide,
             "Bytes of records per second that consumers may read with one capacity unit; 0 for no limit."),
    internal("partita.capacity.unit.egress.events", ConfigType::int64, "4096", range(0, kPerUnitMax), kClusterWide,
             "Records per second that consumers may read with one capacity unit; 0 for no limit."),
    internal("partita.capacity.unit.ingress.bytes", ConfigType::int64, "1000000", range(0, kPerUnitMax), kClusterWide,
             "Bytes of records per second that producers may send with one capacity unit; 0 for no limit."),
    internal("partita.capacity.unit.ingress.events", ConfigType::int64, "1000", range(0, kPerUnitMax), kClusterWide,
             "Records per second that producers may send with one capacity unit; 0 for no limit."),
    internal("partita.capacity.units", ConfigType::int32, "0", range(0, kUnitsMax), kClusterWide,
             "Units of capacity that all topics share: clients wait when traffic exceeds them. 0 for no limit. See "
             "docs/capacity.md."),
    internal(
        "partita.capacity.units.max", ConfigType::int32, "0", range(0, kUnitsMax), kClusterWide,
        "Most capacity units that the broker reaches by itself when clients have to wait; 0 to stay at partita.capacity.units."),
};

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{.broker = kDefinitions};

}  // namespace partita::capacity
