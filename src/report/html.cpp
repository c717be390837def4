#include "report/html.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mckean/expr.hpp"

namespace mckean::report {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string superscript(int n) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = n < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(n))) out += kDigits[c - '0'];
  return out;
}
}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
    }
  return out;
}

std::string short_number(double v, int digits) {
  if (!std::isfinite(v)) return std::isnan(v) ? "–" : v > 0 ? "∞" : "−∞";
  std::string text = fmt::format("{:.{}g}", v, digits);
  const std::size_t e = text.find('e');
  if (e != std::string::npos) {
    const std::string mantissa = text.substr(0, e);
    const std::string power = "10" + superscript(std::stoi(text.substr(e + 1)));
    text = mantissa == "1" ? power : mantissa == "-1" ? "-" + power : mantissa + "×" + power;
  }
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string number(double v) {
  return fmt::format("<data value=\"{}\">{}</data>", number_to_text(v), short_number(v, 6));
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", escaped(text)); }
std::string code(std::string_view text) { return fmt::format("<code>{}</code>", escaped(text)); }
std::string code_block(std::string_view text) {
  return fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(text));
}

std::string download(const std::string& file, const std::string& type, std::string_view text,
                     const std::string& label) {
  return fmt::format("<a download=\"{}\" href=\"data:{};base64,{}\">{}</a>", escaped(file), type, base64(text),
                     escaped(label));
}

std::string to_html(const Table& t) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n<caption>{}</caption>\n"
      "<thead><tr>",
      escaped(t.caption), escaped(t.caption));
  const auto kind = [&](std::size_t column) { return column < t.text_columns ? " class=\"text\"" : ""; };
  for (std::size_t c = 0; c < t.head.size(); ++c) out += fmt::format("<th scope=\"col\"{}>{}</th>", kind(c), t.head[c]);
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : t.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", kind(c), row[c])
                    : fmt::format("<td{}>{}</td>", kind(c), row[c]);
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</div>\n";
}

std::string csv(const std::vector<std::string>& head, const std::vector<std::vector<double>>& rows) {
  std::string out = fmt::format("{}\n", fmt::join(head, ","));
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out += (c ? "," : "") + (std::isfinite(row[c]) ? number_to_text(row[c]) : std::string());
    out += "\n";
  }
  return out;
}
}  // namespace mckean::report
