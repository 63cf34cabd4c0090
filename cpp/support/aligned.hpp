// Memory that shares no cache line with anything else. Two threads that write to neighbouring lines slow each other
// down more than a second core gains.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "support/types.hpp"

namespace frugal {

inline constexpr size_t kLineWords = 16;  // two cache lines of 64 bytes: processors fetch them in pairs

inline size_t whole_lines(size_t words) {
  return (words + kLineWords - 1) / kLineWords * kLineWords;
}

class AlignedWords {
 public:
  AlignedWords() = default;
  explicit AlignedWords(size_t words) { resize(words); }

  std::int64_t* data() const { return words_.get(); }

  // Old contents are lost, and the new memory is not initialised.
  void resize(size_t words) {
    if (words <= size_) return;
    size_ = whole_lines(words);
    words_.reset(static_cast<std::int64_t*>(::operator new[](size_ * sizeof(std::int64_t), kAlignment)));
  }

 private:
  static constexpr std::align_val_t kAlignment{kLineWords * sizeof(std::int64_t)};
  struct Free {
    void operator()(std::int64_t* p) const { ::operator delete[](p, kAlignment); }
  };
  std::unique_ptr<std::int64_t[], Free> words_;
  size_t size_ = 0;
};

}  // namespace frugal
