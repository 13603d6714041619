// `partita.test.bench.enable`.

#include "broker/config/addition.h"

#include "broker/addons/faults/config/fault_config.h"
#include "broker/config/definition_helpers.h"

namespace partita::faults {
namespace {

// The short names of the definition tables.
using namespace config;
using config::internal;

constexpr ConfigDefinition kDefinitions[] = {
    internal(kTestBenchConfig, ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether this broker has a test bench, with which people make it fail on purpose and move its clock over HTTP. See "
             "docs/test-bench.md."),
};

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{.broker = kDefinitions};

}  // namespace partita::faults
