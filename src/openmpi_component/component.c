/* A component of Open MPI's framework `op`: Open MPI asks it, for each predefined op, for functions that reduce, and
   then calls these wherever it reduces: in collectives of every kind and in one-sided accumulation.

   The framework's interface is described in Open MPI's ompi/mca/op/op.h. Its version (1.0.0) has stayed the same while
   the list of types, and so the layout of a module, has not: we check the version of the host ourselves. */
#include "component.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/op/op.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"

/* In libmpi, "4.1.4"; no installed header declares it. */
extern const char ompi_version_string[];

/* The one symbol that this object exports: Open MPI looks it up by the name of the file. */
extern __attribute__((visibility("default"))) ompi_op_base_component_t mca_op_millrace_component;

static struct {
  int priority;
  int available;
  int support;
  const char* unit;
  const char* version;
} settings = {.priority = 75, .version = MILLRACE_VERSION}; /* op/avx has 50 */

static bool host_is_what_we_were_built_for(void) {
  char* after_major;
  const long major = strtol(ompi_version_string, &after_major, 10);
  const long minor = *after_major == '.' ? strtol(after_major + 1, NULL, 10) : -1;
  return major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION;
}

static void say_that_the_host_differs(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank && strcmp(rank, "0") != 0) return;
  opal_output(0, "millrace: op component not used: it was built for Open MPI %d.%d, this is Open MPI %s",
              OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, ompi_version_string);
}

static void show(const char* name, const char* help, mca_base_var_type_t type, mca_base_var_enum_t* values, int level,
                 bool writable, void* storage) {
  mca_base_component_var_register(&mca_op_millrace_component.opc_version, name, help, type, values, 0, 0,
                                  (mca_base_var_info_lvl_t)level,
                                  writable ? MCA_BASE_VAR_SCOPE_READONLY : MCA_BASE_VAR_SCOPE_CONSTANT, storage);
}

static mca_base_var_enum_flag_t* names_of_levels(void) {
  mca_base_var_enum_value_flag_t flags[16] = {{0}};
  for (int i = 0; millrace_levels[i].name; ++i) {
    flags[i].flag = millrace_levels[i].flag;
    flags[i].string = millrace_levels[i].name;
  }
  mca_base_var_enum_flag_t* names = NULL;
  return mca_base_var_enum_create_flag("op_millrace_levels", flags, &names) == OPAL_SUCCESS ? names : NULL;
}

static int register_settings(void) {
  if (!host_is_what_we_were_built_for()) {
    say_that_the_host_differs();
    return OPAL_ERR_NOT_AVAILABLE;
  }
  settings.available = settings.support = millrace_levels_available();
  mca_base_var_enum_flag_t* names = names_of_levels();
  if (!names) return OPAL_ERR_OUT_OF_RESOURCE;

  show("priority", "Among op components: the highest priority wins; a negative one turns this component off",
       MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_4, true, &settings.priority);
  show("capabilities", "Levels of vector instructions for which this machine and this build have kernels",
       MCA_BASE_VAR_TYPE_INT, &names->super, OPAL_INFO_LVL_4, false, &settings.available);
  show(
      "support",
      "Levels of vector instructions that may be used, as for op_avx_support: the kernels are those of the widest unit "
      "whose instructions they include",
      MCA_BASE_VAR_TYPE_INT, &names->super, OPAL_INFO_LVL_4, true, &settings.support);
  OBJ_RELEASE(names);

  settings.unit = millrace_use_levels(settings.support);
  show("unit", "The kernels in use", MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_4, false, &settings.unit);
  show("version", "Version of Millrace", MCA_BASE_VAR_TYPE_VERSION_STRING, NULL, OPAL_INFO_LVL_4, false,
       &settings.version);
  return OPAL_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads, (void)mpi_threads;
  return settings.priority < 0 ? OMPI_ERR_NOT_SUPPORTED : OMPI_SUCCESS;
}

static ompi_op_base_module_t* op_query(ompi_op_t* op, int* priority) {
  if (!ompi_op_is_intrinsic(op)) return NULL;
  ompi_op_base_module_t* module = OBJ_NEW(ompi_op_base_module_t);
  if (!module) return NULL;
  const int types = millrace_offer(op->o_f_to_c_index, module);
  if (types == 0) {
    OBJ_RELEASE(module);
    return NULL;
  }
  /* For each three-buffer function that it takes over, Open MPI 4.1 drops one reference to the module of the
   *two*-buffer function, which at that moment is ours. These make up for it. */
  for (int i = 0; i < types; ++i) OBJ_RETAIN(module);
  *priority = settings.priority;
  return module;
}

ompi_op_base_component_t mca_op_millrace_component = {
    .opc_version =
        {
            OMPI_OP_BASE_VERSION_1_0_0,
            .mca_component_name = "millrace",
            MCA_BASE_MAKE_VERSION(component, MILLRACE_VERSION_MAJOR, MILLRACE_VERSION_MINOR, MILLRACE_VERSION_PATCH),
            .mca_register_component_params = register_settings,
        },
    .opc_data = {.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .opc_init_query = init_query,
    .opc_op_query = op_query,
};
