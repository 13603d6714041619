#include "broker/tls/distinguished_name.h"

#include <gtest/gtest.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

/// The expected values are those of X500Principal.getName() in Java 17 for certificates with these names.
namespace partita::tls {
namespace {

struct Part {
    const char* attribute;
    std::string value;
    int type = V_ASN1_UTF8STRING;
    /// Belongs to the part before.
    bool is_joined = false;
};

std::string name_of(const std::vector<Part>& parts) {
    const std::unique_ptr<X509_NAME, decltype(&X509_NAME_free)> name(X509_NAME_new(), X509_NAME_free);
    for (const Part& part : parts) {
        EXPECT_EQ(X509_NAME_add_entry_by_txt(name.get(), part.attribute, part.type,
                                             reinterpret_cast<const unsigned char*>(part.value.data()),
                                             static_cast<int>(part.value.size()), -1, part.is_joined ? -1 : 0),
                  1);
    }
    return distinguished_name(*name);
}

TEST(DistinguishedName, LastPartIsFirst) {
    EXPECT_EQ(
        name_of(
            {{"C", "DE", V_ASN1_PRINTABLESTRING}, {"ST", "Bayern"}, {"L", "München"}, {"O", "Example, Inc."}, {"CN", "alice"}}),
        "CN=alice,O=Example\\, Inc.,L=München,ST=Bayern,C=DE");
    EXPECT_EQ(name_of({{"DC", "org", V_ASN1_IA5STRING}, {"UID", "u1"}, {"street", "Main 1"}}), "STREET=Main 1,UID=u1,DC=org");
    EXPECT_EQ(name_of({}), "");
}

TEST(DistinguishedName, AttributesWithoutAWordAreNumbersAndTheirDer) {
    EXPECT_EQ(name_of({{"O", "X"},
                       {"CN", "bob"},
                       {"emailAddress", "a@b.c", V_ASN1_IA5STRING},
                       {"serialNumber", "12", V_ASN1_PRINTABLESTRING},
                       {"title", "Dr"}}),
              "2.5.4.12=#0c024472,2.5.4.5=#13023132,1.2.840.113549.1.9.1=#16056140622e63,CN=bob,O=X");
    EXPECT_EQ(name_of({{"GN", "Given"}, {"SN", "Sur"}, {"initials", "I"}, {"dnQualifier", "q", V_ASN1_PRINTABLESTRING}}),
              "2.5.4.46=#130171,2.5.4.43=#0c0149,2.5.4.4=#0c03537572,2.5.4.42=#0c05476976656e");
}

TEST(DistinguishedName, CharactersThatMeanSomethingAreEscaped) {
    EXPECT_EQ(name_of({{"CN", "#a,b+c=d<e>f;g\"h\\i"}}), "CN=\\#a\\,b\\+c\\=d\\<e\\>f\\;g\\\"h\\\\i");
    EXPECT_EQ(name_of({{"CN", " lead and trail  "}}), "CN=\\ lead and trail\\ \\ ");
    EXPECT_EQ(name_of({{"CN", "  "}}), "CN=\\ \\ ");
    // A name cannot end before its end.
    EXPECT_EQ(name_of({{"CN", std::string("admin\0.evil", 11)}}), "CN=admin\\00.evil");
}

TEST(DistinguishedName, AttributesOfOnePartAreJoined) {
    EXPECT_EQ(name_of({{"O", "X"}, {"OU", "y"}, {"CN", "multi", V_ASN1_UTF8STRING, true}, {"UID", "z", V_ASN1_UTF8STRING, true}}),
              "OU=y+CN=multi+UID=z,O=X");
}

}  // namespace
}  // namespace partita::tls
