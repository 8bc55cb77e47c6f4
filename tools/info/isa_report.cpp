#include "tools/info/isa_report.h"

#include "kernel/isa.h"

namespace millrace::tools {
namespace {

std::string reason(const kernel::IsaChoice& choice, const std::string& setting) {
  if (choice.complaint[0]) return choice.complaint;
  if (choice.narrower)
    return std::string("the widest that is usable; ") + choice.narrower->isa + " where it is faster here";
  if (setting == "auto") return "the widest that is usable";
  if (setting == choice.unit->name) return "forced by MILLRACE_ISA";
  return "the widest that MILLRACE_ISA=" + setting + " allows";
}

}  // namespace

IsaReport report_isa(const std::string& setting) {
  IsaReport report;
  const kernel::IsaChoice choice = kernel::choose_isa(setting);
  nlohmann::ordered_json units = nlohmann::ordered_json::array();
  for (const kernel::IsaUnit& unit : kernel::isa_units())
    units.push_back({{"name", unit.name},
                     {"vector_bits", unit.vector_bits},
                     {"present", unit.present},
                     {"usable", unit.usable},
                     {"why", unit.why}});
  report.json = {{"chosen", choice.unit->name},
                 {"vector_bits", choice.unit->vector_bits},
                 {"why", reason(choice, setting)},
                 {"units", units}};
  report.complaint = choice.complaint;
  return report;
}

}  // namespace millrace::tools
