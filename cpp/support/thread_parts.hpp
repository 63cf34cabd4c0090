// Parts of a table in threads of one process, which add up in shared memory.
#pragma once

#include <memory>
#include <vector>

#include "support/together.hpp"

namespace frugal {

// One part's connection to the others. When a part leaves, because of an error or because the user stopped it, all
// other parts stop with an error.
class ThreadPart : public Together {
 public:
  virtual void leave() = 0;
};

std::vector<std::shared_ptr<ThreadPart>> thread_parts(size_t parts);

}  // namespace frugal
