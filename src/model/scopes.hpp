// Which names the expressions of each section of a model file may use.
#pragma once

#include "expr/parse.hpp"
#include "mckean/model.hpp"
#include "model/toml_file.hpp"

namespace mckean {

class Scopes {
 public:
  // What is declared so far, and the names that the file declares somewhere.
  Scopes(const ModelSpec& spec, const TomlFile& file) : spec_(spec), file_(file) {}

  Scope start() const;  // constants only
  Scope interaction() const;
  Scope drift() const;
  Scope diffusion() const;
  Scope observation() const;

 private:
  void add(Scope&, Kind::Bits, const std::string& name, bool vector, std::size_t size) const;
  void add_constants(Scope&) const;
  void add_states(Scope&, Kind::Bits) const;
  void add_parameters(Scope&) const;
  void bar(Scope&, const char* section, const std::string& why) const;
  Scope common() const;

  const ModelSpec& spec_;
  const TomlFile& file_;
};
}  // namespace mckean
