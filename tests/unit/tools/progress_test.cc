// Tests what a user reads while waiting at a terminal.

#include "broker/tools/progress.h"
#include "broker/client/tcp_network.h"

#include <gtest/gtest.h>

namespace partita::tools {
namespace {

TEST(Progress, SaysHowManyHowMuchAndHowFast) {
    EXPECT_EQ(progress_text(12'000, 3 << 20, 2000), "12000 records, 3.0 MiB, 1.5 MiB/s");
    EXPECT_EQ(progress_text(1, 10, 0), "1 record, 10 B, 9.8 KiB/s");
}

TEST(Progress, NothingIsSaidWhereNobodyLooks) {
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    client::TcpNetwork network;
    {
        Progress progress({network, file, file, file}, file);
        for (int i = 0; i < 1000; ++i) {
            progress.show(i, 1);
        }
    }
    EXPECT_EQ(std::ftell(file), 0);
    std::fclose(file);
}

}  // namespace
}  // namespace partita::tools
