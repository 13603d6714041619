#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::tls {

/// ssl.principal.mapping.rules: makes the name of a principal of the distinguished name in a client's certificate, as Kafka's
/// SslPrincipalMapper. `DEFAULT` takes the name as it is; `RULE:pattern/replacement/` with L or U behind it takes a name that the
/// pattern matches from begin to end, replaces in it what `replacement` says ($1 is the first group), and turns it to lower or
/// upper case. The first rule that fits is taken. Immutable.
///
/// Patterns are RE2's, which takes time linear in the name; what Java has beyond that (looking around, references back) is
/// refused. Cases are changed of ASCII letters.
class PrincipalRules {
  public:
    static constexpr std::size_t kRulesMax = 1000;

    /// The error is for people; it names the rule.
    [[nodiscard]] static std::expected<PrincipalRules, std::string> parse(std::string_view text);
    ~PrincipalRules();
    PrincipalRules(PrincipalRules&&) noexcept;
    PrincipalRules& operator=(PrincipalRules&&) noexcept;

    /// Null when no rule fits: such a client cannot be let in.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view distinguished_name) const;

  private:
    struct Rule;
    explicit PrincipalRules(std::vector<Rule> rules);

    std::vector<Rule> rules_;
};

}  // namespace partita::tls
