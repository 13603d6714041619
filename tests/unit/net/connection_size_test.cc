// Tests how much memory an idle connection holds: thousands of them are usual, and a further data member is easily added.

#include <gtest/gtest.h>

#include "broker/net/connection.h"

namespace partita::net {
namespace {

// With the counts of its shared_ptr, a connection takes a block of 432 bytes of the C library's heap, whose blocks are multiples
// of 16. The next size is a hundredth more memory for each connection. A reason to need it belongs into docs/performance.md, with
// the new result of `scripts/bench idle`.
TEST(ConnectionSize, IsWhatWasMeasured) { EXPECT_LE(sizeof(Connection), 408U); }

}  // namespace
}  // namespace partita::net
