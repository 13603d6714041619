#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/jks.h"
#include "broker/tls/pem.h"
#include "broker/tls/pkcs12.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"
#include "tests/unit/tls/stores.h"

/// Feeds key stores as they come from disks and configs.
namespace {

using namespace partita;
using namespace partita::tls;

enum class Input : std::uint8_t { jks, jks_without_password, pkcs12, pem_key, pem_certificates };
constexpr std::uint8_t kInputs = 5;
constexpr StorePasswords kPasswords{.store = "store-secret", .key = "key-secret"};

/// An error repeats the names that the store gives its entries, but no password. A store may contain a password as such a name.
bool tells_password(std::string_view error, Bytes input) {
    return std::ranges::any_of(
        std::array{std::string_view("store-secret"), std::string_view("key-secret")},
        [&](std::string_view password) { return error.contains(password) && !as_text(input).contains(password); });
}

void check(const std::expected<StoreContents, std::string>& contents, StoreUse use, Bytes input) {
    if (!contents) {
        FUZZ_CHECK(!contents.error().empty() && !tells_password(contents.error(), input));
        return;
    }
    const std::size_t bytes = input.size();
    // Each certificate takes more than one byte.
    FUZZ_CHECK(contents->trusted.size() <= bytes && contents->keys.size() <= bytes);
    FUZZ_CHECK(use == StoreUse::keys || contents->keys.empty());
    for (const KeyEntry& entry : contents->keys) {
        FUZZ_CHECK(entry.key != nullptr && !entry.chain.empty());
    }
}

std::vector<std::byte> seed(Input input, std::string_view content) {
    std::vector<std::byte> bytes{static_cast<std::byte>(input)};
    for (const char c : content) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Bytes input = std::as_bytes(std::span(data, size)).subspan(1);
    switch (static_cast<Input>(data[0] % kInputs)) {
        case Input::jks:
            check(parse_jks(input, kPasswords, StoreUse::keys), StoreUse::keys, input);
            break;
        case Input::jks_without_password:
            check(parse_jks(input, {.store = {}, .key = "key-secret"}, StoreUse::keys), StoreUse::keys, input);
            check(parse_jks(input, {}, StoreUse::trust), StoreUse::trust, input);
            break;
        case Input::pkcs12:
            // Without its password the parser hashes nothing, which saves time that a fuzzer need not spend.
            check(parse_pkcs12(input, {}, StoreUse::trust), StoreUse::trust, input);
            break;
        case Input::pem_key:
            if (const auto key = parse_pem_key(as_text(input), std::nullopt)) {
                FUZZ_CHECK(*key != nullptr);
            }
            break;
        case Input::pem_certificates:
            if (const auto found = parse_pem_certificates(as_text(input))) {
                FUZZ_CHECK(!found->empty());
            }
            break;
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    using partita::test::store_text;
    return {
        seed(Input::jks, store_text("server.jks")),
        seed(Input::jks_without_password, store_text("server.jks")),
        seed(Input::jks_without_password, store_text("trust.jks")),
        seed(Input::pkcs12, store_text("keytool.p12")),
        seed(Input::pkcs12, store_text("openssl-ca.p12")),
        seed(Input::pem_key, store_text("server.key")),
        seed(Input::pem_key, store_text("traditional.key")),
        seed(Input::pem_certificates, store_text("chain.pem")),
    };
}
