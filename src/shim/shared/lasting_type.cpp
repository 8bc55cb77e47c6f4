#include "shim/shared/lasting_type.h"

#include "abi.h"
#include "collective/background.h"
#include "shim/bind/forward.h"
#include "shim/datatypes/datatypes.h"

namespace millrace::shim {

LastingType::LastingType(Word handle) : handle_(handle) {
  if (!collective::BackgroundCall::current() || is_predefined(handle)) return;
  Word made = 0;
  if (host<Symbol::MPI_Type_dup>(handle, as_word(&made)) != 0) return;  // then the program's own, as long as it lasts
  handle_ = abi::handle(made);
  is_own_ = true;
}

LastingType::~LastingType() {
  if (!is_own_) return;
  auto freed = static_cast<abi::HandleStorage>(handle_);
  host<Symbol::MPI_Type_free>(as_word(&freed));
}

}  // namespace millrace::shim
