#include "broker/tls/distinguished_name.h"

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <array>
#include <optional>
#include <string_view>

namespace partita::tls {
namespace {

/// The attributes that have a keyword in RFC 2253.
std::string_view word_of(int nid) {
    switch (nid) {
        case NID_commonName:
            return "CN";
        case NID_localityName:
            return "L";
        case NID_stateOrProvinceName:
            return "ST";
        case NID_organizationName:
            return "O";
        case NID_organizationalUnitName:
            return "OU";
        case NID_countryName:
            return "C";
        case NID_streetAddress:
            return "STREET";
        case NID_domainComponent:
            return "DC";
        case NID_userId:
            return "UID";
        default:
            return {};
    }
}

std::string dotted(const ASN1_OBJECT& attribute) {
    std::array<char, 128> text{};
    OBJ_obj2txt(text.data(), text.size(), &attribute, 1);
    return text.data();
}

/// Null if the value is not text.
std::optional<std::string> text_of(const ASN1_STRING& value) {
    switch (ASN1_STRING_type(&value)) {
        case V_ASN1_PRINTABLESTRING:
        case V_ASN1_T61STRING:
        case V_ASN1_IA5STRING:
        case V_ASN1_GENERALSTRING:
        case V_ASN1_BMPSTRING:
        case V_ASN1_UTF8STRING:
        case V_ASN1_UNIVERSALSTRING:
            break;
        default:
            return std::nullopt;
    }
    unsigned char* bytes = nullptr;
    const int size = ASN1_STRING_to_UTF8(&bytes, &value);
    if (size < 0) {
        ERR_clear_error();
        return std::nullopt;
    }
    std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return text;
}

std::string hex_of_der(const ASN1_STRING& value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    ASN1_TYPE typed{};
    typed.type = ASN1_STRING_type(&value);
    typed.value.asn1_string = const_cast<ASN1_STRING*>(&value);  // Only read.
    unsigned char* der = nullptr;
    const int size = i2d_ASN1_TYPE(&typed, &der);
    std::string hex = "#";
    for (int at = 0; at < size; ++at) {
        hex += kDigits[der[at] >> 4u];
        hex += kDigits[der[at] & 0xfu];
    }
    OPENSSL_free(der);
    return hex;
}

std::string escaped(std::string_view text) {
    constexpr std::string_view kEscaped = ",=+<>#;\"\\";
    const auto is_blank = [](char c) { return c == ' ' || c == '\r'; };
    std::size_t begin = 0;
    while (begin < text.size() && is_blank(text[begin])) {
        ++begin;
    }
    std::size_t end = text.size();
    while (end > begin && is_blank(text[end - 1])) {
        --end;
    }
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\0') {
            result += "\\00";
            continue;
        }
        if (at < begin || at >= end || kEscaped.find(text[at]) != kEscaped.npos) {
            result += '\\';
        }
        result += text[at];
    }
    return result;
}

std::string part_of(const X509_NAME_ENTRY& entry) {
    const ASN1_OBJECT* const attribute = X509_NAME_ENTRY_get_object(&entry);
    const ASN1_STRING* const value = X509_NAME_ENTRY_get_data(&entry);
    const std::string_view word = word_of(OBJ_obj2nid(attribute));
    const auto text = word.empty() ? std::nullopt : text_of(*value);
    return (word.empty() ? dotted(*attribute) : std::string(word)) + "=" + (text ? escaped(*text) : hex_of_der(*value));
}

}  // namespace

std::string distinguished_name(const X509_NAME& name) {
    std::string text;
    // From last to first; attributes of one part keep their order, joined by a plus.
    for (int last = X509_NAME_entry_count(&name) - 1; last >= 0;) {
        const int part = X509_NAME_ENTRY_set(X509_NAME_get_entry(&name, last));
        int first = last;
        while (first > 0 && X509_NAME_ENTRY_set(X509_NAME_get_entry(&name, first - 1)) == part) {
            --first;
        }
        if (!text.empty()) {
            text += ',';
        }
        for (int each = first; each <= last; ++each) {
            if (each > first) {
                text += '+';
            }
            text += part_of(*X509_NAME_get_entry(&name, each));
        }
        last = first - 1;
    }
    return text;
}

}  // namespace partita::tls
