#include "shim/host/tuning.h"

#include <unistd.h>

namespace millrace::shim {

const plan::Tuning& tuning() {
  static const plan::Tuning read = plan::read_tuning(environ);
  return read;
}

}  // namespace millrace::shim
