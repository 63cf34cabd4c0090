#include "support/thread_parts.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>

namespace frugal {
namespace {

// A barrier that also reduces: every part brings its values, the last one to arrive releases all of them, and the next
// exchange begins when every part has left with the result.
class Meeting {
 public:
  explicit Meeting(size_t parts) : parts_(parts) {}
  size_t parts() const { return parts_; }

  template <class T, class Join>
  void meet(std::vector<T>& board, std::span<T> values, const std::string& what, const Join& join) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !leaving_; });
    if (arrived_ == 0) {
      board.assign(values.begin(), values.end());
      what_ = what;
    } else if (what_ != what || board.size() != values.size()) {
      broken_ = true;
      changed_.notify_all();
      throw PartsError("The parts of the table have come apart: one adds up " + what_ + ", another " + what + ".");
    } else {
      for (size_t i = 0; i < values.size(); ++i) board[i] = join(board[i], values[i]);
    }
    if (++arrived_ == parts_) {
      leaving_ = true;
      changed_.notify_all();
    }
    wait(lock, [&] { return leaving_; });
    std::copy(board.begin(), board.end(), values.begin());
    if (--arrived_ == 0) {
      leaving_ = false;
      changed_.notify_all();
    }
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

  std::vector<std::int64_t> sums;
  std::vector<double> largest;

 private:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    changed_.wait(lock, [&] { return broken_ || ready(); });
    if (!ready()) throw PartsError("Another part of the table has stopped, so this one stops too.");
  }

  size_t parts_, arrived_ = 0;
  bool leaving_ = false, broken_ = false;
  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class Part final : public ThreadPart {
 public:
  Part(std::shared_ptr<Meeting> meeting, size_t part) : meeting_(std::move(meeting)), part_(part) {}
  size_t part() const override { return part_; }
  size_t parts() const override { return meeting_->parts(); }
  void sum(std::span<std::int64_t> values, const char* what) override {
    meeting_->meet(meeting_->sums, values, what, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void largest(std::span<double> values, const char* what) override {  // NaN counts as larger than everything
    meeting_->meet(meeting_->largest, values, what, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
  }
  void leave() override { meeting_->leave(); }

 private:
  std::shared_ptr<Meeting> meeting_;
  size_t part_;
};

}  // namespace

std::vector<std::shared_ptr<ThreadPart>> thread_parts(size_t parts) {
  auto meeting = std::make_shared<Meeting>(parts);
  std::vector<std::shared_ptr<ThreadPart>> out;
  for (size_t p = 0; p < parts; ++p) out.push_back(std::make_shared<Part>(meeting, p));
  return out;
}

}  // namespace frugal
