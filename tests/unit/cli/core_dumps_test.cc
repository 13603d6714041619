#include "broker/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace partita {
namespace {

bool holds(std::vector<std::string> overrides) {
    const auto loaded = config::load_broker_config({.overrides = std::move(overrides)});
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return loaded && holds_secrets(loaded->config);
}

TEST(CoreDumps, PasswordsKeysAndTokensAreSecrets) {
    EXPECT_FALSE(holds({}));
    EXPECT_FALSE(holds({"num.partitions=3", "partita.http.token="}));
    EXPECT_TRUE(holds({"partita.http.token=t"}));
    EXPECT_TRUE(holds({"partita.http.token.file=/a"}));
    EXPECT_TRUE(holds({"partita.scram.users.file=/a"}));
    EXPECT_TRUE(holds({"delegation.token.secret.key=k"}));
    EXPECT_TRUE(holds({"listener.name.a.ssl.keystore.password=p"}));
    EXPECT_TRUE(holds({"listener.name.a.plain.sasl.jaas.config=x"}));
    EXPECT_TRUE(holds({"listeners=PLAINTEXT://localhost:9092,SSL://localhost:9093"}));
}

TEST(CoreDumps, NoneIsWrittenOfAProcessThatForbidsThem) {
    // A child forbids its own core dumps; the people who run the tests decide about those of this process.
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::_exit(forbid_core_dumps() && ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace partita
