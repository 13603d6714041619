#include "broker/authentication/delegation_token.h"

#include <gtest/gtest.h>

#include "broker/authentication/crypto.h"
#include "broker/authentication/scram.h"

namespace partita::authentication {
namespace {

// Expected value from Python's hmac: base64(hmac.digest(b"secret", b"MkQmVDVgTGGkMvsm3iCfmA", "sha512")).
TEST(DelegationToken, HasAnHmacThatFollowsFromItsIdAndTheSecret) {
    EXPECT_EQ(to_base64(token_hmac("secret", "MkQmVDVgTGGkMvsm3iCfmA")),
              "gyoej6I3kX44o6QsspBHDFR77D3+s6nEy/UAYDd8J9Bb685sPFbTI+ikTdJ5"
              "vTn7BFrmi4wWqRA501EPnWWFBg==");
    EXPECT_NE(token_hmac("another", "MkQmVDVgTGGkMvsm3iCfmA"), token_hmac("secret", "MkQmVDVgTGGkMvsm3iCfmA"));
}

TEST(DelegationToken, IsThePasswordOfItsBearer) {
    const std::string hmac = token_hmac("secret", "id");
    for (const Hash hash : {Hash::sha_256, Hash::sha_512}) {
        for (const bool knows_it : {true, false}) {
            ScramClient client(hash, "id", knows_it ? to_base64(hmac) : hmac, "nonce", true);
            const auto first = parse_scram_first(client.first_message());
            ASSERT_TRUE(first && first->token_authentication);
            ScramServer server(hash);
            const auto challenge = server.begin(*first, token_credential(hash, hmac, "salt"), "more");
            ASSERT_TRUE(challenge);
            const auto proof = client.answer(*challenge);
            ASSERT_TRUE(proof);
            EXPECT_EQ(server.finish(*proof).has_value(), knows_it);
        }
    }
}

}  // namespace
}  // namespace partita::authentication
