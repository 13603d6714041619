#include "broker/authentication/delegation_token.h"

namespace partita::authentication {

std::string token_hmac(std::string_view secret, std::string_view token_id) {
    return keyed_digest(Hash::sha_512, secret, token_id);
}

ScramCredential token_credential(Hash hash, std::string_view hmac, std::string_view salt) {
    std::string password = to_base64(hmac);
    ScramCredential credential = make_scram_credential(hash, password, salt, kScramIterationsMin);
    wipe(password);
    return credential;
}

}  // namespace partita::authentication
