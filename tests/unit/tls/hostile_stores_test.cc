#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pkcs12.h>

#include "broker/tls/jks.h"
#include "broker/tls/pem.h"
#include "broker/tls/pkcs12.h"
#include "protocol/big_endian.h"
#include "tests/unit/tls/stores.h"

/// Stores that an attacker has cut off, changed or made to do harm.
namespace partita::tls {
namespace {

using test::store_text;
using ::testing::HasSubstr;

constexpr StorePasswords kPasswords{.store = "store-secret", .key = "key-secret"};

std::string jks_error(std::string_view bytes, const StorePasswords& passwords) {
    const auto contents = parse_jks(as_bytes(bytes), passwords, StoreUse::trust);
    return contents ? "none" : contents.error();
}

/// Returns the beginning of a JKS store, before its entries.
std::string jks_beginning(std::uint32_t version, std::uint32_t count) {
    std::string bytes(12, '\0');
    auto* const at = reinterpret_cast<std::byte*>(bytes.data());
    store_big_endian<std::uint32_t>(at, 0xfeedfeed);
    store_big_endian<std::uint32_t>(at + 4, version);
    store_big_endian<std::uint32_t>(at + 8, count);
    return bytes;
}

TEST(HostileStores, JksThatIsCutOffAnywhereIsRefused) {
    const std::string whole = store_text("server.jks");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ASSERT_FALSE(parse_jks(as_bytes(whole.substr(0, size)), {}, StoreUse::trust)) << size;
        ASSERT_FALSE(parse_jks(as_bytes(whole.substr(0, size)), kPasswords, StoreUse::keys)) << size;
    }
}

TEST(HostileStores, JksIsNotBelievedWhenAnyByteOfItIsAnother) {
    std::string bytes = store_text("trust.jks");
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        ASSERT_FALSE(parse_jks(as_bytes(bytes), {.store = "store-secret", .key = {}}, StoreUse::trust)) << at;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
    }
    EXPECT_TRUE(parse_jks(as_bytes(bytes), {.store = "store-secret", .key = {}}, StoreUse::trust));
}

TEST(HostileStores, DeclaredLengthsAllocateNothing) {
    // A certificate that claims 4 GB, without any byte of it.
    const std::string entry("\0\0\0\2\0\1a\0\0\0\0\0\0\0\0\0\5X.509\xff\xff\xff\xff", 26);
    EXPECT_THAT(jks_error(jks_beginning(2, 1) + entry, {}), HasSubstr("ends in the middle"));
    EXPECT_THAT(jks_error(jks_beginning(2, kStoreEntriesMax), {}), HasSubstr("ends in the middle"));
    EXPECT_THAT(jks_error(jks_beginning(2, kStoreEntriesMax + 1), {}), HasSubstr("declares 1001 entries; 1000 are allowed"));
    EXPECT_THAT(jks_error(jks_beginning(2, 0xffffffff), {}), HasSubstr("declares 4294967295 entries"));
}

TEST(HostileStores, StrangeJksIsToldForWhatItIs) {
    EXPECT_THAT(jks_error(jks_beginning(3, 0), {}), HasSubstr("JKS store of version 3"));
    const std::string digest(20, '\0');
    EXPECT_EQ(jks_error(jks_beginning(1, 0) + digest, {}), "none");
    EXPECT_THAT(jks_error(jks_beginning(2, 1) + std::string("\0\0\0\7\0\1a\0\0\0\0\0\0\0\0", 15) + digest, {}),
                HasSubstr("entry \"a\" is of kind 7"));
    EXPECT_THAT(jks_error(jks_beginning(2, 1) + std::string("\0\0\0\2\0\1a\0\0\0\0\0\0\0\0\0\3PGP\0\0\0\0", 24) + digest, {}),
                HasSubstr("of type \"PGP\", not X.509"));
    EXPECT_THAT(jks_error(jks_beginning(2, 1) + std::string("\0\0\0\1\0\1\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 23) + digest, {}),
                HasSubstr("key \"?\" has no certificate"));
    EXPECT_THAT(jks_error(std::string(kStoreBytesMax + 1, 'x'), {}), HasSubstr("longer than 8388608 bytes"));
}

TEST(HostileStores, Pkcs12ThatIsCutOffAnywhereIsRefused) {
    for (const std::string_view file : {"keytool.p12", "legacy.p12"}) {
        const std::string whole = store_text(file);
        for (std::size_t size = 0; size < whole.size(); size += 7) {
            ASSERT_FALSE(parse_pkcs12(as_bytes(whole.substr(0, size)), kPasswords, StoreUse::keys)) << file << size;
        }
    }
    EXPECT_THAT(parse_pkcs12(as_bytes("\x30\x84\xff\xff\xff\xff"), kPasswords, StoreUse::keys).error(), HasSubstr("truncated"));
    EXPECT_FALSE(parse_pkcs12(as_bytes(std::string(kStoreBytesMax + 1, '\x30')), kPasswords, StoreUse::keys));
}

/// A store of one certificate. The numbers say how often its password is hashed for the MAC (0: there is no MAC) and for the
/// encryption.
std::string pkcs12_with(int mac_iterations, int encryption_iterations) {
    const auto authority = parse_pem_certificates(store_text("ca.pem")).value();
    STACK_OF(PKCS12_SAFEBAG)* bags = nullptr;
    PKCS12_add_cert(&bags, authority[0].get());
    STACK_OF(PKCS7)* safes = nullptr;
    PKCS12_add_safe(&safes, bags, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, encryption_iterations, "store-secret");
    PKCS12* const store = PKCS12_add_safes(safes, 0);
    if (mac_iterations > 0) {
        PKCS12_set_mac(store, "store-secret", -1, nullptr, 0, mac_iterations, nullptr);
    }
    unsigned char* der = nullptr;
    const int size = i2d_PKCS12(store, &der);
    std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    PKCS12_free(store);
    sk_PKCS7_pop_free(safes, PKCS7_free);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    return bytes;
}

/// The store with more declared iterations than it was made with. The number stands in the clear, so that an attacker needs no
/// hashing to make such a store.
std::string as_if_8388607(std::string bytes) {
    const std::size_t at = bytes.find(std::string("\x02\x03\x01\x00\x00", 5));
    EXPECT_NE(at, bytes.npos);
    return bytes.replace(at, 5, "\x02\x03\x7f\xff\xff");
}

TEST(HostileStores, Pkcs12ThatAsksForEndlessHashingIsRefusedAtOnce) {
    constexpr int kMany = 0x010000;
    EXPECT_TRUE(parse_pkcs12(as_bytes(pkcs12_with(kMany, 1)), kPasswords, StoreUse::trust));
    EXPECT_TRUE(parse_pkcs12(as_bytes(pkcs12_with(0, kMany)), kPasswords, StoreUse::trust));
    for (const std::string& store : {pkcs12_with(kMany, 1), pkcs12_with(0, kMany)}) {
        EXPECT_THAT(parse_pkcs12(as_bytes(as_if_8388607(store)), kPasswords, StoreUse::trust).error(),
                    HasSubstr("the password hashed 8388607 times; 5000000 are allowed"));
    }
}

TEST(HostileStores, PemThatHoldsNoPemIsRefused) {
    for (const std::string_view text :
         {"", "-----BEGIN ", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAAAA", "-----END CERTIFICATE-----",
          "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE----------END CERTIFICATE-----",
          "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}) {
        EXPECT_FALSE(parse_pem_certificates(text)) << text;
        EXPECT_FALSE(parse_pem_key(text, "x")) << text;
    }
    EXPECT_FALSE(parse_pem_certificates(std::string(kStoreBytesMax + 1, ' ')));
    EXPECT_FALSE(parse_pem_key(std::string(kStoreBytesMax + 1, ' '), std::nullopt));
}

TEST(HostileStores, MoreCertificatesThanTheLimitAreRefused) {
    std::string many;
    const std::string one = store_text("ca.pem");
    for (std::size_t each = 0; each < kStoreEntriesMax; ++each) {
        many += one;
    }
    EXPECT_EQ(parse_pem_certificates(many).value().size(), kStoreEntriesMax);
    EXPECT_THAT(parse_pem_certificates(many + one).error(), HasSubstr("more than 1000 certificates"));
}

}  // namespace
}  // namespace partita::tls
