#pragma once

#include <string>

namespace partita::schemas {

/// Where a schema registry is, and how it is asked.
struct RegistryPlace {
    /// http://HOST:PORT/PATH or https://...; the path may be empty.
    std::string url;
    /// USER:PASSWORD; empty: nobody logs in.
    std::string login;
    /// Certificates of authorities that are believed, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
};

struct RegistryRequest {
    /// Below the registry's URL: "/schemas/ids/7".
    std::string target;
    /// A JSON object that is posted; empty: the target is got.
    std::string json;
};

struct RegistryAnswer {
    int status = 0;
    std::string body;
};

}  // namespace partita::schemas
