// The fit of a model file to a data file, on two threads and under mpirun on as many ranks: `mckean fit`, without a run
// on disk.
#include <cstdio>
#include <mckean/data.hpp>
#include <mckean/error.hpp>
#include <mckean/fit.hpp>
#include <mckean/run.hpp>

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: file_fit MODEL DATA\n", stderr), 2;
  try {
    mckean::World world;
    const mckean::Model model = mckean::read_model(argv[1]);
    const mckean::Data data = mckean::read_data(argv[2], model.columns());
    auto run = mckean::Run::without_store(world, {}, {.threads = 2, .show_progress = false});
    const mckean::FitResult found = fit({model, data}, {.seed = 1}, run.runner(), run.observer());
    for (std::size_t p = 0; world.first() && p < found.value.size(); ++p)
      std::printf("%s = %.17g +- %.17g\n", model.parameters()[p].name.c_str(), found.value[p], found.mc_se[p]);
  } catch (const mckean::InputError& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 2;
  } catch (const std::runtime_error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
