#pragma once

#include <string>
#include <string_view>

namespace partita::tools {

/// The name of a web service in messages to people.
struct WebPeer {
    std::string_view what;
    /// The subject of "does not answer": "no schema registry".
    std::string_view nobody;
    std::string_view advice;
    std::string_view address_option;
    /// The form of its address.
    std::string_view address_form;
    std::string_view ca_option;
};

/// The service's address, and how to connect.
struct WebService {
    const WebPeer& peer;
    /// http://HOST:PORT/PATH or https://...; the path may be empty.
    std::string url;
    /// USER:PASSWORD; empty: no login.
    std::string login;
    /// Trusted certificates of authorities, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
};

struct WebRequest {
    /// Below the service's URL: "/schemas/ids/7".
    std::string target;
    /// A JSON object to POST; empty: GET.
    std::string json;
};

struct WebAnswer {
    int status = 0;
    std::string body;
};

}  // namespace partita::tools
