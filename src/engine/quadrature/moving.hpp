// One evaluation: the laws, and a filter for every block of every series, move along the grid of time.
#pragma once

#include <stop_token>

#include "engine/prediction.hpp"
#include "engine/quadrature/laws.hpp"
#include "engine/quadrature/quadrature_value.hpp"
#include "engine/quadrature/weigh.hpp"
#include "mckean/engine.hpp"
#include "problem/schedule.hpp"

namespace mckean {

class Moving {
 public:
  struct Setting {
    const Formulas& formulas;
    const Schedule& schedule;
    Accuracy accuracy;
    std::span<const double> theta;
    double temper;
    std::stop_token stop;
  };
  explicit Moving(const Setting&);

  // With predictions of each view also the errors of one-step predictions. Throws CutTooShort, NumericalError.
  QuadratureValue run(std::span<const Prediction>);
  // One block of a series, at every row of it.
  std::vector<Smoothed> smooth(std::size_t series, const Block&);

 private:
  struct Filter {
    std::size_t series;
    const Block& block;
    MovingDensity moving;
    std::size_t visits = 0;             // of the series', those up to the last that it needs
    std::size_t visit = 0;              // the next one
    double surprise = 0;                // how deep in its tails observations were, beyond what is usual
    std::vector<MovingDensity> passed;  // before this one, at every point of the grid of time, where they are kept
  };

  void add_filter(std::size_t series, const Block&);
  void travel();
  void to_every_point();
  void move(Filter&);
  void predict(const GridDensity&, const BlockRow&, std::size_t series, std::size_t row);
  BlockRow row_of(const Filter&, const Schedule::Visit&) const;
  QuadratureValue result() const;

  Setting setting_;
  const Model& model_;
  Laws laws_;
  Weigher weigher_;
  std::vector<double> log_value_;  // a jet
  std::vector<Filter> filters_;
  std::vector<PredictionFrame> predictions_;            // by view
  std::vector<std::vector<double>> prediction_errors_;  // by series, row by row
  bool keeps_ = false;                                  // all densities of the filters
};
}  // namespace mckean
