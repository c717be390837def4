#include "run/crew.hpp"

namespace mckean {

Crew::Crew(std::size_t threads, const TaskFunction& function) : function_(function) {
  for (std::size_t k = 0; k < threads; ++k) threads_.emplace_back(&Crew::work, this);
}

Crew::~Crew() {
  request_stop();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  to_do_.notify_all();
}

void Crew::begin(std::size_t position) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(position);
    ++open_;
  }
  to_do_.notify_one();
}

std::optional<Crew::Outcome> Crew::collect(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  if (!done_.wait_for(lock, most, [&] { return !finished_.empty(); })) return std::nullopt;
  Outcome out = std::move(finished_.front());
  finished_.pop_front();
  --open_;
  return out;
}

std::size_t Crew::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void Crew::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    drop_waiting();
  }
  stop_.request_stop();
}

void Crew::drop_waiting() {
  open_ -= waiting_.size();
  waiting_.clear();
}

void Crew::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    to_do_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    Outcome out;
    out.position = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    const auto start = std::chrono::steady_clock::now();
    try {
      out.value = function_(out.position, stop_.get_token());
    } catch (...) {
      out.error = std::current_exception();
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool failed = out.error != nullptr;
    lock.lock();
    finished_.push_back(std::move(out));  // before the others stop, so that the cause comes first
    if (failed) drop_waiting();
    done_.notify_one();
    if (failed) {
      lock.unlock();
      stop_.request_stop();
      lock.lock();
    }
  }
}
}  // namespace mckean
