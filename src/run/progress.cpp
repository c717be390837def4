#include "run/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mckean {
namespace {

constexpr auto kLivePause = std::chrono::milliseconds(200);
constexpr auto kPlainPause = std::chrono::seconds(10), kFirstPause = std::chrono::seconds(1);
constexpr std::size_t kBar = 20, kPlainWidth = 200;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 1e12)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string ProgressText::line(std::size_t width) const {
  std::string out = progress.phase;
  if (progress.planned > 0) {
    const double share = std::clamp((progress.done + extra) / progress.planned, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(kBar));
    out +=
        fmt::format(" [{}{}] {:.0f} %", std::string(full, '#'), std::string(kBar - full, '.'), std::floor(100 * share));
  }
  out += fmt::format(", {} tasks, {}", tasks, duration_text(elapsed));
  if (remaining) out += fmt::format(", about {} left", duration_text(*remaining));
  if (progress.loglik) out += fmt::format("; log-likelihood {:.6g}", *progress.loglik);
  for (std::size_t p = 0; p < progress.estimate.size(); ++p) {
    out += fmt::format("{}{} {:.5g}", p == 0 ? "; " : ", ", p < names.size() ? names[p] : "", progress.estimate[p]);
    if (p < progress.mc_se.size()) out += fmt::format(" +- {:.2g}", progress.mc_se[p]);
    if (p < progress.target.size()) out += fmt::format(" (target {:.2g})", progress.target[p]);
  }
  if (out.size() > width) out.resize(width);
  return out;
}

ProgressLine::ProgressLine(bool show, std::size_t tasks)
    : show_(show),
      live_(isatty(STDERR_FILENO) == 1),
      tasks_(tasks),
      drawn_(live_ ? start_ - kLivePause : start_ - kPlainPause + kFirstPause) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(const FitObserver::Progress& progress) {
  if (!latest_ || latest_->phase != progress.phase) computed_ = 0, phase_start_ = Clock::now();
  latest_ = progress;
  since_ = 0;
  tick();
}

void ProgressLine::finished(double cost) {
  ++tasks_;
  computed_ += cost;
  since_ += cost;
}

// What is left, at the pace of this process in this phase.
std::optional<double> ProgressLine::remaining() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - phase_start_).count();
  if (!latest_ || !(latest_->planned > 0) || !(computed_ > 0) || elapsed < 1) return std::nullopt;
  return std::max(0.0, latest_->planned - latest_->done - since_) * elapsed / computed_;
}

void ProgressLine::tick() {
  if (!show_ || !latest_) return;
  const auto now = Clock::now();
  if (now - drawn_ < (live_ ? Clock::duration(kLivePause) : Clock::duration(kPlainPause))) return;
  drawn_ = now;
  const ProgressText text{*latest_,    names_, since_, std::chrono::duration<double>(now - start_).count(),
                          remaining(), tasks_};
  if (live_)
    fmt::print(stderr, "\r\x1b[K{}", text.line(terminal_width() - 1));
  else
    fmt::print(stderr, "mckean: {}\n", text.line(kPlainWidth));
  std::fflush(stderr);
  on_screen_ = live_;
}

void ProgressLine::clear() {
  if (!on_screen_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  on_screen_ = false;
}
}  // namespace mckean
