#include "run/crew.hpp"

namespace mckean {

Crew::Crew(std::size_t threads, const TaskFunction& function) : function_(function) {
  for (std::size_t k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
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
  }
  ++open_;
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

void Crew::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    open_ -= waiting_.size();
    waiting_.clear();
  }
  stop_.request_stop();
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
    lock.lock();
    finished_.push_back(std::move(out));
    done_.notify_one();
  }
}
}  // namespace mckean
