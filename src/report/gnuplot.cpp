#include "report/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "mckean/error.hpp"

extern char** environ;

namespace mckean {
namespace {

struct Ended {
  int error = 0;   // of starting it
  int status = 0;  // of its end
  std::string said{};
};

// gnuplot with these arguments, in this folder; what it writes on either stream is collected.
Ended call(const std::string& argument, const std::filesystem::path& folder) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {.error = errno};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::string words[] = {"gnuplot", argument};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  Ended out;
  pid_t child = 0;
  out.error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (out.error == 0) {
    char buffer[4096];
    for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
      if (n > 0) out.said.append(buffer, static_cast<std::size_t>(n));
    while (waitpid(child, &out.status, 0) < 0 && errno == EINTR) {
    }
  }
  close(pipe_ends[0]);
  return out;
}

// A figure is a function of its numbers; the second in which it was drawn would make each one another file.
void forget_date(const std::filesystem::path& pdf) {
  static constexpr std::string_view kKey = "/CreationDate (D:", kNever = "20000101000000";
  std::string text;
  {
    std::ifstream in(pdf, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::size_t at = text.rfind(kKey);
  if (at == std::string::npos || at + kKey.size() + kNever.size() > text.size()) return;
  std::fstream out(pdf, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at + kKey.size()));
  out << kNever;
}
}  // namespace

bool gnuplot_is_installed() { return call("--version", ".").error == 0; }

std::string gnuplot_script(const Figure& figure) {
  const auto drawn = [&](const std::string& terminal, const std::string& ending) {
    return fmt::format(
        "reset session\nset encoding utf8\nset datafile separator ','\nset grid linecolor rgb '#dddddd'\n"
        "set tics nomirror\nset border 3\nset terminal {}\nset output '{}.{}'\n{}unset output\n",
        terminal, figure.name, ending, figure.script);
  };
  return fmt::format("# gnuplot {0}.gp, in the folder of the tables, draws {0}.svg and {0}.pdf.\n", figure.name) +
         drawn(fmt::format("svg size {:.0f},{:.0f} font 'sans-serif,12' background rgb 'white'", figure.width * 96,
                           figure.height * 96),
               "svg") +
         drawn(fmt::format("pdfcairo size {}in,{}in font 'sans-serif,9'", figure.width, figure.height), "pdf");
}

void run_gnuplot(const std::filesystem::path& script) {
  const std::filesystem::path folder = script.has_parent_path() ? script.parent_path() : ".";
  const Ended done = call(script.filename().string(), folder);
  if (done.error == ENOENT)
    throw RunError(fmt::format(
        "{}: not drawn, since gnuplot is not installed (the tables are written); install gnuplot-nox and call 'gnuplot "
        "{}' there, or give the command again",
        folder.string(), script.filename().string()));
  if (done.error != 0)
    throw RunError(fmt::format("{}: gnuplot cannot be started ({})", script.string(), std::strerror(done.error)));
  if (done.status != 0) throw RunError(fmt::format("{}: gnuplot failed: {}", script.string(), done.said));
  forget_date(std::filesystem::path(script).replace_extension("pdf"));
}
}  // namespace mckean
