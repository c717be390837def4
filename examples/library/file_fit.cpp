// The fit of a model file to a data file, on two threads and under mpirun on as many ranks: `mckean fit`, without a run
// on disk.
#include <cstdio>
#include <mckean/fit.hpp>

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: file_fit MODEL DATA\n", stderr), 2;
  try {
    const auto world = std::make_shared<mckean::World>();
    const mckean::Model model = mckean::read_model(argv[1]);
    const mckean::Data data = mckean::read_data(argv[2], model.columns());
    const mckean::FitResult found = mckean::fit({model, data}, {.seed = 1}, {.threads = 2, .world = world});
    for (const auto& p : found.parameters)
      if (world->first()) std::printf("%s = %.17g +- %.17g\n", p.name.c_str(), p.value, p.mc_se);
  } catch (const mckean::InputError& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 2;
  } catch (const std::runtime_error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
