/* Does by hand what an Open MPI that can load components does first: loads the component given and calls its function
   that registers parameters. Prints what that returned, and "refused" if it is the value for that. */
#include <dlfcn.h>
#include <stdio.h>

#include "opal_config.h"

#include "opal/constants.h"
#include "opal/mca/mca.h"

extern int MPI_Init(int*, char***);
extern int MPI_Finalize(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* object = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (!object) {
    puts(dlerror());
    return 1;
  }
  const mca_base_component_t* component = dlsym(object, "mca_op_millrace_component");
  const int result = component->mca_register_component_params();
  printf("%d %s\n", result, result == OPAL_ERR_NOT_AVAILABLE ? "refused" : "");
  MPI_Finalize();
}
