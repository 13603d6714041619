#include "broker/authentication/scram.h"

#include <gtest/gtest.h>

namespace partita::authentication {
namespace {

struct PublishedLogin {
    Hash hash;
    std::string server_nonce;
    std::string salt;
    std::string client_final;
    std::string server_final;
};

constexpr std::string_view kPublishedFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";

/// RFC 7677, section 3.
const PublishedLogin kRfc7677{
    .hash = Hash::sha_256,
    .server_nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
    .salt = "W22ZaJ0SNY7soEsUEjb6gQ==",
    .client_final = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    .server_final = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
};

/// The XMPP community's test vector, which follows RFC 7677 with another hash.
const PublishedLogin kSha512{
    .hash = Hash::sha_512,
    .server_nonce = "02431b08-2f89-4bad-a4e6-80c0564ec865",
    .salt = "Yin2FuHTt/M0kJWb0t9OI32n2VmOGi3m+JfjOvuDF88=",
    .client_final =
        "c=biws,r=rOprNGfwEbeRWgbNEkqO02431b08-2f89-4bad-a4e6-80c0564ec865,p=Hc5yec3NmCD7t+kFRw4/"
        "3yD6/F3SQHc7AVYschRja+Bc3sbdjlA0eH1OjJc0DD4ghn1tnXN5/Wr6qm9xmaHt4A==",
    .server_final = "v=BQuhnKHqYDwQWS5jAw4sZed+C9KFUALsbrq81bB0mh+bcUUbbMPNNmBIupnS2AmyyDnG5CTBQtkjJ9kyY4kzmw==",
};

void plays_as_published(const PublishedLogin& published) {
    const std::string server_first = "r=rOprNGfwEbeRWgbNEkqO" + published.server_nonce + ",s=" + published.salt + ",i=4096";
    const auto first = parse_scram_first(kPublishedFirst);
    ASSERT_TRUE(first);
    ScramServer server(published.hash);
    const auto credential = make_scram_credential(published.hash, "pencil", from_base64(published.salt).value(), 4096);
    EXPECT_EQ(server.begin(*first, credential, published.server_nonce).value(), server_first);
    EXPECT_EQ(server.finish(published.client_final).value(), published.server_final);

    ScramClient client(published.hash, "user", "pencil", "rOprNGfwEbeRWgbNEkqO");
    EXPECT_EQ(client.first_message(), kPublishedFirst);
    EXPECT_EQ(client.answer(server_first).value(), published.client_final);
    EXPECT_TRUE(client.check(published.server_final));
}

TEST(Scram, Sha256IsAsInRfc7677) { plays_as_published(kRfc7677); }
TEST(Scram, Sha512IsAsPublished) { plays_as_published(kSha512); }

/// Runs both halves against each other. Returns what the client is told, or the reason of a refusal.
std::expected<std::string, std::string> scram_login(std::string_view user, std::string_view known, std::string_view typed,
                                                    std::int32_t iterations = 4096) {
    ScramClient client(Hash::sha_256, std::string(user), std::string(typed), "clientnonce");
    const auto first = parse_scram_first(client.first_message());
    if (!first) {
        return std::unexpected(first.error().reason);
    }
    EXPECT_EQ(first->user, user);
    ScramServer server(Hash::sha_256);
    const auto challenge = server.begin(*first, make_scram_credential(Hash::sha_256, known, "salt", iterations), "servernonce");
    if (!challenge) {
        return std::unexpected(challenge.error().reason);
    }
    const auto proof = client.answer(*challenge);
    if (!proof) {
        return std::unexpected(proof.error());
    }
    const auto last = server.finish(*proof);
    if (!last) {
        return std::unexpected(last.error().reason);
    }
    EXPECT_TRUE(client.check(*last));
    return *last;
}

TEST(Scram, NamesWithCommasAndEqualsSignsLogIn) {
    EXPECT_TRUE(scram_login("a,b=c=2C", "s3cret", "s3cret"));
    EXPECT_TRUE(scram_login("alice", "päßword,=", "päßword,="));
}

TEST(Scram, AWrongPasswordIsRefusedAndTheReasonIsHidden) {
    const auto refused = scram_login("alice", "right", "wrong");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), "Invalid client credentials");
}

TEST(Scram, CredentialsWithFewerIterationsThan4096AreRefused) {
    EXPECT_FALSE(scram_login("alice", "s", "s", 4095));
    EXPECT_TRUE(scram_login("alice", "s", "s", 4096));
}

TEST(Scram, FirstMessagesThatKafkasPatternDoesNotMatchAreRefused) {
    for (const std::string_view message :
         {"", "n", "n,", "n,,", "n,,n=user", "n,,n=,r=nonce", "n,,n=user,r=", "y,,n=user,r=nonce", "p=tls-unique,,n=user,r=nonce",
          "n,,n=us=er,r=nonce", "n,,n=user,r=non ce", "n,a=,n=user,r=nonce", "n,,r=nonce,n=user", "n,,n=user,r=nonce,",
          "n,,n=user,r=nonce,=v", "n,,n=user,r=nonce,k3y=v", "n,,n=user,r=nonce,key=", "n,,n=us\xc3\xa9r,r=nonce",
          "n,,m=,n=user,r=nonce"}) {
        EXPECT_FALSE(parse_scram_first(message)) << message;
    }
}

TEST(Scram, AFirstMessageMayNameAnIdentityAndExtensions) {
    const auto first = parse_scram_first("n,a=admin,n=ad=2Cmin=3D,r=nonce,tokenauth=TRUE,other=x=y");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->authorization_id, "admin");
    EXPECT_EQ(first->user, "ad,min=");
    EXPECT_TRUE(first->token_authentication);
    EXPECT_EQ(first->bare, "n=ad=2Cmin=3D,r=nonce,tokenauth=TRUE,other=x=y");
    EXPECT_FALSE(parse_scram_first("n,,n=u,r=n,tokenauth=yes")->token_authentication);
}

TEST(Scram, AMessageWithMoreAttributesThanTheLimitIsRefused) {
    std::string message = "n,,n=user,r=nonce";
    for (int i = 0; i < 28; ++i) {
        message += ",key=v";
    }
    EXPECT_TRUE(parse_scram_first(message));  // 32 in all
    EXPECT_FALSE(parse_scram_first(message + ",key=v"));
}

TEST(Scram, NobodyLogsInForSomebodyElse) {
    ScramServer server(Hash::sha_256);
    const auto begun = server.begin(*parse_scram_first("n,a=admin,n=alice,r=nonce"),
                                    make_scram_credential(Hash::sha_256, "s", "salt", 4096), "x");
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().kind, LoginFailure::Kind::told);
    EXPECT_EQ(begun.error().text, "Authentication failed: Client requested an authorization id that is different from username");
}

TEST(Scram, AFinalMessageThatWasRecordedElsewhereIsRefused) {
    ScramServer server(Hash::sha_256);
    const auto credential = make_scram_credential(Hash::sha_256, "pencil", from_base64(kRfc7677.salt).value(), 4096);
    ASSERT_TRUE(server.begin(*parse_scram_first(kPublishedFirst), credential, "anothernonce"));
    const auto replayed = server.finish(kRfc7677.client_final);
    ASSERT_FALSE(replayed);
    EXPECT_EQ(replayed.error().reason, "Invalid client nonce in the final client message.");
}

TEST(Scram, FinalMessagesThatAreMalformedAreRefused) {
    for (const std::string_view message :
         {"", "c=biws", "c=biws,r=nonce", "c=biws,r=nonce,p=x", "c=b,r=nonce,p=eHg=", "r=nonce,c=biws,p=eHg=", "c=biws,r=,p=eHg=",
          "c=biws,r=nonce,p=eHg=,x=y", "c=biws,r=nonce,=,p=eHg="}) {
        EXPECT_FALSE(parse_scram_final(message)) << message;
    }
    EXPECT_EQ(parse_scram_final("c=biws,r=nonce,ext=1,p=eHg=")->without_proof, "c=biws,r=nonce");
}

TEST(Scram, AClientNoticesAServerThatDoesNotKnowThePassword) {
    ScramClient client(Hash::sha_256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO");
    ASSERT_TRUE(client.answer("r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
    EXPECT_FALSE(client.check(kRfc7677.server_final));
    EXPECT_FALSE(client.check("v="));
    EXPECT_EQ(client.check("e=other-error").error(), "the broker says: other-error");
    EXPECT_FALSE(client.answer("r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
    EXPECT_FALSE(client.answer("r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0"));
    EXPECT_FALSE(client.answer("r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=10000001"));
}

TEST(Scram, TheCatalogsTextOfACredentialIsRead) {
    const auto credential = parse_scram_credential("salt=c2FsdA==,stored_key=a2V5,server_key=c2Vydg==,iterations=8192");
    ASSERT_TRUE(credential);
    EXPECT_EQ(credential->salt, "salt");
    EXPECT_EQ(credential->stored_key, "key");
    EXPECT_EQ(credential->server_key, "serv");
    EXPECT_EQ(credential->iterations, 8192);
    EXPECT_FALSE(parse_scram_credential(""));
    EXPECT_FALSE(parse_scram_credential("salt=c2FsdA==,stored_key=a2V5,iterations=8192"));
    EXPECT_FALSE(parse_scram_credential("salt=c2FsdA==,stored_key=a2V5,server_key=c2Vydg==,iterations=x"));
}

TEST(Crypto, Base64IsReadAsJavaReadsIt) {
    EXPECT_EQ(from_base64("").value(), "");
    EXPECT_EQ(from_base64("YQ==").value(), "a");
    EXPECT_EQ(from_base64("YQ").value(), "a");
    EXPECT_EQ(from_base64("YWI=").value(), "ab");
    EXPECT_EQ(from_base64("YWJj").value(), "abc");
    EXPECT_EQ(from_base64_url("-_8").value(), "\xfb\xff");
    for (const std::string_view text : {"Y", "YQ=", "YWJj=", "YWJj==", "YQ==YQ==", "Y=Q=", "====", "-_8", "Y Q="}) {
        EXPECT_FALSE(from_base64(text)) << text;
    }
    EXPECT_EQ(to_base64("ab"), "YWI=");
}

TEST(Crypto, TextsOfAnotherLengthAreNeverEqual) {
    EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
    EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
    EXPECT_FALSE(equal_in_constant_time("", "a"));
    EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace partita::authentication
