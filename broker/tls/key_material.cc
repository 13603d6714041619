#include "broker/tls/key_material.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "broker/tls/jks.h"
#include "broker/tls/pem.h"
#include "broker/tls/pkcs12.h"
#include "protocol/types.h"

namespace partita::tls {
namespace {

using Text = std::optional<std::string>;
using Failure = std::unexpected<std::string>;

constexpr std::string_view kKeyPassword = "ssl.key.password";
constexpr std::string_view kInlineKey = "ssl.keystore.key";
constexpr std::string_view kInlineChain = "ssl.keystore.certificate.chain";
constexpr std::string_view kInlineTrust = "ssl.truststore.certificates";

/// The configs of one of the two stores.
struct StoreNames {
    std::string_view location;
    std::string_view password;
    std::string_view type;
};
constexpr StoreNames kKeyStore{"ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type"};
constexpr StoreNames kTrustStore{"ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type"};

/// As in Java: PEM must be written exactly so, other type names in any case.
enum class StoreType : std::uint8_t { pem, java };

class Loader {
  public:
    explicit Loader(const StoreConfigs& configs) : configs_(configs) {}

    std::expected<std::vector<KeyEntry>, std::string> keys() {
        const Text location = given(kKeyStore.location);
        const Text key = given(kInlineKey);
        const Text chain = given(kInlineChain);
        const auto type = type_of(kKeyStore);
        if (!type) {
            return Failure(type.error());
        }
        if (key || chain) {
            if (auto rule = check_inline(kKeyStore, *type, key ? kInlineKey : kInlineChain); !rule) {
                return Failure(rule.error());
            }
            if (!key || !chain) {
                return Failure(named(key ? kInlineKey : kInlineChain) + " is given without " +
                               named(key ? kInlineChain : kInlineKey));
            }
            return pem_key(kInlineKey, "", *key, kInlineChain, *chain);
        }
        const auto content = content_of(kKeyStore, *type, true);
        if (!content) {
            return Failure(content.error());
        }
        if (!*content) {
            return std::vector<KeyEntry>();
        }
        if (*type == StoreType::pem) {
            return pem_key(kKeyStore.location, *location, **content, kKeyStore.location, **content);
        }
        auto contents = parse_java_store(kKeyStore, *location, **content, StoreUse::keys);
        if (!contents) {
            return Failure(contents.error());
        }
        if (contents->keys.empty()) {
            return Failure(place(kKeyStore.location, *location) + ": it has no private key");
        }
        for (const KeyEntry& entry : contents->keys) {
            if (X509_check_private_key(entry.chain.front().get(), entry.key.get()) != 1) {
                ERR_clear_error();
                return Failure(place(kKeyStore.location, *location) + ": the certificate of key \"" + entry.alias +
                               "\" belongs to another key");
            }
        }
        return std::move(contents->keys);
    }

    std::expected<std::optional<std::vector<Certificate>>, std::string> trusted() {
        const auto type = type_of(kTrustStore);
        if (!type) {
            return Failure(type.error());
        }
        if (const Text text = given(kInlineTrust)) {
            if (auto rule = check_inline(kTrustStore, *type, kInlineTrust); !rule) {
                return Failure(rule.error());
            }
            return pem_certificates(kInlineTrust, "", *text);
        }
        const auto content = content_of(kTrustStore, *type, false);
        if (!content) {
            return Failure(content.error());
        }
        if (!*content) {
            return std::nullopt;
        }
        const std::string location = *given(kTrustStore.location);
        if (*type == StoreType::pem) {
            return pem_certificates(kTrustStore.location, location, **content);
        }
        auto contents = parse_java_store(kTrustStore, location, **content, StoreUse::trust);
        if (!contents) {
            return Failure(contents.error());
        }
        if (contents->trusted.empty()) {
            return Failure(place(kTrustStore.location, location) + ": it has no trusted certificate");
        }
        return std::move(contents->trusted);
    }

  private:
    [[nodiscard]] Text given(std::string_view key) const { return configs_.value(key); }
    [[nodiscard]] std::string named(std::string_view key) const { return configs_.name_of(key); }
    /// Where the error is: "ssl.keystore.location=/etc/kafka/server.jks", or only the config if it contains the text itself.
    [[nodiscard]] std::string place(std::string_view key, const std::string& path) const {
        return path.empty() ? named(key) : named(key) + "=" + path;
    }

    [[nodiscard]] std::expected<StoreType, std::string> type_of(const StoreNames& names) const {
        const std::string type = given(names.type).value_or("JKS");
        std::string upper = type;
        std::ranges::transform(upper, upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
        if (type == "PEM") {
            return StoreType::pem;
        }
        if (upper == "JKS" || upper == "PKCS12") {
            return StoreType::java;
        }
        return Failure(named(names.type) + "=" + printable(type) + ": use PEM, PKCS12 or JKS");
    }

    /// Checks the other configs beside PEM text in a config.
    [[nodiscard]] std::expected<void, std::string> check_inline(const StoreNames& names, StoreType type,
                                                                std::string_view key) const {
        if (type != StoreType::pem) {
            return Failure(named(key) + " is PEM text, but " + named(names.type) + " is not PEM");
        }
        if (given(names.location)) {
            return Failure(named(key) + " and " + named(names.location) + " are both given");
        }
        return check_no_password(names);
    }

    [[nodiscard]] std::expected<void, std::string> check_no_password(const StoreNames& names) const {
        if (!given(names.password)) {
            return {};
        }
        const std::string instead =
            names.password == kKeyStore.password ? "; use " + named(kKeyPassword) + " for the password of a PEM key" : "";
        return Failure(named(names.password) + " is given, but a PEM file has no password" + instead);
    }

    /// The content of a store's file; null if no file is configured.
    [[nodiscard]] std::expected<Text, std::string> content_of(const StoreNames& names, StoreType type,
                                                              bool needs_password) const {
        const Text location = given(names.location);
        if (!location) {
            if (given(names.password)) {
                return Failure(named(names.password) + " is given without " + named(names.location));
            }
            return std::nullopt;
        }
        if (type == StoreType::pem) {
            if (auto rule = check_no_password(names); !rule) {
                return Failure(rule.error());
            }
        } else if (needs_password && !given(names.password)) {
            return Failure(named(names.location) + " is given without " + named(names.password));
        }
        auto content = configs_.read_file(*location);
        if (!content) {
            return Failure(place(names.location, *location) + ": " + content.error());
        }
        return std::move(*content);
    }

    [[nodiscard]] std::expected<StoreContents, std::string> parse_java_store(const StoreNames& names, const std::string& path,
                                                                             const std::string& content, StoreUse use) const {
        const Text password = given(names.password);
        const Text key_password = given(kKeyPassword);
        StorePasswords passwords{.store = password, .key = std::nullopt};
        if (use == StoreUse::keys) {
            passwords.key = key_password;
        }
        const Bytes bytes = as_bytes(content);
        const auto fail = [&](const std::string& reason) { return Failure(place(names.location, path) + ": " + reason); };
        if (is_jceks(bytes)) {
            return fail("it is a JCEKS store; convert it to PKCS12 with keytool -importkeystore");
        }
        if (content.find("-----BEGIN ") != content.npos) {
            return fail("it is PEM, but " + named(names.type) + " is not");
        }
        auto contents = is_jks(bytes) ? parse_jks(bytes, passwords, use) : parse_pkcs12(bytes, passwords, use);
        if (!contents) {
            return fail(contents.error());
        }
        return contents;
    }

    [[nodiscard]] std::expected<std::vector<KeyEntry>, std::string> pem_key(std::string_view key_config, const std::string& path,
                                                                            const std::string& key_text,
                                                                            std::string_view chain_config,
                                                                            const std::string& chain_text) const {
        const Text password = given(kKeyPassword);
        KeyEntry entry;
        auto key = parse_pem_key(key_text, password);
        if (!key) {
            return Failure(place(key_config, path) + ": " + key.error() + (password ? "" : hint(key.error())));
        }
        auto chain = pem_certificates(chain_config, path, chain_text);
        if (!chain) {
            return Failure(chain.error());
        }
        if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
            ERR_clear_error();
            return Failure(place(chain_config, path) + ": the first certificate belongs to another key");
        }
        entry.key = std::move(*key);
        entry.chain = std::move(*chain);
        std::vector<KeyEntry> entries;
        entries.push_back(std::move(entry));
        return entries;
    }

    [[nodiscard]] std::string hint(const std::string& reason) const {
        return reason.find("no password") == reason.npos ? "" : " (" + named(kKeyPassword) + ")";
    }

    [[nodiscard]] std::expected<std::vector<Certificate>, std::string> pem_certificates(std::string_view config,
                                                                                        const std::string& path,
                                                                                        const std::string& text) const {
        auto certificates = parse_pem_certificates(text);
        if (!certificates) {
            return Failure(place(config, path) + ": " + certificates.error());
        }
        return certificates;
    }

    const StoreConfigs& configs_;
};

constexpr std::array kStoreConfigs{
    kKeyStore.location, kKeyStore.password,   kKeyStore.type,       kKeyPassword,     kInlineKey,
    kInlineChain,       kTrustStore.location, kTrustStore.password, kTrustStore.type, kInlineTrust,
};

}  // namespace

std::expected<KeyMaterial, std::string> load_key_material(const StoreConfigs& configs) {
    Loader loader(configs);
    auto keys = loader.keys();
    if (!keys) {
        return Failure(std::move(keys.error()));
    }
    auto trusted = loader.trusted();
    if (!trusted) {
        return Failure(std::move(trusted.error()));
    }
    return KeyMaterial{.keys = std::move(*keys), .trusted = std::move(*trusted)};
}

bool use_key(SSL_CTX& context, const KeyEntry& entry) {
    if (SSL_CTX_use_certificate(&context, entry.chain.front().get()) != 1 ||
        SSL_CTX_use_PrivateKey(&context, entry.key.get()) != 1) {
        return false;
    }
    for (std::size_t above = 1; above < entry.chain.size(); ++above) {
        if (SSL_CTX_add1_chain_cert(&context, entry.chain[above].get()) != 1) {
            return false;
        }
    }
    return true;
}

bool is_store_config(std::string_view key) { return std::ranges::find(kStoreConfigs, key) != kStoreConfigs.end(); }

std::expected<std::string, std::string> read_store_file(const std::string& path) {
    // Clients may set the path (kafka-configs); without O_NONBLOCK, opening a named pipe would wait for its other end for ever.
    const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return Failure(std::string("cannot be opened: ") + std::strerror(errno));
    }
    const std::unique_ptr<const int, void (*)(const int*)> closed(&file, [](const int* open) { ::close(*open); });
    struct stat found{};
    if (::fstat(file, &found) != 0) {
        return Failure(std::string("cannot read its attributes: ") + std::strerror(errno));
    }
    if (!S_ISREG(found.st_mode)) {
        return Failure("is not a regular file");
    }
    std::string content;
    std::array<char, 16384> piece;
    while (true) {
        const ssize_t count = ::read(file, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return Failure(std::string("cannot be read: ") + std::strerror(errno));
        }
        if (count == 0) {
            return content;
        }
        content.append(piece.data(), static_cast<std::size_t>(count));
        if (content.size() > kStoreBytesMax) {
            return Failure("is longer than " + std::to_string(kStoreBytesMax) + " bytes");
        }
    }
}

}  // namespace partita::tls
