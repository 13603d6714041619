#pragma once

#include <string>

namespace partita::schemas {

/// The address of a schema registry, and the way to ask it.
struct RegistryPlace {
    /// http://HOST:PORT/PATH or https://...; the path may be empty.
    std::string url;
    /// USER:PASSWORD; empty: no login.
    std::string login;
    /// Trusted certificates of authorities, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
};

struct RegistryRequest {
    /// Below the registry's URL: "/schemas/ids/7".
    std::string target;
    /// A JSON object to post; empty: the request is a GET.
    std::string json;
};

struct RegistryAnswer {
    int status = 0;
    std::string body;
};

}  // namespace partita::schemas
