#include "broker/assembly/first_users.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "broker/authentication/crypto.h"
#include "broker/authentication/scram_users.h"
#include "broker/catalog/scram_credentials.h"
#include "broker/config/log_setup.h"
#include "broker/runtime/catalog/catalog.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::assembly {
namespace {

constexpr std::string_view kSetting = "partita.scram.users.file";
constexpr std::string_view kUsers = "partita.scram.users";

std::expected<std::vector<authentication::ScramUser>, runtime::StartError> parse_users(const std::string& place,
                                                                                       std::string text) {
    auto users = authentication::parse_scram_users(text);
    authentication::wipe(text);
    if (!users) {
        return std::unexpected(runtime::StartError{place + ", " + users.error()});
    }
    return std::move(*users);
}

std::expected<std::vector<authentication::ScramUser>, runtime::StartError> read_users(const std::string& path) {
    const std::string place = std::string(kSetting) + ": " + path;
    std::ifstream file(path, std::ios::binary);
    std::string text(authentication::kScramUsersBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.eof() && file.fail()) {
        return std::unexpected(runtime::StartError{"cannot read " + place});
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_users(place, std::move(text));
}

catalog::ScramMechanism mechanism_of(const authentication::ScramUser& user) {
    return user.hash == authentication::Hash::sha_256 ? catalog::ScramMechanism::sha_256 : catalog::ScramMechanism::sha_512;
}

bool has_password(const catalog::CatalogSnapshot& catalog, const authentication::ScramUser& user) {
    const auto found = catalog.all_scram_credentials().find(user.name);
    if (found == catalog.all_scram_credentials().end()) {
        return false;
    }
    const auto kept = found->second.find(catalog::scram_mechanism_name(mechanism_of(user)));
    return kept != found->second.end() && authentication::is_credential_of(user, kept->second);
}

catalog::ScramUpsertion upsertion_of(const authentication::ScramUser& user) {
    const auto salt = random_value<std::array<char, 24>>();
    const authentication::ScramCredential made =
        authentication::make_scram_credential(user.hash, user.password, {salt.data(), salt.size()}, user.iterations);
    return {.user = user.name,
            .mechanism = static_cast<std::int8_t>(mechanism_of(user)),
            .iterations = made.iterations,
            .credential = catalog::ScramCredential{.salt = authentication::to_base64(made.salt),
                                                   .stored_key = authentication::to_base64(made.stored_key),
                                                   .server_key = authentication::to_base64(made.server_key),
                                                   .iterations = made.iterations}};
}

}  // namespace

std::expected<void, runtime::StartError> make_first_users(const config::BrokerConfig& config, runtime::Catalog& catalog,
                                                          Now now) {
    const std::string file = std::get<std::string>(config.value(kSetting));
    const std::string given = config::config_value_text(config.value(kUsers)).value_or("");
    if (file.empty() && given.empty()) {
        return {};
    }
    const std::string path = file.empty() ? std::string(kUsers) : file;
    PARTITA_TRY_ASSIGN(auto users, file.empty() ? parse_users(path, given) : read_users(file));
    std::size_t made = 0;
    runtime::Catalog::Section section(catalog);
    for (authentication::ScramUser& user : users) {
        if (!has_password(section.snapshot(), user)) {
            // One at a time, because a command may alter a user only once.
            const catalog::AlterScramCredentials command{.deletions = {}, .upsertions = {upsertion_of(user)}};
            const auto decision = section.decide(now, command);
            if (const catalog::CatalogError& error = decision.result.users.front().error; error.failed()) {
                return std::unexpected(
                    runtime::StartError{path + ": cannot create the user " + user.name + ": " + error.message.value_or("")});
            }
            if (!section.write(decision.effects, now)) {
                return std::unexpected(
                    runtime::StartError{"cannot create the users of " + path + ", because the catalog cannot be written"});
            }
            section.publish(decision.effects, now);
            ++made;
        }
        authentication::wipe(user.password);
    }
    if (made > 0) {
        log::info("access", "created credentials of users", {{"from", path}, {"credentials", made}});
    }
    return {};
}

}  // namespace partita::assembly
