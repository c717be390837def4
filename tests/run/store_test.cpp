#include "run/store.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "mckean/error.hpp"
#include "run/hash.hpp"
#include "run/lock.hpp"
#include "run/progress.hpp"
#include "run/wire.hpp"

namespace mckean {
namespace {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("mckean-store-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  Store fresh() const {
    Store::create(folder, {});
    return Store(folder, Store::Mode::write);
  }
  std::filesystem::path folder;
};

TEST_F(StoreTest, ResultsComeBackBitForBit) {
  const std::vector<std::vector<double>> values = {
      {}, {0.1}, {-0.0, 5e-324, 1e308}, {std::numeric_limits<double>::infinity(), std::nan("3")}};
  {
    Store store = fresh();
    for (std::uint32_t i = 0; i < values.size(); ++i) store.put({"cell 1 0", i, 2.5}, values[i], 0.25);
    store.put({"cell 1 1", 0, 1}, {7}, 0);
  }
  const Store store(folder, Store::Mode::read);
  EXPECT_EQ(store.task_count(), 5U);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const auto found = store.find({"cell 1 0", i, 99});  // whatever cost is expected now
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), values[i].size());
    EXPECT_EQ(0, found->empty() ? 0 : std::memcmp(found->data(), values[i].data(), 8 * found->size()));
  }
  EXPECT_FALSE(store.find({"cell 1 0", 4, 1}));
  EXPECT_FALSE(store.find({"cell 2", 0, 1}));
}

TEST_F(StoreTest, AResultIsWrittenOnce) {
  Store store = fresh();
  store.put({"a", 0, 1}, {1}, 0);
  EXPECT_THROW(store.put({"a", 0, 1}, {2}, 0), RunError);
  EXPECT_EQ(store.find({"a", 0, 1}), std::vector<double>{1});
  store.put({"a", 1, 1}, {2}, 0);  // a refused row does no harm to the next
}

TEST_F(StoreTest, WordsAreReplacedAndFoundByPrefix) {
  Store store = fresh();
  store.set_all({{"note a", "1"}, {"note b", "2"}, {"other", "x\n\"é\""}});
  store.set("note a", "3");
  EXPECT_EQ(store.words_with("note "), (Store::Words{{"note a", "3"}, {"note b", "2"}}));
  EXPECT_EQ(store.require("other"), "x\n\"é\"");
  EXPECT_EQ(store.get("nothing"), std::nullopt);
  EXPECT_THROW(store.require("nothing"), RunError);
}

TEST_F(StoreTest, ARowThatWasChangedIsRefused) {
  for (const char* change : {"value = x'0000000000000000'", "cost = 3", "seconds = 3", "checksum = 0"}) {
    std::filesystem::remove(Store::file_in(folder));
    Store store = fresh();
    store.put({"a", 0, 1}, {1}, 0);
    sqlite::Connection(Store::file_in(folder).string(), sqlite::Connection::Mode::write)
        .execute((std::string("UPDATE task SET ") + change).c_str());
    EXPECT_THROW(store.find({"a", 0, 1}), RunError) << change;
  }
}

TEST_F(StoreTest, TheWholeFileIsCheckedAtOnce) {
  {
    Store store = fresh();
    for (std::uint32_t i = 0; i < 3000; ++i) store.put({"a", i, 1}, {1, 2, 3}, 0);
  }
  std::fstream file(Store::file_in(folder), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(20 * 4096);  // a page that holds rows
  file.write(std::string(4096, '\0').data(), 4096);
  file.close();
  EXPECT_THROW(Store(folder, Store::Mode::read), RunError);
  EXPECT_THROW(Store(folder, Store::Mode::write), RunError);
}

TEST_F(StoreTest, AStoreIsThereAsAWholeOrNot) {
  std::ofstream(folder / "run.sqlite.part") << "of a process that was killed";
  fresh();
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sqlite.part"));
  std::ofstream(Store::file_in(folder), std::ios::trunc).close();
  EXPECT_THROW(Store(folder, Store::Mode::read), RunError);
  EXPECT_THROW(Store(folder, Store::Mode::write), RunError);
}

// With the version that can read it.
TEST_F(StoreTest, AnotherFormatIsRefused) {
  for (const char* format : {"1", "3"}) {
    fresh().set_all({{"format", format}, {"program", "mckean 0.2.0"}});
    try {
      const Store opened(folder, Store::Mode::write);
      FAIL() << "format " << format << " was read";
    } catch (const RunError& e) {
      EXPECT_NE(std::string(e.what()).find("mckean 0.2.0, which made it, can read it"), std::string::npos) << e.what();
    }
    std::filesystem::remove(Store::file_in(folder));
  }
}

TEST_F(StoreTest, OneHoldsTheLock) {
  {
    const FolderLock lock(folder);
    EXPECT_THROW(FolderLock{folder}, RunError);
    EXPECT_TRUE(FolderLock::holder(folder)->starts_with("process " + std::to_string(getpid()) + " on "));
  }
  EXPECT_FALSE(FolderLock::holder(folder));
  const FolderLock again(folder);
}

TEST(Hash, Sha256) {  // the first two examples of FIPS 180-2
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Wire, ResultsOfABatch) {
  const std::vector<std::vector<double>> all = {{1, 2}, {}, {-0.5}};
  EXPECT_EQ(wire::unpack_all(wire::pack_all(all), 3), all);
  EXPECT_THROW(wire::unpack_all(wire::pack_all(all), 4), RunError);
}

TEST(Progress, Line) {
  ProgressText text;
  text.progress = {"main", 40, 100, {0.5}, {0.01}, {0.005}};
  text.names = {"theta"};
  text.extra = 10, text.elapsed = 61, text.remaining = 3600, text.tasks = 7;
  EXPECT_EQ(
      text.line(200),
      "main [##########..........] 50 %, 7 tasks, 1 min 1 s, about 1 h 0 min left; theta 0.5 +- 0.01 (target 0.005)");
  EXPECT_EQ(text.line(10), "main [####");
  EXPECT_EQ(duration_text(2e5), "2 d 7 h");
}
}  // namespace
}  // namespace mckean
