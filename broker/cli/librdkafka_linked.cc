// Librdkafka::load for the program without shared libraries (librdkafka.cc has the one that loads it), and what Debian's
// librdkafka.a wants besides.
#include "broker/cli/librdkafka.h"

namespace partita::cli {

std::expected<std::unique_ptr<Librdkafka>, std::string> Librdkafka::load() {
    auto functions = std::make_unique<Librdkafka>();
#define PARTITA_LINK(name) functions->name = &::rd_kafka_##name;
    PARTITA_LIBRDKAFKA_FUNCTIONS(PARTITA_LINK)
#undef PARTITA_LINK
    functions->new_handle = &::rd_kafka_new;
    return functions;
}

}  // namespace partita::cli

// librdkafka asks Cyrus SASL for Kerberos (GSSAPI) only, which loads its mechanisms as shared libraries. Here it is told that
// there are none, when somebody asks for one: PLAIN, SCRAM and OAUTHBEARER are librdkafka's own.
extern "C" {

namespace {
constexpr int kSaslOk = 0;
constexpr int kSaslNoMechanism = -4;
constexpr const char* kWhy = "this partita has no Kerberos; one that is built with scripts/build loads librdkafka's";
}  // namespace

int sasl_client_init(const void*) { return kSaslOk; }
int sasl_client_new(const char*, const char*, const char*, const char*, const void*, unsigned, void**) {
    return kSaslNoMechanism;
}
int sasl_client_start(void*, const char*, void*, const char**, unsigned*, const char**) { return kSaslNoMechanism; }
int sasl_client_step(void*, const char*, unsigned, void*, const char**, unsigned*) { return kSaslNoMechanism; }
void sasl_dispose(void**) {}
const char* sasl_errdetail(void*) { return kWhy; }
const char* sasl_errstring(int, const char*, const char**) { return kWhy; }
int sasl_getprop(void*, int, const void**) { return kSaslNoMechanism; }
int sasl_listmech(void*, const char*, const char*, const char*, const char*, const char**, unsigned*, int*) {
    return kSaslNoMechanism;
}
}
