#include "problem/compiled.hpp"

#include "problem/support.hpp"

namespace mckean {

Problem::Compiled::Compiled(Model m, Data d, double u)
    : model(std::move(m)), data(std::move(d)), unit(u), system(model), observation(model), observation_score(model) {
  check_support(model, data);
}

Problem::Problem(Model model, Data data, double unit)
    : compiled_(std::make_shared<const Compiled>(std::move(model), std::move(data), unit)) {}

const Model& Problem::model() const { return compiled_->model; }
const Data& Problem::data() const { return compiled_->data; }
double Problem::unit() const { return compiled_->unit; }
}  // namespace mckean
