#include <array>

#include "cli/command.hpp"

namespace mckean::cli {

std::span<const CommandEntry> commands() {
  static constexpr std::array all{
      CommandEntry{Command::create, "new", "write a commented starter model, NAME.toml", run_new},
      CommandEntry{Command::check, "check", "say what was understood of a model, and of data for it", run_check},
      CommandEntry{Command::simulate, "simulate", "draw data from the model at its parameter values", run_simulate},
      CommandEntry{Command::loglik, "loglik", "log-likelihood of data at the model's parameter values", run_loglik},
      CommandEntry{Command::score, "score", "gradient of the log-likelihood at the model's parameter values",
                   run_score},
      CommandEntry{Command::smooth, "smooth", "smoothed state at each time: mean, standard deviation and quantiles",
                   run_smooth},
      CommandEntry{Command::fit, "fit", "maximum-likelihood estimate with standard errors", run_fit},
      CommandEntry{Command::profile, "profile", "profile log-likelihood of one parameter", run_profile},
      CommandEntry{Command::resume, "resume", "continue a run that was stopped, or extend one that has ended", run_fit},
      CommandEntry{Command::save, "export", "write a run as CSV and JSON, with its model and data", run_export},
      CommandEntry{Command::report, "report", "write a run as one HTML page: model, data, estimate, figures, settings",
                   run_report},
      CommandEntry{Command::runs, "runs", "list runs with their state, time and estimate so far", run_runs},
      CommandEntry{Command::reproduce, "reproduce", "the figures of the paper, from one command each", run_reproduce}};
  return all;
}
}  // namespace mckean::cli
