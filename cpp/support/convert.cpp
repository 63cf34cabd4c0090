#include "support/convert.hpp"

#include <stdexcept>

namespace frugal {

void lost_in_conversion() {
  throw std::logic_error("A number does not fit the type it is converted to: this is an error in frugalboost.");
}

}  // namespace frugal
