#include "broker/authentication/jwt.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "broker/authentication/crypto.h"

namespace partita::authentication {
namespace {

constexpr TimestampMs kTokenTime{1'800'000'000'000};

std::string url_base64(std::string_view bytes) {
    std::string text = to_base64(bytes);
    for (char& c : text) {
        c = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    text.erase(text.find_last_not_of('=') + 1);
    return text;
}

// ---- signatures: the examples of RFC 7515 (A.2, A.3) and RFC 8037 (A.4) ----

constexpr std::string_view kExampleClaims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr std::string_view kRsaKey =
    R"({"kty":"RSA","kid":"rsa","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})";
constexpr std::string_view kRsaSignature =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
    "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-"
    "eOkHWEsqtFZESc6BfI7noOPqv"
    "hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
constexpr std::string_view kEcKey =
    R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","alg":"ES256"})";
constexpr std::string_view kEcSignature =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
constexpr std::string_view kEdKey = R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})";
constexpr std::string_view kEdSecret = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

KeySet key_set(std::initializer_list<std::string_view> keys) {
    std::string text = "{\"keys\":[";
    for (const std::string_view key : keys) {
        text += (text.back() == '[' ? "" : ",") + std::string(key);
    }
    auto set = KeySet::parse(text + "]}");
    EXPECT_TRUE(set) << (set ? "" : set.error());
    return set ? *set : KeySet{};
}

bool is_example_signed(const KeySet& keys, std::string_view algorithm, std::string_view header, std::string_view signature,
                       std::optional<std::string_view> id = std::nullopt) {
    return keys.verifies(algorithm, id, std::string(header) + "." + std::string(kExampleClaims),
                         from_base64_url(signature).value());
}

TEST(KeySet, TheExamplesOfTheStandardsAreSignedByTheirKeysAndByNoOther) {
    const KeySet all = key_set({kEdKey, kRsaKey, kEcKey});
    ASSERT_EQ(all.keys().size(), 3u);
    EXPECT_TRUE(is_example_signed(all, "RS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
    EXPECT_TRUE(is_example_signed(all, "ES256", "eyJhbGciOiJFUzI1NiJ9", kEcSignature));
    EXPECT_TRUE(all.verifies(
        "EdDSA", std::nullopt, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        from_base64_url("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg").value()));

    EXPECT_FALSE(is_example_signed(all, "RS256", "eyJhbGciOiJFUzI1NiJ9", kRsaSignature));
    EXPECT_FALSE(is_example_signed(all, "PS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
    EXPECT_FALSE(is_example_signed(all, "ES384", "eyJhbGciOiJFUzI1NiJ9", kEcSignature));
    EXPECT_FALSE(is_example_signed(all, "none", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
    EXPECT_FALSE(is_example_signed(all, "HS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
    EXPECT_FALSE(is_example_signed(all, "ES256", "eyJhbGciOiJFUzI1NiJ9", kEcSignature.substr(0, 84)));
    EXPECT_FALSE(is_example_signed(key_set({kEdKey, kEcKey}), "RS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
    EXPECT_FALSE(is_example_signed(KeySet{}, "RS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature));
}

TEST(KeySet, OnlyKeysOfTheNamedIdAreAsked) {
    const KeySet keys = key_set({kRsaKey});
    EXPECT_TRUE(is_example_signed(keys, "RS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature, "rsa"));
    EXPECT_FALSE(is_example_signed(keys, "RS256", "eyJhbGciOiJSUzI1NiJ9", kRsaSignature, "another"));
}

TEST(KeySet, WhatIsNoKeySetIsRefusedAndStrangeKeysArePassedOver) {
    EXPECT_FALSE(KeySet::parse(""));
    EXPECT_FALSE(KeySet::parse("[]"));
    EXPECT_FALSE(KeySet::parse("{}"));
    EXPECT_FALSE(KeySet::parse(R"({"keys":{}})"));
    EXPECT_FALSE(KeySet::parse("{\"keys\":[" + std::string(40, '[') + std::string(40, ']') + "]}"));
    EXPECT_FALSE(KeySet::parse(std::string(kKeySetBytesMax + 1, ' ')));
    std::string many = "{\"keys\":[1";
    for (std::size_t i = 1; i < kKeysMax; ++i) {
        many += ",1";
    }
    EXPECT_TRUE(KeySet::parse(many + "]}"));
    EXPECT_FALSE(KeySet::parse(many + ",1]}"));
    EXPECT_TRUE(
        key_set(
            {R"({"kty":"oct","k":"c2VjcmV0"})", R"({"kty":"RSA","n":"AQAB","e":"AQAB"})",
             R"({"kty":"EC","crv":"P-256","x":"AA","y":"AA"})",
             R"({"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})",
             R"({"kty":7})", "1"})
            .keys()
            .empty());
}

// ---- tokens with a signature ----

std::string signed_token(std::string_view claims, std::string_view header = R"({"alg":"EdDSA"})") {
    const std::string secret = from_base64_url(kEdSecret).value();
    EVP_PKEY* key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(secret.data()),
                                                 secret.size());
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const std::string message = url_base64(header) + "." + url_base64(claims);
    std::string signature(64, '\0');
    std::size_t size = signature.size();
    EXPECT_EQ(EVP_DigestSignInit(context, nullptr, nullptr, nullptr, key), 1);
    EXPECT_EQ(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                             reinterpret_cast<const unsigned char*>(message.data()), message.size()),
              1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return message + "." + url_base64(signature);
}

std::string verdict_on(const SignedTokens& rules, std::string_view claims, std::string_view header = R"({"alg":"EdDSA"})") {
    const auto verdict = check_signed_token(rules, signed_token(claims, header), kTokenTime);
    return verdict ? verdict->principal : "refused: " + verdict.error().reason;
}

SignedTokens ed_rules() { return {.keys = key_set({kEdKey})}; }

TEST(SignedToken, ItsSubjectIsThePrincipalUntilItExpires) {
    const auto verdict = check_signed_token(
        ed_rules(), signed_token(R"({"sub":" alice ","iat":1799999990,"exp":1800000060,"scope":["a","b"]})"), kTokenTime);
    ASSERT_TRUE(verdict) << verdict.error().reason;
    EXPECT_EQ(verdict->principal, "alice");
    EXPECT_EQ(verdict->expires.value, 1'800'000'060'000);
}

/// Keys that a test changes.
class ChangingKeys final : public KeySource {
  public:
    std::shared_ptr<const KeySet> keys() const override { return set; }
    void miss(std::string_view key_id) override { missed.emplace_back(key_id); }

    std::shared_ptr<const KeySet> set = std::make_shared<const KeySet>();
    std::vector<std::string> missed;
};

TEST(SignedToken, AKeyThatIsNotAmongTheFetchedOnesIsMissedAndKnownWhenItIsThere) {
    const auto source = std::make_shared<ChangingKeys>();
    SignedTokens rules;
    rules.source = source;
    constexpr std::string_view kClaims = R"({"sub":"alice","iat":1,"exp":1800000060})";
    constexpr std::string_view kHeader = R"({"alg":"EdDSA","kid":"new"})";
    EXPECT_NE(verdict_on(rules, kClaims, kHeader), "alice");
    EXPECT_EQ(source->missed, std::vector<std::string>{"new"});
    // The token does not say which key it means.
    EXPECT_NE(verdict_on(rules, kClaims), "alice");
    EXPECT_EQ(source->missed.size(), 1u);
    std::string key(kEdKey);
    key.insert(key.size() - 1, R"(,"kid":"new")");
    source->set = std::make_shared<const KeySet>(key_set({key}));
    EXPECT_EQ(verdict_on(rules, kClaims, kHeader), "alice");
    // A known key that did not sign does not count as missed.
    std::string token = signed_token(kClaims, kHeader);
    token[token.size() - 3] = token[token.size() - 3] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(check_signed_token(rules, token, kTokenTime));
    EXPECT_EQ(source->missed.size(), 1u);
}

TEST(SignedToken, ASignatureOfSomebodyElseCountsForNothing) {
    std::string token = signed_token(R"({"sub":"alice","iat":1,"exp":1800000060})");
    EXPECT_TRUE(check_signed_token(ed_rules(), token, kTokenTime));
    token[token.size() - 4] = token[token.size() - 4] == 'A' ? 'B' : 'A';
    const auto verdict = check_signed_token(ed_rules(), token, kTokenTime);
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().json(), R"({"status":"invalid_token"})");
    const std::string unsigned_token =
        url_base64(R"({"alg":"none"})") + "." + url_base64(R"({"sub":"alice","iat":1,"exp":1800000060})") + ".";
    EXPECT_FALSE(check_signed_token(ed_rules(), unsigned_token, kTokenTime));
    EXPECT_EQ(
        verdict_on(ed_rules(), R"({"sub":"alice","iat":1,"exp":1800000060})", R"({"alg":"EdDSA","crit":["b64"],"b64":false})"),
        "refused: the token has critical header parameters");
}

TEST(SignedToken, TheClocksMayDifferByTheSkewAndNoMore) {
    SignedTokens rules = ed_rules();
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1799999971})"), "a");
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1799999970})"), "refused: The JWT is no longer valid");
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1800000900,"nbf":1800000030})"), "a");
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1800000900,"nbf":1800000031})"), "refused: The JWT is not yet valid");
    rules.clock_skew_seconds = 0;
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1800000000})"), "refused: The JWT is no longer valid");
}

TEST(SignedToken, TimesSubjectAndScopesMustBeThereAndInOrder) {
    const SignedTokens rules = ed_rules();
    for (const std::string_view claims :
         {R"({"sub":"a","exp":1800000060})", R"({"sub":"a","iat":1})", R"({"iat":1,"exp":1800000060})",
          R"({"sub":" ","iat":1,"exp":1800000060})", R"({"sub":7,"iat":1,"exp":1800000060})",
          R"({"sub":"a","iat":"1","exp":1800000060})", R"({"sub":"a","iat":1800000070,"exp":1800000060})",
          R"({"sub":"a","iat":1,"exp":1800000060,"scope":["x","x"]})", R"({"sub":"a","iat":1,"exp":1800000060,"scope":""})", "[]",
          "x"}) {
        EXPECT_TRUE(verdict_on(rules, claims).starts_with("refused")) << claims;
    }
    SignedTokens renamed = ed_rules();
    renamed.subject_claim = "client_id";
    EXPECT_EQ(verdict_on(renamed, R"({"client_id":"app","iat":1,"exp":1800000060})"), "app");
}

TEST(SignedToken, AudienceAndIssuerMustBeTheExpectedOnes) {
    SignedTokens rules = ed_rules();
    constexpr std::string_view kFor = R"({"sub":"a","iat":1,"exp":1800000060,"aud":["x","kafka"],"iss":"https://issuer"})";
    // A broker that expects no audience refuses a token that names one: jose4j's rule.
    EXPECT_EQ(verdict_on(rules, kFor), "refused: the token is for another audience (aud)");
    rules.audience = {"kafka", "other"};
    EXPECT_EQ(verdict_on(rules, kFor), "a");
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1800000060,"aud":"kafka"})"), "a");
    EXPECT_EQ(verdict_on(rules, R"({"sub":"a","iat":1,"exp":1800000060})"), "refused: No Audience (aud) claim present.");
    rules.issuer = "https://issuer";
    EXPECT_EQ(verdict_on(rules, kFor), "a");
    rules.issuer = "https://another";
    EXPECT_EQ(verdict_on(rules, kFor), "refused: the token is of another issuer (iss)");
}

// ---- tokens without one ----

std::string unsecured(std::string_view claims, std::string_view header = R"({"alg":"none"})") {
    return to_base64(header) + "." + to_base64(claims) + ".";
}

std::string unsecured_verdict(const UnsecuredTokens& rules, std::string_view token) {
    const auto verdict = check_unsecured_token(rules, token, kTokenTime);
    return verdict ? verdict->principal : verdict.error().is_silent ? "silent" : verdict.error().json();
}

TEST(UnsecuredToken, IsTakenUntilItExpires) {
    const auto verdict =
        check_unsecured_token({}, unsecured(R"({"sub":"alice","iat":1799999990,"exp":1800000000.5})"), kTokenTime);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->principal, "alice");
    EXPECT_EQ(verdict->expires.value, 1'800'000'000'500);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"alice","exp":1800000000})")), R"({"status":"invalid_token"})");
    EXPECT_EQ(unsecured_verdict({.clock_skew_ms = 1}, unsecured(R"({"sub":"alice","exp":1800000000})")), "alice");
}

TEST(UnsecuredToken, WhatKafkaRefusesIsRefused) {
    constexpr std::string_view kInvalid = R"({"status":"invalid_token"})";
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"exp":1800000060})")), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a"})")), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a","exp":"1800000060"})")), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a","exp":1800000060,"iat":1800000001})")), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a","exp":1800000060})", R"({"alg":"RS256"})")), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a","exp":1800000060})") + "c2ln"), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, "a.b"), kInvalid);
    EXPECT_EQ(unsecured_verdict({}, unsecured("[1]")), kInvalid);
    // Java's null pointer.
    EXPECT_EQ(unsecured_verdict({}, unsecured(R"({"sub":"a","exp":1800000060})", "{}")), "silent");
}

TEST(UnsecuredToken, ScopeAndClaimNamesAreTheOptions) {
    const UnsecuredTokens rules{.principal_claim = "name", .scope_claim = "scp", .required_scope = {"x", "y"}};
    EXPECT_EQ(unsecured_verdict(rules, unsecured(R"({"name":"a","exp":1800000060,"scp":["y"," x "]})")), "a");
    EXPECT_EQ(unsecured_verdict(rules, unsecured(R"({"name":"a","exp":1800000060,"scp":"x"})")),
              R"({"status":"insufficient_scope", "scope":"[x, y]"})");
}

}  // namespace
}  // namespace partita::authentication
