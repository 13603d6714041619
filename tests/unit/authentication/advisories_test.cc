// Tries the attacks from advisories about logins, by their numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "broker/authentication/crypto.h"
#include "broker/authentication/plain.h"
#include "broker/authentication/scram.h"
#include "tests/support/processor_time.h"

namespace partita::authentication {
namespace {

using std::chrono::nanoseconds;

TEST(LoginAdvisories, Cve2021_38153_APasswordIsComparedToItsEndWhereverItDiffers) {
    const std::string right(8'000'000, 'x');
    const PlainUsers users{{"user", right}};
    const auto token_that_differs_at = [&](std::size_t place) {
        std::string wrong = right;
        wrong[place] = 'y';
        return plain_token("user", wrong);
    };
    const std::array tokens{token_that_differs_at(0), token_that_differs_at(right.size() - 1)};
    std::array best{nanoseconds::max(), nanoseconds::max()};
    // The test takes turns and keeps the best of many times: other programs use the caches, too.
    for (int each = 0; each < 30; ++each) {
        for (std::size_t which = 0; which < tokens.size(); ++which) {
            const auto begin = test::processor_time_of_thread();
            EXPECT_FALSE(check_plain(users, nullptr, tokens[which]));
            best[which] = std::min(best[which], test::processor_time_of_thread() - begin);
        }
    }
    // A comparison that ends at the first difference looks at one byte of eight million. In both cases the search for the ends of
    // the token's parts takes some time, too, but little.
    EXPECT_GT(best[0], best[1] / 2);
    EXPECT_GT(best[1], best[0] / 2);
}

// The message that librdkafka before 2.6.1 sends: its own nonce stands in front once more, with a proof that is right for it.
TEST(LoginAdvisories, Cve2024_56128_AProofHoldsForTheWholeNonceThatTheServerGave) {
    const auto finish = [](std::string_view final_nonce) {
        const std::string first_bare = "n=user,r=clientnonce";
        ScramServer server(Hash::sha_256);
        const auto first = server.begin(*parse_scram_first("n,," + first_bare),
                                        make_scram_credential(Hash::sha_256, "pencil", "salt", 4096), "servernonce");
        EXPECT_TRUE(first);
        const std::string without_proof = "c=biws,r=" + std::string(final_nonce);
        const std::string salted = salted_password(Hash::sha_256, "pencil", "salt", 4096);
        const std::string client_key = keyed_digest(Hash::sha_256, salted, "Client Key");
        const std::string signature =
            keyed_digest(Hash::sha_256, digest(Hash::sha_256, client_key), first_bare + "," + *first + "," + without_proof);
        std::string proof = client_key;
        for (std::size_t at = 0; at < proof.size(); ++at) {
            proof[at] = static_cast<char>(proof[at] ^ signature[at]);
        }
        return server.finish(without_proof + ",p=" + to_base64(proof)).has_value();
    };
    EXPECT_TRUE(finish("clientnonceservernonce"));
    EXPECT_FALSE(finish("clientnonceclientnonceservernonce"));
    EXPECT_FALSE(finish("clientnonce"));
    EXPECT_FALSE(finish("servernonce"));
    EXPECT_FALSE(finish("clientnonceservernonce2"));
}

}  // namespace
}  // namespace partita::authentication
