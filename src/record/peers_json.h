#pragma once

#include <nlohmann/json_fwd.hpp>

#include "record/peers_report.h"

namespace millrace::record {

nlohmann::ordered_json peers_value(const PeersReport& peers);

}  // namespace millrace::record
