#include <string>
#include <vector>

#include "broker/authentication/connection_string.h"
#include "broker/authentication/jaas.h"
#include "broker/authentication/login_exchange.h"
#include "broker/authentication/oauth_bearer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"

/// Feeds the parsers of what unauthenticated clients send, and of the texts beside it: JAAS lines, key sets, tokens, and whole
/// logins.
namespace {

using namespace partita;
using namespace partita::authentication;

enum class Input : std::uint8_t {
    jaas,
    key_set,
    unsecured_token,
    signed_token,
    plain,
    scram_256,
    scram_512,
    bearer,
    scram_client,
    connection_string,
    access_keys
};
constexpr std::uint8_t kInputs = 11;
constexpr Now kNow{{1'000}, {1'800'000'000'000}};
constexpr std::string_view kKeys =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","alg":"ES256"}]})";

const KeySet& fuzz_keys() {
    static const KeySet keys = KeySet::parse(kKeys).value();
    return keys;
}

class OneUser final : public CredentialStore {
  public:
    std::optional<ScramCredential> of_user(Hash hash, std::string_view user) const override {
        if (user != "user") {
            return std::nullopt;
        }
        ScramCredential& known = hash == Hash::sha_256 ? known_256_ : known_512_;
        if (known.iterations == 0) {
            known = make_scram_credential(hash, "pencil", "salt", 4096);
        }
        return known;
    }
    std::optional<TokenCredential> of_token(Hash, std::string_view) const override { return std::nullopt; }

  private:
    mutable ScramCredential known_256_;
    mutable ScramCredential known_512_;
};

std::shared_ptr<const LoginSettings> fuzz_settings() {
    static const auto settings = [] {
        LoginSettings made;
        made.users = {{"user", "pencil"}};
        made.access_keys = AccessKeys{{"user", {"key"}}};
        made.tokens = UnsecuredTokens{};
        for (const Mechanism each :
             {Mechanism::plain, Mechanism::scram_sha_256, Mechanism::scram_sha_512, Mechanism::oauth_bearer}) {
            made.offers.push_back({each, 1000});
        }
        return std::make_shared<const LoginSettings>(std::move(made));
    }();
    return settings;
}

/// Checks that a client without proof has no principal, and that a client with proof is a known user.
void check_login(Mechanism mechanism, fuzz::Pieces pieces) {
    static const OneUser credentials;
    LoginExchange exchange(fuzz_settings());
    FUZZ_CHECK(!exchange.refuse(ApiKey::sasl_handshake));
    FUZZ_CHECK(!exchange.handshake(pieces.next_byte() % 2, mechanism_name(mechanism)).end);
    for (int step = 0; step < 8 && !pieces.empty() && !exchange.is_complete(); ++step) {
        const auto answer = exchange.token(as_text(pieces.next()), {kNow, "servernonce", credentials});
        FUZZ_CHECK(answer.end.has_value() == (answer.error != ErrorCode::none));
        FUZZ_CHECK(answer.end.has_value() || answer.bytes.size() < 1u << 20);
        if (answer.end) {
            break;
        }
    }
    FUZZ_CHECK(exchange.is_complete() == (exchange.principal() != nullptr));
    if (exchange.principal() && mechanism != Mechanism::oauth_bearer) {
        FUZZ_CHECK(exchange.principal()->text() == "User:user");
    }
}

void check_jaas(std::string_view text) {
    for (const std::string& file : {std::string(text), "KafkaServer {" + std::string(text) + "};"}) {
        const auto sections = parse_jaas_file(file);
        FUZZ_CHECK(sections || (!sections.error().message.empty() && sections.error().line >= 1 && sections.error().column >= 1));
    }
    const auto modules = parse_jaas(text);
    if (!modules) {
        FUZZ_CHECK(!modules.error().message.empty() && modules.error().line >= 1 && modules.error().column >= 1);
        return;
    }
    std::size_t bytes = 0;
    for (const LoginModule& module : *modules) {
        for (const auto& [name, value] : module.options) {
            bytes += value.size();
        }
    }
    FUZZ_CHECK(!modules->empty() && bytes <= text.size());
}

void check_connection_string_text(std::string_view text) {
    const auto parsed = parse_connection_string(text);
    if (!parsed) {
        FUZZ_CHECK(!parsed.error().empty());
        return;
    }
    for (const std::string& part : {parsed->host, parsed->key_name, parsed->key}) {
        FUZZ_CHECK(!part.empty() && part.size() <= kConnectionStringPartBytesMax && text.contains(part));
    }
    FUZZ_CHECK(!parsed->topic || text.contains("EntityPath=" + *parsed->topic));
}

void check_access_keys(std::string_view text) {
    const auto keys = parse_access_keys(text);
    FUZZ_CHECK(keys ? !keys->empty() && keys->size() <= kAccessKeysMax : !keys.error().empty());
}

std::vector<std::byte> login_seed(Input input, std::initializer_list<std::string_view> pieces) {
    std::vector<std::byte> bytes{static_cast<std::byte>(input), std::byte{1}};
    for (const std::string_view piece : pieces) {
        fuzz::Pieces::append(bytes, as_bytes(piece));
    }
    return bytes;
}

std::vector<std::byte> text_seed(Input input, std::string_view text) {
    std::vector<std::byte> bytes{static_cast<std::byte>(input)};
    for (const char c : text) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    return bytes;
}

std::string unsecured_token(std::string_view claims) {
    std::string token;
    for (const std::string_view part : {std::string_view(R"({"alg":"none"})"), claims}) {
        token += to_base64(part);
        token.erase(token.find_last_not_of('=') + 1);
        token += ".";
    }
    return token;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes input = std::as_bytes(std::span(data, size)).subspan(1);
    const std::string_view text = as_text(input);
    switch (static_cast<Input>(data[0] % kInputs)) {
        case Input::jaas:
            check_jaas(text);
            break;
        case Input::key_set:
            if (const auto keys = KeySet::parse(text)) {
                FUZZ_CHECK(keys->keys().size() <= kKeysMax);
            }
            break;
        case Input::unsecured_token:
            if (const auto token = check_unsecured_token({}, text, kNow.wall)) {
                FUZZ_CHECK(!token->principal.empty());
            }
            break;
        case Input::signed_token:
            // No client here can sign.
            FUZZ_CHECK(!check_signed_token({.keys = fuzz_keys()}, text, kNow.wall));
            break;
        case Input::plain:
            check_login(Mechanism::plain, fuzz::Pieces(input));
            break;
        case Input::scram_256:
            check_login(Mechanism::scram_sha_256, fuzz::Pieces(input));
            break;
        case Input::scram_512:
            check_login(Mechanism::scram_sha_512, fuzz::Pieces(input));
            break;
        case Input::bearer:
            check_login(Mechanism::oauth_bearer, fuzz::Pieces(input));
            break;
        case Input::connection_string:
            check_connection_string_text(text);
            break;
        case Input::access_keys:
            check_access_keys(text);
            break;
        case Input::scram_client: {
            // Iterations cost time. A real server may ask for them, but a fuzzer need not spend it.
            if (text.find("i=4096") == text.npos) {
                break;
            }
            ScramClient client(Hash::sha_256, "user", "pencil", "nonce");
            if (client.answer(text)) {
                FUZZ_CHECK(!client.check(text));
            }
            break;
        }
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    return {
        text_seed(Input::jaas,
                  "org.apache.kafka.common.security.plain.PlainLoginModule required user_a=\"b\\n\\101\" c='d' // e\n;"),
        text_seed(Input::key_set, kKeys),
        text_seed(Input::unsecured_token, unsecured_token(R"({"sub":"user","iat":1,"exp":1800000060,"scope":["a","b"]})")),
        text_seed(
            Input::signed_token,
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
        login_seed(Input::plain, {std::string_view("\0user\0pencil", 12)}),
        login_seed(Input::scram_256,
                   {"n,,n=user,r=clientnonce", "c=biws,r=clientnonceservernonce,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="}),
        login_seed(Input::scram_512, {"n,a=user,n=user,r=clientnonce,tokenauth=true", "c=biws,r=clientnonceservernonce,p="}),
        login_seed(Input::bearer, {bearer_message(unsecured_token(R"({"sub":"user","exp":1})")), "\x01"}),
        login_seed(Input::bearer, {bearer_message(unsecured_token(R"({"sub":"user","exp":1800000060})"))}),
        login_seed(Input::plain,
                   {std::string_view("\0$ConnectionString\0Endpoint=sb://ns/;SharedAccessKeyName=user;SharedAccessKey=key", 81)}),
        text_seed(Input::connection_string,
                  "Endpoint=sb://ns.example.net/;SharedAccessKeyName=user;SharedAccessKey=a2V5==;EntityPath=orders"),
        text_seed(Input::access_keys, "user=a2V5==, other=key"),
        text_seed(Input::access_keys, "user:send+listen=a2V5==,other:manage=key"),
        text_seed(Input::scram_client, "r=nonceservernonce,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
    };
}
