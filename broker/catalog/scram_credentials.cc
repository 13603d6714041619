#include "broker/catalog/scram_credentials.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

constexpr std::string_view kIterations = "iterations=";

bool is_known(std::int8_t mechanism) { return !scram_mechanism_name(static_cast<ScramMechanism>(mechanism)).empty(); }

std::int32_t iterations_of(std::string_view text) {
    std::int32_t iterations = 0;
    const std::size_t place = text.rfind(kIterations);
    if (place == text.npos) {
        return iterations;
    }
    const std::string_view number = text.substr(place + kIterations.size());
    std::from_chars(number.data(), number.data() + number.size(), iterations);
    return iterations;
}

const ConfigMap& credentials_of(const CatalogSnapshot& catalog, std::string_view user) {
    static const ConfigMap kNone;
    const auto found = catalog.all_scram_credentials().find(user);
    return found == catalog.all_scram_credentials().end() ? kNone : found->second;
}

CatalogError judge(const ScramDeletion& deletion, const CatalogSnapshot& catalog) {
    if (deletion.user.empty()) {
        return {ErrorCode::unacceptable_credential, "Username must not be empty"};
    }
    if (!is_known(deletion.mechanism)) {
        return {ErrorCode::unsupported_sasl_mechanism, "Unknown SCRAM mechanism"};
    }
    const ConfigMap& present = credentials_of(catalog, deletion.user);
    if (!present.contains(scram_mechanism_name(static_cast<ScramMechanism>(deletion.mechanism)))) {
        return {ErrorCode::resource_not_found, "Attempt to delete a user credential that does not exist"};
    }
    return {};
}

CatalogError judge(const ScramUpsertion& upsertion) {
    if (upsertion.user.empty()) {
        return {ErrorCode::unacceptable_credential, "Username must not be empty"};
    }
    if (!is_known(upsertion.mechanism)) {
        return {ErrorCode::unsupported_sasl_mechanism, "Unknown SCRAM mechanism"};
    }
    if (upsertion.iterations < kScramMinIterations) {
        return {ErrorCode::unacceptable_credential, "Too few iterations"};
    }
    if (upsertion.iterations > kScramMaxIterations) {
        return {ErrorCode::unacceptable_credential, "Too many iterations"};
    }
    if (!upsertion.credential) {
        return {ErrorCode::unknown_server_error, std::nullopt};
    }
    return {};
}

/// Results by user. A second alteration of a user whose first one was valid makes both fail.
class Verdicts {
  public:
    template <class Judge>
    void add(std::string_view user, Judge&& judge) {
        const auto [place, is_new] = places_.try_emplace(user, users_.size());
        if (is_new) {
            users_.push_back({std::string(user), judge()});
        } else if (CatalogError& error = users_[place->second].error; !error.failed()) {
            error = {ErrorCode::duplicate_resource, "A user credential cannot be altered twice in the same request"};
        }
    }
    [[nodiscard]] bool accepts(std::string_view user) const { return !users_[places_.at(user)].error.failed(); }
    [[nodiscard]] std::vector<AlteredScramUser> take() { return std::move(users_); }

  private:
    std::vector<AlteredScramUser> users_;
    /// The place of each user in `users_`; the names are the command's.
    std::map<std::string_view, std::size_t> places_;
};

}  // namespace

std::string_view scram_mechanism_name(ScramMechanism mechanism) {
    switch (mechanism) {
        case ScramMechanism::sha_256:
            return "SCRAM-SHA-256";
        case ScramMechanism::sha_512:
            return "SCRAM-SHA-512";
        case ScramMechanism::unknown:
            break;
    }
    return {};
}

std::string scram_credential_text(const ScramCredential& credential) {
    return "salt=" + credential.salt + ",stored_key=" + credential.stored_key + ",server_key=" + credential.server_key + "," +
           std::string(kIterations) + std::to_string(credential.iterations);
}

Decision<AlterScramCredentials> CatalogCore::decide(const AlterScramCredentials& command, const CatalogContext&) const {
    Verdicts verdicts;
    for (const ScramDeletion& deletion : command.deletions) {
        verdicts.add(deletion.user, [&] { return judge(deletion, *snapshot_); });
    }
    for (const ScramUpsertion& upsertion : command.upsertions) {
        verdicts.add(upsertion.user, [&] { return judge(upsertion); });
    }
    ChangeBuilder change(snapshot_);
    for (const ScramDeletion& deletion : command.deletions) {
        if (!verdicts.accepts(deletion.user)) {
            continue;
        }
        ConfigMap credentials = credentials_of(*snapshot_, deletion.user);
        credentials.erase(credentials.find(scram_mechanism_name(static_cast<ScramMechanism>(deletion.mechanism))));
        change.set_configs(ConfigResourceType::scram_credential, deletion.user, std::move(credentials));
    }
    for (const ScramUpsertion& upsertion : command.upsertions) {
        if (!verdicts.accepts(upsertion.user)) {
            continue;
        }
        ConfigMap credentials = credentials_of(*snapshot_, upsertion.user);
        credentials.insert_or_assign(std::string(scram_mechanism_name(static_cast<ScramMechanism>(upsertion.mechanism))),
                                     scram_credential_text(*upsertion.credential));
        change.set_configs(ConfigResourceType::scram_credential, upsertion.user, std::move(credentials));
    }
    return {{verdicts.take()}, change.finish()};
}

std::vector<DescribedScramUser> describe_scram_credentials(const CatalogSnapshot& catalog,
                                                           std::span<const std::string_view> users) {
    std::set<std::string_view> wanted;
    std::set<std::string_view> twice;
    for (const std::string_view user : users) {
        if (!wanted.insert(user).second) {
            twice.insert(user);
        }
    }
    if (users.empty()) {
        for (const auto& [user, credentials] : catalog.all_scram_credentials()) {
            wanted.insert(user);
        }
    }
    std::vector<DescribedScramUser> described;
    for (const std::string_view user : wanted) {
        DescribedScramUser& result = described.emplace_back(std::string(user));
        const ConfigMap& credentials = credentials_of(catalog, user);
        if (twice.contains(user)) {
            result.error = {
                ErrorCode::duplicate_resource,
                "Cannot describe SCRAM credentials for the same user twice in a single request: " + std::string(user)};
        } else if (credentials.empty()) {
            result.error = {ErrorCode::resource_not_found,
                            "Attempt to describe a user credential that does not exist: " + std::string(user)};
        }
        if (result.error.failed()) {
            continue;
        }
        for (const ScramMechanism mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512}) {
            if (const auto found = credentials.find(scram_mechanism_name(mechanism)); found != credentials.end()) {
                result.iterations.emplace(mechanism, iterations_of(found->second));
            }
        }
    }
    return described;
}

}  // namespace partita::catalog
