// Where a split sends missing values.
#pragma once

#include <cstdint>

namespace frugal {

enum class MissingSide : std::uint8_t { unseen, left, right };  // unseen: the node has none in this column

}  // namespace frugal
