#pragma once

#include <string>
#include <string_view>

namespace partita::tools {

/// A service of the web that a tool asks beside brokers, as messages to people call it.
struct WebPeer {
    std::string_view what;
    /// When nobody answers: "no schema registry".
    std::string_view nobody;
    std::string_view advice;
    std::string_view address_option;
    /// What a person is to say there.
    std::string_view address_form;
    std::string_view ca_option;
};

/// Where it is, and how it is asked.
struct WebService {
    const WebPeer& peer;
    /// http://HOST:PORT/PATH or https://...; the path may be empty.
    std::string url;
    /// USER:PASSWORD; empty: nobody logs in.
    std::string login;
    /// Certificates of authorities that are believed, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
};

struct WebRequest {
    /// Below the service's URL: "/schemas/ids/7".
    std::string target;
    /// A JSON object that is posted; empty: the target is got.
    std::string json;
};

struct WebAnswer {
    int status = 0;
    std::string body;
};

}  // namespace partita::tools
